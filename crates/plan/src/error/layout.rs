use super::RegionError;

/// A layout or an ownership is malformed or does not fit the machine.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// No axes, or too many.
    #[error("a layout of {given} axes; 1 to 7 are possible")]
    AxisCount {
        /// What was given.
        given: usize,
    },
    /// A size is negative or does not fit 63 bits.
    #[error("{what} on axis {axis} is {given}; it must be at least 0 and fit 63 bits")]
    Size {
        /// What the number is: the shape, a chunk size, a ghost width.
        what: &'static str,
        /// The axis.
        axis: usize,
        /// What was given.
        given: String,
    },
    /// The array is too large for 63-bit indices or byte counts.
    #[error("an array of {shape} cells of {element_bytes} bytes, or its ghost cells, overflows 63 bits")]
    Overflow {
        /// The shape.
        shape: String,
        /// Bytes of a cell.
        element_bytes: usize,
    },
    /// A list with one entry per axis has another length.
    #[error("{what} was given for {given} axes, but the shape has {expected}")]
    Axes {
        /// Which setting.
        what: &'static str,
        /// Entries given.
        given: usize,
        /// Axes of the shape.
        expected: usize,
    },
    /// `Split::Even(0)` or an empty list of sizes.
    #[error("axis {axis} is cut into 0 chunks; at least one is needed (it may be empty)")]
    NoChunks {
        /// The axis.
        axis: usize,
    },
    /// User-given sizes do not add up.
    #[error("the chunk sizes on axis {axis} add up to {sum}, but the axis has {extent} cells")]
    Sum {
        /// The axis.
        axis: usize,
        /// What they add up to.
        sum: i128,
        /// What they should.
        extent: i64,
    },
    /// Both `.split(..)` and `.boxes(..)` were given.
    #[error("a layout is cut either by splits per axis or by boxes, not both")]
    SplitAndBoxes,
    /// A box of a box cut is malformed or leaves the shape.
    #[error("box {chunk}: {source}")]
    Box {
        /// Its place in the list.
        chunk: usize,
        /// What is wrong.
        source: RegionError,
    },
    /// Two boxes share cells.
    #[error("boxes {first} {first_box} and {second} {second_box} share cells; chunks must be disjoint")]
    Overlap {
        /// One box.
        first: usize,
        /// Its cells.
        first_box: String,
        /// The other box.
        second: usize,
        /// Its cells.
        second_box: String,
    },
    /// The boxes do not cover the shape.
    #[error("the boxes hold {held} of the {cells} cells of the shape {shape}; they must cover it")]
    Gaps {
        /// Cells in boxes.
        held: u128,
        /// Cells of the shape.
        cells: u64,
        /// The shape.
        shape: String,
    },
    /// More chunks than the library handles.
    #[error("{given} chunks; at most {limit} are possible")]
    TooManyChunks {
        /// Chunks asked for.
        given: u128,
        /// The limit.
        limit: usize,
    },
    /// A chunk, ghosts included, is larger than a buffer may be.
    #[error(
        "chunk {chunk} with its ghost cells ({extents}) needs {bytes} bytes, but a chunk may have {limit}; {advice}"
    )]
    ChunkTooLarge {
        /// The chunk.
        chunk: usize,
        /// Its cells with ghosts.
        extents: String,
        /// Bytes needed.
        bytes: u128,
        /// Bytes allowed.
        limit: u64,
        /// What would fit.
        advice: String,
    },
    /// An ownership names a rank that does not exist, or there are no ranks.
    #[error("chunk {chunk} is owned by rank {rank}, but there are {ranks} ranks")]
    NoSuchRank {
        /// The chunk.
        chunk: usize,
        /// The rank named.
        rank: usize,
        /// Number of ranks.
        ranks: usize,
    },
    /// A list with one entry per chunk has another length.
    #[error("{what} lists {given} chunks, but the layout has {expected}")]
    ChunkCount {
        /// Which list.
        what: &'static str,
        /// Entries given.
        given: usize,
        /// Chunks of the layout.
        expected: usize,
    },
    /// A re-arrangement names a chunk twice or one that does not exist.
    #[error(
        "entry {position} of the re-arrangement is chunk {chunk}, which {problem}; each of the {count} chunks must stand in it once"
    )]
    NotAPermutation {
        /// Place in the list.
        position: usize,
        /// The chunk named.
        chunk: usize,
        /// What is wrong.
        problem: &'static str,
        /// Number of chunks.
        count: usize,
    },
    /// A re-arrangement exchanges chunks of different shape.
    #[error(
        "chunk {chunk} ({extents}) cannot take the place of chunk {other} ({other_extents}): only chunks of equal shape can be re-arranged without moving data"
    )]
    UnequalChunks {
        /// The chunk of the result.
        chunk: usize,
        /// Its extents.
        extents: String,
        /// The chunk whose data it would become.
        other: usize,
        /// Its extents.
        other_extents: String,
    },
}
