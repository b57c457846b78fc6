//! What can be wrong with a flow that is asked for.

use crate::flow::Fastest;

/// A flow cannot be set up, or has come to an end, as asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FlowError {
    /// There is no such case.
    #[error("there is no case {0:?}; there are {1}")]
    Case(String, String),
    /// The box has no cells, or too many.
    #[error("a box of {0:?} cells: each extent must be between 1 and {1}, and the third one 1 in two dimensions")]
    Extents([i64; 3], i64),
    /// One side of an axis is periodic, the other is not.
    #[error("axis {0}: only one side is periodic; both are, or neither")]
    Periodic(usize),
    /// Sides that are open meet at an edge.
    #[error(
        "sides of axes {0} and {1} are both open; at the edge where they meet nothing is known: one axis must be walls, mirrors or periodic"
    )]
    Open(usize, usize),
    /// No axis of the box has two halves.
    #[error(
        "a box of {0:?} cells in 16 bits: a word has two cells half a box apart, so some axis must have an even number of cells, or sides that are not periodic (with outlets 5 cells at least)"
    )]
    Fold([i64; 3]),
    /// Cumulants need all velocities.
    #[error("cumulants are those of D3Q27, not of {0}")]
    Cumulant(&'static str),
    /// A number is not what it must be.
    #[error("{what} is {value}; it must be {wanted}")]
    Number {
        /// Of what.
        what: &'static str,
        /// The number.
        value: f64,
        /// What it may be.
        wanted: &'static str,
    },
    /// A function of the problem gives what cannot be.
    #[error("{what} at cell {place:?} is {value}; it must be {wanted}")]
    Given {
        /// Of what.
        what: &'static str,
        /// The cell for which it was asked.
        place: [i64; 3],
        /// What it gives.
        value: String,
        /// What it may be.
        wanted: &'static str,
    },
    /// One layer of cells between two open sides.
    #[error("axis {0} has one cell between two open sides that differ; there must be two at least")]
    Thin(usize),
    /// Two axes only.
    #[error("{0} has two axes: the third must be periodic, and velocities and forces have no third component")]
    Plane(&'static str),
    /// The lattice cannot be cut so.
    #[error("cut of axis {axis}{}: {wrong}", into(parts))]
    Cut {
        /// The axis.
        axis: usize,
        /// The parts, where they are given one by one.
        parts: Vec<i64>,
        /// What is wrong.
        wrong: String,
    },
    /// A part of the lattice is too large for a device.
    #[error(
        "a part of {cells:?} cells has {needed} bytes with those around it, but some rank's device binds at most {most}: \
         cut the lattice into more parts, of which a rank may have several"
    )]
    Chunk {
        /// Its cells along each axis.
        cells: [i64; 3],
        /// Its bytes.
        needed: u64,
        /// The most.
        most: u64,
    },
    /// A lattice has more chunks than can be kept in mind.
    #[error(
        "a lattice of {lattice:?} cells or words would be cut into {chunks} chunks or more; there can be {most}: \
         take fewer cells, or fewer and larger parts"
    )]
    Chunks {
        /// Its extents.
        lattice: [i64; 3],
        /// How many at least.
        chunks: i128,
        /// The most.
        most: i128,
    },
    /// Nothing can be made of the shape of a solid.
    #[error("the solid: {0}")]
    Solid(String),
    /// No cell of the box has fluid.
    #[error("no cell of the box has fluid: {0} cells are solid; make bodies smaller or the box larger")]
    NoFluid(i64),
    /// A case that flows around a solid has none.
    #[error("the case {0} flows around a solid that is made of a file; say which one")]
    NoSolid(&'static str),
    /// A case of one's own is not described as it must be.
    #[error("line {line}, {key}: {wrong}")]
    Described {
        /// The line of the text where the table or the value begins.
        line: usize,
        /// Which one.
        key: String,
        /// What is wrong and what would be right.
        wrong: String,
    },
    /// A case is sized by other numbers.
    #[error("the size of the case {case} is {wanted}, not {given}")]
    Size {
        /// The case.
        case: String,
        /// What was given.
        given: String,
        /// What it is sized by.
        wanted: &'static str,
    },
    /// An array is that of another flow, or of none.
    #[error("the array {name:?} is not of this flow: {wrong}; take one that the flow has made, of this cut")]
    Array {
        /// The array.
        name: String,
        /// How it differs.
        wrong: String,
    },
    /// A flow that runs is not to be another one altogether.
    #[error("a flow that runs keeps {0}; make a new one, or resume one from its populations")]
    Changed(&'static str),
    /// Fluid where there was none, or none where there was.
    #[error(
        "cell {0:?} would become another kind of cell; of a flow that runs only velocities, densities, force and viscosity change"
    )]
    ChangedCell([i64; 3]),
    /// There are numbers no more, or the fluid is faster than sound.
    #[error(
        "the flow has become unstable: at step {step} cell {cell:?} has no finite density near 1, or is faster than sound{}; \
         {}",
        last(fastest),
        advice(*relaxation_time)
    )]
    Unstable {
        /// The step after which it was seen.
        step: u64,
        /// The first such cell.
        cell: [i64; 3],
        /// Fastest cell of the last check with finite values everywhere.
        fastest: Option<Fastest>,
        /// Relaxation time of the stress.
        relaxation_time: f64,
    },
}

/// The fastest cell before a flow has become unstable.
fn last(fastest: &Option<Fastest>) -> String {
    fastest.map_or(String::new(), |Fastest { step, place, speed }| {
        format!("; the fastest cell of the last finite state, step {step}, was {place:?} with {speed:.4} cells a step")
    })
}

/// Ways to a stable flow.
fn advice(relaxation_time: f64) -> String {
    format!(
        "the relaxation time is {relaxation_time:.4}, and at 1/2 no flow is stable: take a higher viscosity, more cells at the \
         same Reynolds number, or a lower speed (0.1 cells a step or less)"
    )
}

fn into(parts: &[i64]) -> String {
    if parts.is_empty() { String::new() } else { format!(" into {parts:?}") }
}

impl From<FlowError> for zippy::Error {
    #[track_caller]
    fn from(error: FlowError) -> Self {
        Self::other(error)
    }
}
