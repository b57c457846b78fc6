//! Radix sort by kernels, for cells of one chunk: 4 bits a pass, back and forth between the cells and a room for them.

use super::key::KeyOrder;
use crate::World;
use crate::algorithms::scan::scan_counts;
use crate::array::Cells;
use crate::element::Element;
use crate::error::Result;
use crate::kernel::{Kernel, KernelSource};

const BLOCK: u64 = 2048;
const LANES: u64 = 128;
const DIGITS: u64 = 16;

/// Sorts keys, and values with them.
pub fn sort(world: &World, order: KeyOrder, keys: [&Cells; 2], values: Option<(&Cells, &Cells)>) -> Result<()> {
    let blocks = keys[0].len().div_ceil(BLOCK);
    let counts = Cells::scratch(&world.home(), "counts of digits", &u32::INFO, blocks * DIGITS)?;
    let kernel = kernel(world, order, values.map(|(values, _)| values))?;
    let (count, place) = (kernel.entry("count")?, kernel.entry("place")?);
    let values = values.map(|(values, room)| [values, room]);
    let words = |cells: &Cells| cells.parts()[0].in_words();
    // An even number of passes, so that the last one ends where the keys were.
    for pass in 0..8 * order.words {
        let digit = [order.word_of(pass, 8) as i32, 4 * (pass as i32 % 8)];
        let (from, to) = (pass % 2, 1 - pass % 2);
        let domain = [(blocks * LANES) as i64];
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
    Ok(())
}

fn kernel(world: &World, order: KeyOrder, values: Option<&Cells>) -> Result<Kernel> {
    let narrow = values.is_some_and(|values| values.element().bytes < 4);
    let stored = if narrow { "atomic<u32>" } else { "u32" };
    let beside = match values {
        None => "fn put_value(p: i32, place: i32) {}\n".to_string(),
        Some(_) => format!(
            "@group(0) @binding(4) var<storage, read> values: array<u32>;
@group(0) @binding(5) var<storage, read_write> values_sorted: array<{stored}>;
fn put_value(p: i32, place: i32) {{ values_sorted_store(place, values_load(p)); }}\n"
        ),
    };
    let text = format!(
        "{}const VALUE_WORDS = {};\n{beside}{}",
        order.declarations(),
        values.map_or(0, Cells::words_a_cell),
        include_str!("../../../shaders/sort/radix.wgsl"),
    );
    world.composed(&KernelSource::composed("radix sort", text))
}
