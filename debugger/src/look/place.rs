//! [`Place`]: whose a cell is.

use zippy::debug::protocol::{ArrayEntry, ChunkEntry};

/// Where a cell is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The number of the chunk that it is looked at in.
    pub chunk: u64,
    /// The rank of that chunk.
    pub rank: u32,
    /// Its index there, counted from the chunk's first own cell: below 0 or past the end in its ghost cells.
    pub local: Vec<i64>,
    /// Whether the chunk owns it; else it is a ghost cell there.
    pub owned: bool,
    /// The chunk and the rank that own it, by the array's periodicity where it lies outside; none where nobody does.
    pub owner: Option<(u64, u32)>,
}

fn holds(chunk: &ChunkEntry, index: &[i64]) -> bool {
    let within = |axis: usize| index[axis] >= chunk.start[axis] && index[axis] < chunk.end[axis];
    index.len() == chunk.start.len() && index.len() == chunk.end.len() && (0..index.len()).all(within)
}

fn owner(entry: &ArrayEntry, index: &[i64]) -> Option<(u64, u32)> {
    if index.len() != entry.shape.len() {
        return None;
    }
    let mut index = index.to_vec();
    for (axis, at) in index.iter_mut().enumerate() {
        let extent = entry.shape[axis];
        if entry.periodic.get(axis) == Some(&true) && extent > 0 {
            *at = at.rem_euclid(extent);
        }
    }
    let found = entry.chunks.iter().position(|chunk| holds(chunk, &index))?;
    Some((found as u64, entry.chunks[found].rank))
}

/// Where a cell is kept: in this chunk, or in the one that owns it. None where the array's chunks are not listed, no chunk has
/// such a cell, or there is no such chunk.
pub fn place(entry: &ArrayEntry, chunk: Option<u64>, index: &[i64]) -> Option<Place> {
    let owner = owner(entry, index);
    let chunk = match chunk {
        Some(chunk) => chunk,
        None => owner?.0,
    };
    let of = entry.chunks.get(usize::try_from(chunk).ok()?)?;
    if of.start.len() != index.len() || of.end.len() != index.len() {
        return None;
    }
    let [before, behind] = &entry.ghosts;
    let ghost = |widths: &[i64], axis: usize| widths.get(axis).copied().unwrap_or(0);
    let kept = (0..index.len()).all(|axis| {
        let low = of.start[axis].saturating_sub(ghost(before, axis));
        index[axis] >= low && index[axis] < of.end[axis].saturating_add(ghost(behind, axis))
    });
    let local = index.iter().zip(&of.start).map(|(at, start)| at.saturating_sub(*start)).collect();
    kept.then(|| Place { chunk, rank: of.rank, local, owned: holds(of, index), owner })
}

/// What a chunk, made larger by `before` and `behind` (an entry an axis, or none at all), covers of a plane of the array: first
/// cell and behind the last one. None where the plane does not cut it.
pub fn box_in_plane(slice: &super::Slice, chunk: &ChunkEntry, [before, behind]: [&[i64]; 2]) -> Option<[[i64; 2]; 2]> {
    let axes = slice.at.len();
    if chunk.start.len() != axes || chunk.end.len() != axes {
        return None;
    }
    let ghost = |widths: &[i64], axis: usize| widths.get(axis).copied().unwrap_or(0);
    let start: Vec<i64> = (0..axes).map(|axis| chunk.start[axis].saturating_sub(ghost(before, axis))).collect();
    let end: Vec<i64> = (0..axes).map(|axis| chunk.end[axis].saturating_add(ghost(behind, axis))).collect();
    let cut = slice.fixed().all(|axis| (start[axis]..end[axis]).contains(&slice.at[axis]));
    let last: Vec<i64> = end.iter().map(|end| end.saturating_sub(1)).collect();
    let (low, high) = (slice.shadow(&start), slice.shadow(&last).map(|last| last.saturating_add(1)));
    (cut && low[0] < high[0] && low[1] < high[1]).then_some([low, high])
}
