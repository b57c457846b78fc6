use zippy_plan::error::LayoutError;

use super::CallSite;
use zippy_plan::extents::Index;

/// An array or a section of it was misused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrayError {
    /// A chunk was asked for on a rank that does not own it.
    #[error("chunk {chunk} of array \"{array}\" is not on rank {rank}; only its owner can reach its cells")]
    NotOwned {
        /// The array.
        array: String,
        /// The chunk.
        chunk: usize,
        /// The rank that asked.
        rank: usize,
    },
    /// `local()` was called on a rank that does not own exactly one chunk.
    #[error(
        "local() needs exactly one chunk on every rank, but rank {rank} owns {count} chunks of array \"{array}\"; \
         iterate with chunks()"
    )]
    NotOneChunk {
        /// The array.
        array: String,
        /// The rank that asked.
        rank: usize,
        /// How many chunks it owns.
        count: usize,
    },
    /// The layout of an array, or an order of its chunks, is malformed or does not fit the machine.
    #[error("array \"{array}\": {source}")]
    Layout {
        /// The array.
        array: String,
        /// What is wrong.
        source: LayoutError,
    },
    /// The ownership of an array is of another number of ranks.
    #[error("array \"{array}\": its ownership is of {given} ranks, but there are {expected}")]
    Ranks {
        /// The array.
        array: String,
        /// Ranks of the ownership.
        given: usize,
        /// Ranks of the world.
        expected: usize,
    },
    /// The layout has another number of axes than the array type.
    #[error(
        "array \"{array}\" is made with {expected} axes, but its layout has {given}; give Layout::new {expected} extents"
    )]
    Axes {
        /// The array.
        array: String,
        /// Axes of the layout.
        given: usize,
        /// Axes of the type.
        expected: usize,
    },
    /// The name is taken by an array that is alive.
    #[error("an array named \"{name}\" is alive already; drop it first or choose another name")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A buffer was asked for with a use that it cannot have.
    #[error(
        "array \"{array}\" cannot be made for {uses}: the uses to be asked for are VERTEX, INDEX and INDIRECT (kernels and \
         copies need none)"
    )]
    Uses {
        /// The array.
        array: String,
        /// The uses that are not possible.
        uses: String,
    },
    /// A host slice has another length than the section.
    #[error("{what} has {given} elements, but {section} has {expected} cells")]
    Length {
        /// What was given.
        what: String,
        /// Its length.
        given: usize,
        /// The section.
        section: String,
        /// The cells of the section.
        expected: u64,
    },
    /// An element is to go to a rank that there is not.
    #[error("{named_by} names rank {rank} as destination, but there are {ranks} ranks, 0..{ranks}")]
    Destination {
        /// The cell that names it, or the run of elements.
        named_by: String,
        /// The rank.
        rank: u64,
        /// How many ranks there are.
        ranks: usize,
    },
    /// A section made of several boxes was used where one box is needed.
    #[error("{section} consists of several boxes; {verb} needs one box (boundary() is meant for kernels)")]
    SeveralBoxes {
        /// The section.
        section: String,
        /// What was asked.
        verb: String,
    },
    /// Cells that an operation without communication looks at together lie on different ranks.
    #[error(
        "{verb} moves no data, but cell {cell} of array \"{array}\" is on rank {rank} and cell {other_cell} of array \"{other}\", \
         which goes with it, on rank {other_rank}; copy one of the sections into an array cut like the other first"
    )]
    Apart {
        /// The operation.
        verb: String,
        /// One array.
        array: String,
        /// Its cell.
        cell: Index,
        /// Where that is.
        rank: usize,
        /// The other array.
        other: String,
        /// Its cell.
        other_cell: Index,
        /// Where that is.
        other_rank: usize,
    },
    /// Arrays whose chunks are looked at side by side differ in cuts or owners.
    #[error(
        "the chunks of \"{array}\" and \"{other}\" do not go together: {problem}; make both with the same split (ghost widths \
         may differ) and the same order of chunks, or copy one into an array that is cut like the other"
    )]
    NotAlike {
        /// One array.
        array: String,
        /// The other.
        other: String,
        /// The first difference.
        problem: String,
    },
    /// A ticket that this fence did not fill.
    #[error(
        "the ticket of {section}, had from get at {asked_at}, is not one of this fence; redeem each ticket with the fence that \
         follows its get"
    )]
    Ticket {
        /// The section that was asked for.
        section: String,
        /// The line of the get.
        asked_at: CallSite,
    },
    /// The program ended with one-sided operations that no fence has run.
    #[error(
        "the program ended before {count} one-sided operation(s) of this rank were carried out, the first of them on \
         {first}; every rank must call fence() after the last get, put or accumulate"
    )]
    Unfenced {
        /// How many.
        count: usize,
        /// The section of the first.
        first: String,
    },
    /// The ranks have not the memory for an array.
    #[error(
        "array \"{array}\" of {shape} {element} needs {bytes} bytes, {of_rank} of them on rank {rank}, but there are {all_have} on \
         all ranks, {taken} of them taken by arrays, and {rank_has} for one rank, {taken_of_rank} of them taken on rank {rank}; {}it \
         takes {ranks} ranks that have as much memory each, as on more machines (ZIPPY_MEMORY_LIMIT sets the bytes of a rank)",
        fits.map_or(String::new(), |shape| format!("about {shape} would fit, or "))
    )]
    Memory {
        /// The array.
        array: String,
        /// Its shape.
        shape: Index,
        /// Its element type.
        element: String,
        /// Bytes of all its chunks.
        bytes: u64,
        /// The rank that would have most, with the arrays that are alive.
        rank: usize,
        /// How many of the array's bytes are there.
        of_rank: u64,
        /// Bytes of arrays that are alive there.
        taken_of_rank: u64,
        /// Bytes that the ranks have together.
        all_have: u64,
        /// Bytes that one rank can have.
        rank_has: u64,
        /// Bytes of arrays that are alive.
        taken: u64,
        /// A shape that would fit, cut like this one.
        fits: Option<Index>,
        /// Ranks that would do.
        ranks: u128,
    },
    /// A checked run (`ZIPPY_CHECK=1`) has found mistakes.
    #[error(
        "a checked run ended with {count} finding(s) on this rank, the first: {first} (ZIPPY_CHECK=warn reports findings and ends \
         well)"
    )]
    Findings {
        /// How many on this rank.
        count: usize,
        /// The first of them.
        first: String,
    },
    /// A handle of another world or of another array.
    #[error("{0}")]
    Other(String),
}

impl ArrayError {
    /// A layout error of the array of this name.
    #[doc(hidden)]
    pub fn of_layout(array: &str) -> impl Fn(LayoutError) -> Self {
        move |source| Self::Layout { array: array.to_owned(), source }
    }
}
