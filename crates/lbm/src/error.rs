//! Errors of flows.

use crate::cell_index::CellIndex;
use crate::cut_error::CutError;
use crate::flow::{ArrayMismatch, FastestCell};
use crate::solids::SolidError;

/// Reason why a flow cannot be created, or cannot continue.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FlowError {
    /// Unknown name of a case.
    #[error("there is no case {name:?}; there are {known}")]
    UnknownCase {
        /// The unknown name.
        name: String,
        /// All names.
        known: String,
    },
    /// A box without cells or with too many cells.
    #[error(
        "a box of {extents:?} cells: each extent must be between 1 and {max}, and the third one 1 in two dimensions"
    )]
    InvalidExtents {
        /// Cells along each axis.
        extents: [i64; 3],
        /// Largest extent.
        max: i64,
    },
    /// One side of an axis is periodic, the other one is not.
    #[error("axis {axis}: only one side is periodic; both are, or neither")]
    OnePeriodicSide {
        /// The axis.
        axis: usize,
    },
    /// Two open sides meet at an edge.
    #[error(
        "sides of axes {} and {} are both open; at the edge where they meet nothing is known: one axis must be walls, mirrors \
         or periodic",
        axes[0], axes[1]
    )]
    OpenSidesMeet {
        /// The axes of the sides.
        axes: [usize; 2],
    },
    /// Two different open sides with one cell between them.
    #[error("axis {axis} has one cell between two open sides that differ; there must be at least two")]
    OpenSidesTooClose {
        /// The axis.
        axis: usize,
    },
    /// No axis can be divided into halves for words of two 16-bit populations.
    #[error(
        "a box of {extents:?} cells in 16 bits: a word has two cells half a box apart, so some axis must have an even number of \
         cells, or sides that are not periodic (with outlets 5 cells at least)"
    )]
    NoFoldAxis {
        /// Cells along each axis.
        extents: [i64; 3],
    },
    /// Cumulants with a velocity set other than D3Q27.
    #[error("cumulants are those of D3Q27, not of {set}")]
    CumulantVelocitySet {
        /// Name of the velocity set.
        set: &'static str,
    },
    /// A side, a velocity or a force with a third component in two dimensions.
    #[error("{set} has two axes: the third must be periodic, and velocities and forces have no third component")]
    ThirdDimension {
        /// Name of the velocity set.
        set: &'static str,
    },
    /// A number out of range.
    #[error("{quantity} is {value}; it must be {requirement}")]
    InvalidNumber {
        /// Name of the number.
        quantity: &'static str,
        /// The number.
        value: f64,
        /// Range of the number.
        requirement: &'static str,
    },
    /// A function of the problem returns a value out of range.
    #[error("{quantity} at cell {cell:?} is {value}; it must be {requirement}")]
    InvalidCellValue {
        /// Name of the value.
        quantity: &'static str,
        /// Argument of the function.
        cell: CellIndex,
        /// The value.
        value: String,
        /// Range of the value.
        requirement: &'static str,
    },
    /// A cut that does not fit the lattice.
    #[error(transparent)]
    Cut(#[from] CutError),
    /// A chunk that does not fit one binding of a device.
    #[error(
        "a part of {cells:?} cells has {bytes} bytes with its ghost cells, but some rank's device binds at most {max_bytes}: \
         cut the lattice into more parts, of which a rank may have several"
    )]
    ChunkTooLarge {
        /// Cells of the chunk along each axis.
        cells: [i64; 3],
        /// Bytes of the chunk with its ghost cells.
        bytes: u64,
        /// Largest number of bytes.
        max_bytes: u64,
    },
    /// Too many chunks.
    #[error(
        "a lattice of {lattice:?} cells or words would be cut into {chunks} chunks or more; there can be {max}: take fewer \
         cells, or fewer and larger parts"
    )]
    TooManyChunks {
        /// Extents of the lattice.
        lattice: [i64; 3],
        /// Lower bound of the number of chunks.
        chunks: i128,
        /// Largest number of chunks.
        max: i128,
    },
    /// A shape that cannot become solid cells.
    #[error("the solid: {0}")]
    Solid(#[from] SolidError),
    /// All cells of the box are solid.
    #[error("no cell of the box has fluid: {cells} cells are solid; make bodies smaller or the box larger")]
    NoFluid {
        /// Cells of the box.
        cells: i64,
    },
    /// A case with a solid from a file has no solid.
    #[error("the case {case} flows around a solid from a file, which is missing")]
    MissingSolid {
        /// Name of the case.
        case: &'static str,
    },
    /// An invalid entry of a case file.
    #[error("line {line}, {key}: {message}")]
    CaseFile {
        /// Line of the table or the value, from 1.
        line: usize,
        /// Key of the entry.
        key: String,
        /// The mistake, and a correction.
        message: String,
    },
    /// The size of a case has the wrong form.
    #[error("the size of the case {case} is {wanted}, not {given}")]
    CaseSize {
        /// Name of the case.
        case: String,
        /// The size.
        given: String,
        /// Form of the size.
        wanted: &'static str,
    },
    /// An array of another flow, or of no flow.
    #[error("the array {name:?} is not of this flow: {mismatch}; take an array that this flow has made")]
    ForeignArray {
        /// Name of the array.
        name: String,
        /// Difference to the arrays of the flow.
        mismatch: ArrayMismatch,
    },
    /// A property that a running flow cannot change.
    #[error("a running flow keeps {0}; make a new flow, or resume one from its populations")]
    FixedProperty(FixedProperty),
    /// A cell that would become another kind of cell in a running flow.
    #[error(
        "cell {cell:?} would become another kind of cell; a running flow can change only velocities, densities, force and \
         viscosity"
    )]
    ChangedCellKind {
        /// The cell.
        cell: CellIndex,
    },
    /// A density that is not finite or not near 1, or a speed above the speed of sound.
    #[error(
        "the flow has become unstable: at step {step} cell {cell:?} has no finite density near 1, or is faster than sound{}; \
         the relaxation time is {relaxation_time:.4}, and at 1/2 no flow is stable: take a higher viscosity, more cells at the \
         same Reynolds number, or a lower speed (0.1 cells a step or less)",
        last_finite_state(fastest)
    )]
    Unstable {
        /// Step of the check.
        step: u64,
        /// The first unstable cell.
        cell: CellIndex,
        /// Fastest cell of the last check with finite values everywhere.
        fastest: Option<FastestCell>,
        /// Relaxation time of the stress.
        relaxation_time: f64,
    },
}

/// A property that a running flow cannot change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FixedProperty {
    /// The velocity set.
    VelocitySet,
    /// Extents and periodic axes.
    Lattice,
    /// The collision operator, and the presence of a Smagorinsky constant.
    Collision,
    /// Precision of the populations.
    Precision,
    /// The presence of a force field.
    ForceField,
    /// The number of bodies.
    Bodies,
}

impl std::fmt::Display for FixedProperty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::VelocitySet => "its velocity set",
            Self::Lattice => "its lattice",
            Self::Collision => "its collision",
            Self::Precision => "the precision of its populations",
            Self::ForceField => "its force field",
            Self::Bodies => "its bodies",
        })
    }
}

fn last_finite_state(fastest: &Option<FastestCell>) -> String {
    fastest.map_or(String::new(), |FastestCell { step, cell, speed }| {
        format!("; the fastest cell of the last finite state, step {step}, was {cell:?} with {speed:.4} cells a step")
    })
}

impl From<FlowError> for zippy::Error {
    #[track_caller]
    fn from(error: FlowError) -> Self {
        Self::other(error)
    }
}

impl From<SolidError> for zippy::Error {
    #[track_caller]
    fn from(error: SolidError) -> Self {
        FlowError::from(error).into()
    }
}
