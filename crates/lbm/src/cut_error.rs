//! Errors of cuts.

/// Reason why a cut does not fit the lattice along an axis.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CutError {
    /// A part has no cells.
    #[error("cut of axis {axis} into {lengths:?}: each part must have at least one of the {unit}")]
    EmptyPart {
        /// The axis.
        axis: usize,
        /// Lengths of the parts.
        lengths: Vec<i64>,
        /// Unit of lengths.
        unit: CutUnit,
    },
    /// The lengths of the parts do not add up to the length of the axis.
    #[error("cut of axis {axis} into {lengths:?}: the parts must add up to {expected} {unit}")]
    WrongSum {
        /// The axis.
        axis: usize,
        /// Lengths of the parts.
        lengths: Vec<i64>,
        /// Length of the axis.
        expected: i64,
        /// Unit of lengths.
        unit: CutUnit,
    },
    /// A part at an outlet or a free-slip side is too short.
    #[error(
        "cut of axis {axis} into {lengths:?}: the first part must have at least {} {unit}, the last one {}, as an outlet or a \
         mirror needs the cells next to it",
        minima[0], minima[1]
    )]
    ShortEnd {
        /// The axis.
        axis: usize,
        /// Lengths of the parts.
        lengths: Vec<i64>,
        /// Least lengths of the first and the last part.
        minima: [i64; 2],
        /// Unit of lengths.
        unit: CutUnit,
    },
    /// The axis is too short for the number of parts.
    #[error(
        "cut of axis {axis}: {parts} parts of {length} {unit}: each part must have at least one{}",
        end_minima(minima)
    )]
    TooManyParts {
        /// The axis.
        axis: usize,
        /// Number of parts.
        parts: i64,
        /// Length of the axis.
        length: i64,
        /// Least lengths of the first and the last part.
        minima: [i64; 2],
        /// Unit of lengths.
        unit: CutUnit,
    },
}

/// Unit of the lengths of parts along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutUnit {
    /// Cells.
    Cells,
    /// Words of two 16-bit populations.
    Words,
}

impl std::fmt::Display for CutUnit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Cells => "cells",
            Self::Words => "words (two cells each)",
        })
    }
}

fn end_minima(minima: &[i64; 2]) -> String {
    match minima {
        [1, 1] => String::new(),
        [first, last] => format!(", at outlets and mirrors more: the first one {first}, the last one {last}"),
    }
}
