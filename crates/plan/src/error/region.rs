use crate::extents::Index;

/// A region is malformed or does not fit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegionError {
    /// The end lies before the start.
    #[error("region {} runs backwards on axis {axis}; the end must not lie before the start", span(start, end))]
    Backwards {
        /// First cell.
        start: Index,
        /// One past the last cell.
        end: Index,
        /// The axis.
        axis: usize,
    },
    /// No axes, or more than the library supports.
    #[error("a region of {given} axes; 1 to 7 are possible")]
    AxisCount {
        /// What was given.
        given: usize,
    },
    /// The number of axes is not the array's.
    #[error("a region of {given} axes was used where {expected} axes are needed")]
    Axes {
        /// What was given.
        given: usize,
        /// What is needed.
        expected: usize,
    },
    /// The region leaves the bounds.
    #[error("region {} leaves {what}, which is {}, on axis {axis}", span(start, end), span(bound_start, bound_end))]
    OutOfRange {
        /// First cell.
        start: Index,
        /// One past the last cell.
        end: Index,
        /// What it should lie in.
        what: String,
        /// First cell allowed.
        bound_start: Index,
        /// One past the last cell allowed.
        bound_end: Index,
        /// The first axis on which it leaves.
        axis: usize,
    },
    /// A coordinate or the number of cells overflows 63 bits.
    #[error("region with extents {extents} overflows 63-bit indices")]
    Overflow {
        /// The extents.
        extents: Index,
    },
}

/// A region, written as `Region` is.
fn span(start: &Index, end: &Index) -> String {
    let axes: Vec<String> = start.iter().zip(end.iter()).map(|(start, end)| format!("{start}..{end}")).collect();
    format!("[{}]", axes.join(", "))
}
