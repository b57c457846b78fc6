//! Radix sort by kernels, for cells of one chunk: 8 bits per pass, alternating between the cells
//! and temporary memory.

use zippy::World;
use zippy::collective::{CellSequence, CollectiveWorld};
use zippy::element::Element;
use zippy::error::Result;
use zippy::kernel::{Kernel, KernelSource};
use zippy::wgsl_module;

use crate::scan::scan_counts;
use crate::sort_key::KeyOrder;

/// Keys per tile (sorted by one workgroup), invocations per workgroup, and values of a digit.
const KEYS_PER_TILE: u64 = 2048;
const WORKGROUP_INVOCATIONS: u64 = 128;
const DIGIT_VALUES: u64 = 256;
const DIGIT_BITS: u32 = 8;

/// Minimum and maximum number of tiles per block: more tiles need fewer counts per key.
const TILES_PER_BLOCK_RANGE: [u64; 2] = [2, 16];
/// Number of blocks that keeps a large device busy; more keys make the blocks larger.
const BUSY_DEVICE_BLOCKS: u64 = 1024;

/// Sorts keys with optional values, each with temporary memory.
pub(super) fn sort(
    world: &World,
    order: KeyOrder,
    keys: [&CellSequence; 2],
    values: Option<(&CellSequence, &CellSequence)>,
) -> Result<()> {
    let cells = keys[0].len();
    let tiles =
        (cells / (KEYS_PER_TILE * BUSY_DEVICE_BLOCKS)).clamp(TILES_PER_BLOCK_RANGE[0], TILES_PER_BLOCK_RANGE[1]);
    let blocks = cells.div_ceil(KEYS_PER_TILE * tiles);
    let domain = [(blocks * WORKGROUP_INVOCATIONS) as i64];
    let kernel = create_sort_kernel(world, order, values.map(|(values, _)| values))?;
    let words = |cells: &CellSequence| cells.parts()[0].in_words();
    let differing = world.scratch_cells("bits that differ", &u32::INFO, order.words as u64)?;
    let call = kernel.entry("differ")?;
    let call = call.call().read("keys", words(keys[0])).update("differing", words(&differing));
    call.param("digit", [0, 0, tiles as i32]).over(domain).run()?;
    let mut bits = [0_u32; 2];
    differing.read(0..differing.len(), bytemuck::cast_slice_mut(&mut bits[..order.words]))?;
    let digits = differing_digits(order, bits);
    if digits.is_empty() {
        return Ok(());
    }
    let counts = world.scratch_cells("counts of digits", &u32::INFO, blocks * DIGIT_VALUES)?;
    let (count, place) = (kernel.entry("count")?, kernel.entry("place")?);
    [Some(keys[0]), values.map(|(values, _)| values)]
        .into_iter()
        .flatten()
        .for_each(|cells| cells.were_written(0..cells.len()));
    let values = values.map(|(values, room)| [values, room]);
    let passes = digits.len();
    for (pass, (word, shift)) in digits.into_iter().enumerate() {
        let digit = [word as i32, shift as i32, tiles as i32];
        let (from, to) = (pass % 2, 1 - pass % 2);
        let call = count.call().read("keys", words(keys[from])).write("counts", words(&counts));
        call.param("digit", digit).over(domain).run()?;
        scan_counts(world, &counts)?;
        let call = place.call().read("keys", words(keys[from])).write("sorted", words(keys[to]));
        let call = call.update("counts", words(&counts)).param("digit", digit);
        let call = match values {
            None => call,
            Some(values) => call.read("values", words(values[from])).write("values_sorted", words(values[to])),
        };
        call.over(domain).run()?;
    }
    if passes % 2 == 1 {
        keys[1].copy_to(keys[0])?;
        if let Some([values, room]) = values {
            room.copy_to(values)?;
        }
    }
    Ok(())
}

/// Returns the digits, from the lowest, that cover all differing bits of keys: for each its word
/// and its lowest bit.
fn differing_digits(order: KeyOrder, differing: [u32; 2]) -> Vec<(usize, u32)> {
    let mut digits = Vec::new();
    for place in 0..order.words {
        let word = order.word_of(place, 1);
        let mut rest = differing[word];
        while rest != 0 {
            let shift = rest.trailing_zeros();
            digits.push((word, shift));
            rest &= !(((1 << DIGIT_BITS) - 1) << shift);
        }
    }
    digits
}

fn create_sort_kernel(world: &World, order: KeyOrder, values: Option<&CellSequence>) -> Result<Kernel> {
    let words = values.map_or(0, CellSequence::words_per_cell);
    let composer = order.declarations().constant("VALUE_WORDS", words as i32);
    let composer = match values {
        None => composer.module(wgsl_module!("../../shaders/sort/no_values.wgsl")),
        Some(values) => {
            let stored = if values.element().bytes < 4 { "atomic<u32>" } else { "u32" };
            composer.alias("Stored", stored).module(wgsl_module!("../../shaders/sort/values.wgsl"))
        }
    };
    let composer = composer
        .constant("LANES", WORKGROUP_INVOCATIONS as i32)
        .constant("TILE", KEYS_PER_TILE as i32)
        .constant("VALUES", DIGIT_VALUES as i32)
        .module(wgsl_module!("../../shaders/sort/radix.wgsl"))
        .module(wgsl_module!("../../shaders/sort/place.wgsl"));
    world.cached_kernel(&KernelSource::composed("radix sort", composer.compose()?))
}
