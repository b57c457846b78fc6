//! Differences between arrays and the lattice of a flow.

/// Difference between an array and the lattice of a flow.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ArrayMismatch {
    /// Another shape.
    Shape {
        /// Shape of the array.
        array: Vec<i64>,
        /// Shape of the lattice.
        lattice: [i64; 3],
    },
    /// Another chunk, or no chunk, on this rank.
    Chunk {
        /// Region of the array's chunk.
        array: Option<String>,
        /// Region of the lattice's chunk.
        lattice: String,
    },
    /// A chunk that the lattice does not have on this rank.
    AdditionalChunk {
        /// Region of the chunk.
        region: String,
    },
    /// Other ghost widths, or other periodic axes.
    GhostCells,
}

impl std::fmt::Display for ArrayMismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Shape { array, lattice } => write!(f, "its shape is {array:?}, that of the lattice {lattice:?}"),
            Self::Chunk { array, lattice } => {
                let array = array.as_deref().unwrap_or("none");
                write!(f, "its chunk on this rank is {array}, that of the flow {lattice}")
            }
            Self::AdditionalChunk { region } => write!(f, "its chunk {region} on this rank is not a chunk of the flow"),
            Self::GhostCells => f.write_str("it has other ghost cells"),
        }
    }
}
