use zippy_plan::extents::Index;

/// A k-d tree, a query of one or cuts balanced by points cannot be as asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KdTreeError {
    /// A tree of no or of very many leaves.
    #[error("a k-d tree of {given} leaves was asked for; it can have 1 to {most}")]
    Leaves {
        /// What was asked for.
        given: usize,
        /// The most.
        most: usize,
    },
    /// A coordinate is infinite or no number.
    #[error("{what} is at {position}; coordinates must be finite")]
    NotFinite {
        /// The point or the query.
        what: String,
        /// Where it is.
        position: String,
    },
    /// No neighbours were asked for.
    #[error("0 nearest neighbours were asked for; ask for 1 or more (where there are fewer points, all are found)")]
    NoNeighbours,
    /// A radius that is negative or no number.
    #[error("the radius is {given}; it must be 0 or more")]
    Radius {
        /// The radius.
        given: f32,
    },
    /// A box that ends before it begins.
    #[error("box {query} goes from {low} to {high} on axis {axis}; give the lower corner first, and no NaN")]
    Backwards {
        /// Its place in the list.
        query: usize,
        /// The axis.
        axis: usize,
        /// Where it begins.
        low: f32,
        /// Where it ends.
        high: f32,
    },
    /// A point lies outside of the grid that is to be cut.
    #[error(
        "{what} is at {position}, outside of the grid of {shape} cells; coordinates count cells, from 0 to less than the shape"
    )]
    Outside {
        /// The point.
        what: String,
        /// Where it is.
        position: String,
        /// The grid.
        shape: Index,
    },
    /// A shape, or a list with an entry for each axis, of another number of axes than the points.
    #[error("{what} has {given} axes, but the points have {expected}")]
    Axes {
        /// What was given.
        what: &'static str,
        /// Its axes.
        given: usize,
        /// Those of the points.
        expected: usize,
    },
    /// More boxes than cells, or none, or very many.
    #[error(
        "a grid of {shape} cells cannot be cut into {given} boxes that have cells; 1 or more can be made, at most {most}"
    )]
    Boxes {
        /// The grid.
        shape: Index,
        /// What was asked for.
        given: usize,
        /// The most.
        most: u64,
    },
}
