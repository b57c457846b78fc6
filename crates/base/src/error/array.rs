use zippy_plan::error::LayoutError;

use super::CallSite;
use zippy_plan::extents::Index;

/// Misuse of an array or of a section.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// The calling rank accesses a chunk that another rank owns.
    #[error("chunk {chunk} of array \"{array}\" is not on rank {rank}; only its owner can reach its cells")]
    NotOwned {
        /// Array name.
        array: String,
        /// Chunk index.
        chunk: usize,
        /// Calling rank.
        rank: usize,
    },
    /// `local()` is called on a rank that does not own exactly one chunk.
    #[error(
        "local() needs exactly one chunk on every rank, but rank {rank} owns {count} chunks of array \"{array}\"; \
         iterate with chunks()"
    )]
    NotOneChunk {
        /// Array name.
        array: String,
        /// Calling rank.
        rank: usize,
        /// Number of chunks that the rank owns.
        count: usize,
    },
    /// The layout or the chunk order of an array is malformed or exceeds the memory of the machine.
    #[error("array \"{array}\": {source}")]
    Layout {
        /// Array name.
        array: String,
        /// Layout error.
        source: LayoutError,
    },
    /// The ownership of an array is for another number of ranks than the world has.
    #[error("array \"{array}\": its ownership is for {given} ranks, but the world has {expected}")]
    Ranks {
        /// Array name.
        array: String,
        /// Number of ranks of the ownership.
        given: usize,
        /// Number of ranks of the world.
        expected: usize,
    },
    /// The layout and the array type have different numbers of axes.
    #[error(
        "array \"{array}\" is made with {expected} axes, but its layout has {given}; give Layout::new {expected} extents"
    )]
    Axes {
        /// Array name.
        array: String,
        /// Number of axes of the layout.
        given: usize,
        /// Number of axes of the array type.
        expected: usize,
    },
    /// Another array with this name exists.
    #[error("an array named \"{name}\" is alive already; drop it first or choose another name")]
    NameTaken {
        /// Name of both arrays.
        name: String,
    },
    /// A requested buffer usage is not available for arrays.
    #[error(
        "array \"{array}\" cannot have {uses}: choose buffer usages among VERTEX, INDEX and INDIRECT (kernels and \
         copies need none)"
    )]
    Uses {
        /// Array name.
        array: String,
        /// The buffer usages that are not available.
        uses: String,
    },
    /// The length of a host slice differs from the number of cells of the section.
    #[error("{what} has {given} elements, but {section} has {expected} cells")]
    Length {
        /// Slice name.
        what: String,
        /// Number of elements of the slice.
        given: usize,
        /// Section.
        section: String,
        /// Number of cells of the section.
        expected: u64,
    },
    /// The destination of an element is not a rank of the world.
    #[error("{named_by} names rank {rank} as destination, but there are {ranks} ranks, 0..{ranks}")]
    Destination {
        /// The cell, or the run of elements, that names the destination.
        named_by: String,
        /// The destination.
        rank: u64,
        /// Number of ranks of the world.
        ranks: usize,
    },
    /// An operation that needs one box is called on a section with several boxes.
    #[error("{section} consists of several boxes; {verb} needs one box (boundary() is meant for kernels)")]
    SeveralBoxes {
        /// Section.
        section: String,
        /// Operation.
        verb: String,
    },
    /// An operation without communication combines two cells that are on different ranks.
    #[error(
        "{verb} moves no data, but cell {cell} of array \"{array}\" is on rank {rank} and the corresponding cell {other_cell} \
         of array \"{other}\" is on rank {other_rank}; first copy one of the sections into an array with the cuts of the other"
    )]
    Apart {
        /// Operation.
        verb: String,
        /// Name of the first array.
        array: String,
        /// Cell of the first array.
        cell: Index,
        /// Rank that owns `cell`.
        rank: usize,
        /// Name of the other array.
        other: String,
        /// The corresponding cell of the other array.
        other_cell: Index,
        /// Rank that owns `other_cell`.
        other_rank: usize,
    },
    /// An operation on pairs of chunks gets arrays with different cuts or owners.
    #[error(
        "the chunks of \"{array}\" and \"{other}\" do not match: {problem}; give both arrays the same split (ghost widths \
         may differ) and the same order of chunks, or copy one into an array with the cuts of the other"
    )]
    NotAlike {
        /// Name of the first array.
        array: String,
        /// Name of the other array.
        other: String,
        /// The first difference.
        problem: String,
    },
    /// A ticket is redeemed with a fence that did not complete its get.
    #[error(
        "the ticket of {section}, from the get at {asked_at}, does not belong to this fence; redeem each ticket with the \
         fence that follows its get"
    )]
    Ticket {
        /// The section that the get reads.
        section: String,
        /// Call site of the get.
        asked_at: CallSite,
    },
    /// The program ended with queued one-sided operations, without a fence that completes them.
    #[error(
        "the program ended before {count} one-sided operation(s) of this rank were carried out, the first of them on \
         {first}; every rank must call fence() after the last get, put or accumulate"
    )]
    Unfenced {
        /// Number of queued operations of this rank.
        count: usize,
        /// Section of the first queued operation.
        first: String,
    },
    /// The ranks do not have enough memory for an array.
    #[error(
        "array \"{array}\" of {shape} {element} needs {bytes} bytes, {of_rank} of them on rank {rank}; all ranks have \
         {all_have} bytes, {taken} of them in use by arrays, and one rank has {rank_has}, {taken_of_rank} of them in use on \
         rank {rank}; {}use {ranks} ranks with the same memory each, for example on more machines (ZIPPY_MEMORY_LIMIT sets \
         the bytes of a rank)",
        fits.map_or(String::new(), |shape| format!("about {shape} would fit, otherwise "))
    )]
    Memory {
        /// Array name.
        array: String,
        /// Array shape.
        shape: Index,
        /// Element type of the array.
        element: String,
        /// Bytes of all chunks of the array.
        bytes: u64,
        /// Rank with the most bytes, of this array and all existing arrays.
        rank: usize,
        /// Bytes of this array on `rank`.
        of_rank: u64,
        /// Bytes of existing arrays on `rank`.
        taken_of_rank: u64,
        /// Memory limit of all ranks together, in bytes.
        all_have: u64,
        /// Memory limit of a rank, in bytes.
        rank_has: u64,
        /// Bytes of existing arrays on all ranks.
        taken: u64,
        /// Shape with the same cuts that fits into memory.
        fits: Option<Index>,
        /// Number of ranks with the same memory that can hold the array.
        ranks: u128,
    },
    /// A checked run (`ZIPPY_CHECK=1`) ended with findings.
    #[error(
        "a checked run ended with {count} finding(s) on this rank, the first: {first} (ZIPPY_CHECK=warn reports findings \
         without an error)"
    )]
    Findings {
        /// Number of findings on this rank.
        count: usize,
        /// Text of the first finding.
        first: String,
    },
    /// Other misuse, such as a handle of another world or array, with its own text.
    #[error("{0}")]
    Other(String),
}

impl ArrayError {
    /// Converter of layout errors into errors of the array named `array`.
    #[doc(hidden)]
    pub fn of_layout(array: &str) -> impl Fn(LayoutError) -> Self {
        move |source| Self::Layout { array: array.to_owned(), source }
    }
}
