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
    /// The layout has another number of axes than the array type.
    #[error(
        "array \"{array}\" has type [_; {expected}] axes but its layout has {given}; give Layout::new {expected} extents"
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
    /// A section made of several boxes was used where one box is needed.
    #[error("{section} consists of several boxes; {verb} needs one box (boundary() is meant for kernels)")]
    SeveralBoxes {
        /// The section.
        section: String,
        /// What was asked.
        verb: String,
    },
    /// A ticket that this fence did not fill.
    #[error("ticket {ticket} was not filled by this fence (it was taken already, or belongs to another fence)")]
    Ticket {
        /// Its number.
        ticket: u64,
    },
    /// A handle of another world or of another array.
    #[error("{0}")]
    Other(String),
}
