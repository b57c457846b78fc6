//! Chunks of cells and the words of their populations.

use zippy::region::Region;

use super::populations::PopulationChunk;
use crate::problem::Problem;

/// Words of the populations of a chunk of cells: whole words, or one half of each word.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChunkLane {
    /// Index of the chunk of words on this rank.
    pub word_chunk: usize,
    /// Half of the words; 0 in 32 bits.
    pub lane: i32,
    /// First word of the lattice along the fold axis, relative to the chunk; -1 in 32 bits.
    pub first_word: i32,
    /// Last word of the lattice along the fold axis, relative to the chunk; -1 in 32 bits.
    pub last_word: i32,
    /// Offset from words to cells, in cells along each axis.
    pub offset: [i64; 3],
    /// Index of the chunk's first word in the lattice; 0 in 32 bits.
    pub origin: [i32; 3],
    /// Coordinate of the chunk's first cell along the axis with sponge layers, from the first cell
    /// of the box.
    pub first_layer: i32,
}

pub(super) fn chunk_lanes(problem: &Problem, words: &[PopulationChunk], cells: &[Region]) -> Vec<ChunkLane> {
    let first_layer = |region: &Region| problem.sponge().map_or(0, |sponge| (region.start[sponge.axis] - 1) as i32);
    let Some(axis) = problem.fold_axis() else {
        let whole_words = |(word_chunk, region)| ChunkLane {
            word_chunk,
            lane: 0,
            first_word: -1,
            last_word: -1,
            offset: [0; 3],
            origin: [0; 3],
            first_layer: first_layer(region),
        };
        return cells.iter().enumerate().map(whole_words).collect();
    };
    let word_count = problem.cut_extents()[axis];
    let half_words = |region: &Region| {
        let lane = i32::from(region.start[axis] >= word_count);
        let mut offset = [0; 3];
        offset[axis] = i64::from(lane) * word_count;
        let is_same = |words: &PopulationChunk| {
            (0..3).all(|axis| words.region().start[axis] + offset[axis] == region.start[axis])
        };
        let words_before = region.start[axis] - offset[axis];
        Some(ChunkLane {
            word_chunk: words.iter().position(is_same)?,
            lane,
            first_word: -words_before as i32,
            last_word: (word_count - 1 - words_before) as i32,
            offset,
            origin: std::array::from_fn(|axis| (region.start[axis] - offset[axis]) as i32),
            first_layer: first_layer(region),
        })
    };
    cells.iter().filter_map(half_words).collect()
}
