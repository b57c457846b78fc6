//! Kernels that find empty space, `ranges.wgsl` and `visible.wgsl`, against plain Rust.

use zippy::kernel::{KernelSource, WgslComposer};
use zippy::{Layout, Result, World, wgsl_module};

use crate::support;

/// Cells of the volume, and of a chunk that neither begins nor ends at a block.
const CELLS: [i64; 3] = [21, 14, 18];
const LOW: [i64; 3] = [3, 0, 5];
const HIGH: [i64; 3] = [21, 13, 17];
const SIDE: i64 = 8;
const COMPONENTS: i64 = 2;
/// Transfer table: its first value, entries per unit of value, and for each entry the first
/// non-transparent one at or after it.
const FIRST: f32 = -3.0;
const PER_VALUE: f32 = 0.75;
const NEXT: [u32; 12] = [0, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11];

fn voxel([x, y, z]: [i64; 3], component: i64) -> f32 {
    let mixed = ((x + 29 * (y + 31 * z)) * COMPONENTS + component).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64);
    (x / 4 + y / 5 - z / 6) as f32 * 1.7 + (mixed >> 56) as f32 / 300.0
}

/// Least and greatest opacity of a block of the chunk and of `reach` cells around it.
fn ranges(block: [i64; 3], reach: i64) -> [f32; 2] {
    let start = |axis: usize| LOW[axis] + block[axis] * SIDE;
    // A cell has voxels at both its ends.
    let voxels =
        |axis: usize| (start(axis) - reach).max(0)..=((start(axis) + SIDE).min(HIGH[axis]) + reach).min(CELLS[axis]);
    let mut range = [f32::INFINITY, f32::NEG_INFINITY];
    for z in voxels(2) {
        for y in voxels(1) {
            for value in voxels(0).map(|x| voxel([x, y, z], COMPONENTS - 1)) {
                range = [range[0].min(value), range[1].max(value)];
            }
        }
    }
    range
}

/// True if a value of a range may be visible, with a margin of one entry on both sides.
fn visible([low, high]: [f32; 2]) -> u32 {
    let last = NEXT.len() - 1;
    let margin = 1e-6 * low.abs().max(high.abs());
    let entry = |value: f32| ((value - FIRST) * PER_VALUE).clamp(0.0, last as f32) as usize;
    let next = NEXT[entry(low - margin).saturating_sub(1)];
    u32::from(next as usize <= (entry(high + margin) + 2).min(last))
}

fn run(world: &World, reach: i64) -> Result<u32> {
    let volume = world
        .local_array::<f32, 3>("volume", &Layout::new([(CELLS[0] + 1) * COMPONENTS, CELLS[1] + 1, CELLS[2] + 1]))?;
    let text: Vec<f32> = (0..=CELLS[2])
        .flat_map(|z| (0..=CELLS[1]).map(move |y| (y, z)))
        .flat_map(|(y, z)| (0..=CELLS[0]).flat_map(move |x| (0..COMPONENTS).map(move |c| voxel([x, y, z], c))))
        .collect();
    volume.all().write(&text)?;
    let blocks: [i64; 3] = std::array::from_fn(|axis| (HIGH[axis] - LOW[axis] + SIDE - 1) / SIDE);
    let found = world.local_array::<[f32; 2], 3>("ranges", &Layout::new(blocks))?;
    let occupied = world.local_array::<u32, 3>("occupied", &Layout::new(blocks))?;
    let next = world.local_array::<u32, 1>("next", &Layout::new([NEXT.len() as i64]))?;
    next.all().write(&NEXT)?;
    let composer = WgslComposer::new()
        .alias("Cell", "f32")
        .constant("COMPONENTS", COMPONENTS as i32)
        .constant("OPACITY", COMPONENTS as i32 - 1)
        .constant("SIDE", SIDE as i32);
    let text = composer.module(wgsl_module!("../../shaders/volume/ranges.wgsl")).compose()?;
    let i32s = |at: [i64; 3]| at.map(|part| part as i32);
    let call = world.kernel(KernelSource::text("ranges.wgsl", text))?;
    let call = call.call().read("volume", volume.all()).write("ranges", found.all());
    let call = call.param("origin", [0; 3]).param("reach", reach as i32).param("cells", i32s(CELLS));
    call.param("low", i32s(LOW)).param("high", i32s(HIGH)).run()?;
    let text = include_str!("../../shaders/volume/visible.wgsl");
    let call = world.kernel(KernelSource::text("visible.wgsl", text))?;
    let call = call.call().read("ranges", found.all()).read("visible", next.all()).write("occupied", occupied.all());
    let call = call.param("first_value", FIRST).param("per_value", PER_VALUE);
    call.param("last_entry", (NEXT.len() - 1) as f32).run()?;
    let (found, occupied) = (found.all().read()?, occupied.all().read()?);
    let all = (0..blocks[2]).flat_map(|z| (0..blocks[1]).flat_map(move |y| (0..blocks[0]).map(move |x| [x, y, z])));
    for (block, (found, occupied)) in all.zip(found.into_iter().zip(&occupied)) {
        assert_eq!(found, ranges(block, reach), "{block:?}, {reach}");
        assert_eq!(*occupied, visible(found), "{block:?}, {found:?}");
    }
    Ok(occupied.into_iter().sum())
}

#[test]
fn kernels_compute_ranges_and_visible_blocks() {
    support::ranks(&[1], |world| {
        let seen = [run(world, 0)?, run(world, 1)?];
        assert!((1..12).contains(&seen[0]) && seen[0] <= seen[1], "{seen:?} of 12 blocks");
        Ok(())
    });
}
