use crate::extents::Index;

/// A region is malformed or outside of its bounds.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegionError {
    /// The end is less than the start on an axis.
    #[error("region {} runs backwards on axis {axis}; the end must not lie before the start", span(start, end))]
    Backwards {
        /// First cell.
        start: Index,
        /// One past the last cell.
        end: Index,
        /// Axis.
        axis: usize,
    },
    /// The number of axes is 0 or more than 7.
    #[error("a region of {given} axes; 1 to 7 are possible")]
    AxisCount {
        /// Number of axes.
        given: usize,
    },
    /// The region and its array have different numbers of axes.
    #[error("a region of {given} axes was used where {expected} axes are needed")]
    Axes {
        /// Number of axes of the region.
        given: usize,
        /// Number of axes of the array.
        expected: usize,
    },
    /// The region is not inside its bounds.
    #[error("region {} leaves {what}, which is {}, on axis {axis}", span(start, end), span(bound_start, bound_end))]
    OutOfRange {
        /// First cell.
        start: Index,
        /// One past the last cell.
        end: Index,
        /// Bounds name.
        what: String,
        /// First cell of the bounds.
        bound_start: Index,
        /// One past the last cell of the bounds.
        bound_end: Index,
        /// The first axis on which the region leaves the bounds.
        axis: usize,
    },
    /// A coordinate or the number of cells overflows 63 bits.
    #[error("region with extents {extents} overflows 63-bit indices")]
    Overflow {
        /// Extents.
        extents: Index,
    },
}

/// Formats a region like [`Region`](crate::region::Region).
fn span(start: &Index, end: &Index) -> String {
    let axes: Vec<String> = start.iter().zip(end.iter()).map(|(start, end)| format!("{start}..{end}")).collect();
    format!("[{}]", axes.join(", "))
}
