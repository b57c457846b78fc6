//! Field that the file benchmarks save: 512 × 512 × (size in MiB) cells. peers/files.py computes
//! the same values.

use std::ops::Range;

use zippy::Result;
use zippy::array::{ChunkRef, GlobalArray};
use zippy::extents::Index;
use zippy::region::Region;

/// Cells along the first two axes; a plane has one MiB.
pub(crate) const SIDE: i64 = 512;

const PLANES: i64 = 4;

/// A smooth field of integers with at most 24 bits.
///
/// With noise in the lowest five bits, zstd hardly compresses the field. Without noise and without
/// the lowest eight bits, the compression ratio is high.
pub(crate) fn value([x, y, z]: [i64; 3], is_noisy: bool) -> f32 {
    let hill = |at: i64, period: i64| (at % period) * (period - 1 - at % period);
    let smooth = (hill(x, 512) + hill(y, 512) + hill(z, 1024)) as u32;
    if !is_noisy {
        return (smooth >> 8) as f32;
    }
    let times = |at: i64, factor: u32| (at as u32).wrapping_mul(factor);
    let mixed = times(x, 73_856_093) ^ times(y, 19_349_663) ^ times(z, 83_492_791);
    let mixed = (mixed ^ mixed >> 15).wrapping_mul(0x2c1b_3c6d);
    ((smooth << 5) | (mixed >> 27)) as f32
}

/// Divides this rank's chunks into boxes of [`PLANES`] planes, to limit the memory of reads and
/// writes.
fn boxes(array: &GlobalArray<f32, 3>) -> impl Iterator<Item = (ChunkRef<f32, 3>, Region)> {
    array.chunks().flat_map(|chunk| {
        let all = chunk.region();
        let planes = (all.start[2]..all.end[2]).step_by(PLANES as usize);
        planes.map(move |z| {
            let start = Index::new(&[all.start[0], all.start[1], z]);
            let end = Index::new(&[all.end[0], all.end[1], all.end[2].min(z + PLANES)]);
            (chunk.clone(), Region { start, end })
        })
    })
}

fn ranges(region: &Region) -> [Range<i64>; 3] {
    std::array::from_fn(|axis| region.start[axis]..region.end[axis])
}

/// Fills the array and returns this rank's cells.
pub(crate) fn fill(array: &GlobalArray<f32, 3>, is_noisy: bool) -> Result<Vec<f32>> {
    let mut share = Vec::with_capacity(array.chunks().map(|chunk| chunk.region().cells() as usize).sum());
    for (chunk, part) in boxes(array) {
        let from = share.len();
        share.extend(part.points().map(|at| value([at[0], at[1], at[2]], is_noisy)));
        chunk.at_global(ranges(&part)).write(&share[from..])?;
    }
    Ok(share)
}

pub(crate) fn has(array: &GlobalArray<f32, 3>, share: &[f32]) -> Result<bool> {
    let mut at = 0;
    for (chunk, part) in boxes(array) {
        let cells = chunk.at_global(ranges(&part)).read()?;
        if share.get(at..at + cells.len()) != Some(&*cells) {
            return Ok(false);
        }
        at += cells.len();
    }
    Ok(at == share.len())
}
