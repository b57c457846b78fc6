//! [`CellLocation`]: chunk and rank of a cell.

use zippy_protocol::{ArrayEntry, ChunkEntry};

/// Location of a cell: its chunk, rank and index in the chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellLocation {
    /// Number of the chunk that provides the cell.
    pub chunk: u64,
    /// Rank of the chunk.
    pub rank: u32,
    /// Index relative to the first owned cell of the chunk. It is negative or beyond the end in
    /// ghost cells.
    pub local: Vec<i64>,
    /// True if the chunk owns the cell; false for a ghost cell.
    pub owned: bool,
    /// Chunk that owns the cell, and the rank of that chunk. Indices outside of a periodic array
    /// are wrapped. `None` if no chunk owns the cell.
    pub owner: Option<(u64, u32)>,
}

fn chunk_owns_cell(chunk: &ChunkEntry, index: &[i64]) -> bool {
    let within = |axis: usize| index[axis] >= chunk.start[axis] && index[axis] < chunk.end[axis];
    index.len() == chunk.start.len() && index.len() == chunk.end.len() && (0..index.len()).all(within)
}

fn find_owner(entry: &ArrayEntry, index: &[i64]) -> Option<(u64, u32)> {
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
    let found = entry.chunks.iter().position(|chunk| chunk_owns_cell(chunk, &index))?;
    Some((found as u64, entry.chunks[found].rank))
}

/// Locates a cell in `chunk`, or in the owning chunk if `chunk` is `None`. Returns `None` if the
/// entry does not list the chunks, or if no such chunk provides the cell.
pub fn locate(entry: &ArrayEntry, chunk: Option<u64>, index: &[i64]) -> Option<CellLocation> {
    let owner = find_owner(entry, index);
    let chunk = match chunk {
        Some(chunk) => chunk,
        None => owner?.0,
    };
    let entry_chunk = entry.chunks.get(usize::try_from(chunk).ok()?)?;
    if entry_chunk.start.len() != index.len() || entry_chunk.end.len() != index.len() {
        return None;
    }
    let [before, after] = &entry.ghosts;
    let ghost = |widths: &[i64], axis: usize| widths.get(axis).copied().unwrap_or(0);
    let is_provided = (0..index.len()).all(|axis| {
        let low = entry_chunk.start[axis].saturating_sub(ghost(before, axis));
        index[axis] >= low && index[axis] < entry_chunk.end[axis].saturating_add(ghost(after, axis))
    });
    let local = index.iter().zip(&entry_chunk.start).map(|(at, start)| at.saturating_sub(*start)).collect();
    is_provided.then(|| CellLocation {
        chunk,
        rank: entry_chunk.rank,
        local,
        owned: chunk_owns_cell(entry_chunk, index),
        owner,
    })
}

/// Returns the part of a plane that a chunk with `before` and `after` ghost cells covers: first
/// cell, and cell after the last one. `before` and `after` have one width per axis, or are empty.
/// `None` if the plane does not cut the chunk.
pub fn box_in_plane(slice: &super::Slice, chunk: &ChunkEntry, [before, after]: [&[i64]; 2]) -> Option<[[i64; 2]; 2]> {
    let axes = slice.at.len();
    if chunk.start.len() != axes || chunk.end.len() != axes {
        return None;
    }
    let ghost = |widths: &[i64], axis: usize| widths.get(axis).copied().unwrap_or(0);
    let start: Vec<i64> = (0..axes).map(|axis| chunk.start[axis].saturating_sub(ghost(before, axis))).collect();
    let end: Vec<i64> = (0..axes).map(|axis| chunk.end[axis].saturating_add(ghost(after, axis))).collect();
    let is_cut = slice.fixed().all(|axis| (start[axis]..end[axis]).contains(&slice.at[axis]));
    let last: Vec<i64> = end.iter().map(|end| end.saturating_sub(1)).collect();
    let (low, high) = (slice.shadow(&start), slice.shadow(&last).map(|last| last.saturating_add(1)));
    (is_cut && low[0] < high[0] && low[1] < high[1]).then_some([low, high])
}
