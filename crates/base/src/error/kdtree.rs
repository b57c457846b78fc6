use zippy_plan::extents::Index;

/// Invalid arguments of a k-d tree, of its queries, or of cuts that are balanced by points.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KdTreeError {
    /// The requested number of leaves is zero or too large.
    #[error("a k-d tree cannot have {given} leaves; it can have 1 to {most}")]
    Leaves {
        /// Requested number of leaves.
        given: usize,
        /// Largest number of leaves.
        most: usize,
    },
    /// A coordinate is infinite or NaN.
    #[error("{what} is at {position}; coordinates must be finite")]
    NotFinite {
        /// The point or the query.
        what: String,
        /// Position of the point or the query.
        position: String,
    },
    /// The requested number of nearest neighbours is zero.
    #[error("0 nearest neighbours were requested; request 1 or more (if the tree has fewer points, all are found)")]
    NoNeighbours,
    /// A radius is negative or NaN.
    #[error("the radius is {given}; it must be 0 or more")]
    Radius {
        /// The radius.
        given: f32,
    },
    /// The end of a box is less than its begin on an axis.
    #[error("box {query} goes from {low} to {high} on axis {axis}; give the lower corner first, and no NaN")]
    Backwards {
        /// Index of the box in the list of queries.
        query: usize,
        /// Axis.
        axis: usize,
        /// Begin of the box on the axis.
        low: f32,
        /// End of the box on the axis.
        high: f32,
    },
    /// A point is outside of the grid that is to be cut.
    #[error(
        "{what} is at {position}, outside of the grid of {shape} cells; coordinates count cells, from 0 to less than the shape"
    )]
    Outside {
        /// Point.
        what: String,
        /// Position of the point or the query.
        position: String,
        /// Grid shape.
        shape: Index,
    },
    /// A shape, or a list with one entry per axis, has another number of axes than the points.
    #[error("{what} has {given} axes, but the points have {expected}")]
    Axes {
        /// Argument name.
        what: &'static str,
        /// Number of axes of the argument.
        given: usize,
        /// Number of axes of the points.
        expected: usize,
    },
    /// The requested number of boxes is zero, too large, or more than the cells of the grid.
    #[error(
        "a grid of {shape} cells cannot be cut into {given} boxes that have cells; choose 1 or more boxes, at most {most}"
    )]
    Boxes {
        /// Grid shape.
        shape: Index,
        /// Requested number of boxes.
        given: usize,
        /// Largest number of boxes.
        most: u64,
    },
}
