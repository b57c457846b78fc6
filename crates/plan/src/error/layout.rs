use super::RegionError;

/// A layout or an ownership is malformed or exceeds a limit of the machine.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// The number of axes is 0 or more than 7.
    #[error("a layout of {given} axes; 1 to 7 are possible")]
    AxisCount {
        /// Number of axes.
        given: usize,
    },
    /// A size is negative or does not fit 63 bits.
    #[error("{what} on axis {axis} is {given}; it must be at least 0 and fit 63 bits")]
    Size {
        /// Kind of the number: the shape, a chunk size or a ghost width.
        what: &'static str,
        /// Axis.
        axis: usize,
        /// Number.
        given: String,
    },
    /// The array is too large for 63-bit indices or byte counts.
    #[error("an array of {shape} cells of {element_bytes} bytes, or its ghost cells, overflows 63 bits")]
    Overflow {
        /// Shape.
        shape: String,
        /// Bytes of a cell.
        element_bytes: usize,
    },
    /// The length of a list with one entry per axis differs from the number of axes.
    #[error("{what} was given for {given} axes, but the shape has {expected}")]
    Axes {
        /// Setting name.
        what: &'static str,
        /// Number of entries of the list.
        given: usize,
        /// Number of axes of the shape.
        expected: usize,
    },
    /// A split is `Split::Even(0)` or an empty list of sizes.
    #[error("axis {axis} is cut into 0 chunks; at least one is needed (it may be empty)")]
    NoChunks {
        /// Axis.
        axis: usize,
    },
    /// The sum of the chunk sizes on an axis differs from the extent of the axis.
    #[error("the chunk sizes on axis {axis} add up to {sum}, but the axis has {extent} cells")]
    Sum {
        /// Axis.
        axis: usize,
        /// Sum of the sizes.
        sum: i128,
        /// Extent of the axis.
        extent: i64,
    },
    /// A layout has both `.split(..)` and `.boxes(..)`.
    #[error("a layout is cut either by splits per axis or by boxes, not both")]
    SplitAndBoxes,
    /// A box of a cut by boxes is malformed or outside of the shape.
    #[error("box {chunk}: {source}")]
    Box {
        /// Index in the list of boxes.
        chunk: usize,
        /// Box error.
        source: RegionError,
    },
    /// Two boxes share cells.
    #[error("boxes {first} {first_box} and {second} {second_box} share cells; chunks must be disjoint")]
    Overlap {
        /// Index of the first box.
        first: usize,
        /// The first box.
        first_box: String,
        /// Index of the second box.
        second: usize,
        /// The second box.
        second_box: String,
    },
    /// The boxes do not cover the shape.
    #[error("the boxes hold {held} of the {cells} cells of the shape {shape}; they must cover it")]
    Gaps {
        /// Number of cells in boxes.
        held: u128,
        /// Number of cells of the shape.
        cells: u64,
        /// Shape.
        shape: String,
    },
    /// The number of chunks exceeds the limit of the library.
    #[error("{given} chunks; at most {limit} are possible")]
    TooManyChunks {
        /// Requested number of chunks.
        given: u128,
        /// Maximum number of chunks.
        limit: usize,
    },
    /// A chunk with its ghost cells is larger than the largest buffer.
    #[error(
        "chunk {chunk} with its ghost cells ({extents}) needs {bytes} bytes, but a chunk may have {limit}; {advice}"
    )]
    ChunkTooLarge {
        /// Chunk index.
        chunk: usize,
        /// Extents of the chunk with its ghost cells.
        extents: String,
        /// Bytes of the chunk.
        bytes: u128,
        /// Bytes of the largest buffer.
        limit: u64,
        /// A split that fits, or another remedy.
        advice: String,
    },
    /// The rank of an owner does not exist, or the number of ranks is 0.
    #[error("chunk {chunk} is owned by rank {rank}, but there are {ranks} ranks")]
    NoSuchRank {
        /// Chunk index.
        chunk: usize,
        /// Rank of the owner.
        rank: usize,
        /// Number of ranks.
        ranks: usize,
    },
    /// The length of a list with one entry per chunk differs from the number of chunks.
    #[error("{what} lists {given} chunks, but the layout has {expected}")]
    ChunkCount {
        /// List name.
        what: &'static str,
        /// Number of entries of the list.
        given: usize,
        /// Number of chunks of the layout.
        expected: usize,
    },
    /// A re-arrangement has a chunk twice, or a chunk that does not exist.
    #[error(
        "entry {position} of the re-arrangement is chunk {chunk}, which {problem}; each of the {count} chunks must occur once"
    )]
    NotAPermutation {
        /// Index in the list.
        position: usize,
        /// The chunk at this index.
        chunk: usize,
        /// Reason why the entry is invalid.
        problem: &'static str,
        /// Number of chunks.
        count: usize,
    },
    /// A re-arrangement exchanges chunks with different extents.
    #[error(
        "chunk {chunk} ({extents}) cannot take the place of chunk {other} ({other_extents}): only chunks of equal shape can be re-arranged without moving data"
    )]
    UnequalChunks {
        /// The chunk of the result.
        chunk: usize,
        /// Extents of `chunk`.
        extents: String,
        /// The chunk with the buffer that `chunk` would get.
        other: usize,
        /// Extents of `other`.
        other_extents: String,
    },
}
