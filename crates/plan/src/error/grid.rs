//! Errors of a [`Grid`](crate::grid::Grid).

/// A grid does not give each cell of an array a position of its own.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GridError {
    /// A number is NaN or infinite.
    #[error("the {what} has numbers that are not finite: {numbers:?}")]
    NotFinite {
        /// Origin or direction.
        what: &'static str,
        /// Its three numbers.
        numbers: [f64; 3],
    },
    /// A distance of cells is not a positive number.
    #[error(
        "a spacing of {} along {direction:?} (axis {axis} of {spacing:?}): it must be finite and positive; mirror an axis by \
         its direction, or by a step of Grid::from_steps", spacing[*axis]
    )]
    Spacing {
        /// The first axis whose spacing is not finite and positive.
        axis: usize,
        /// Spacing along the three axes.
        spacing: [f64; 3],
        /// The direction of the axis; of a grid of steps the step.
        direction: [f64; 3],
    },
    /// A direction is not a unit vector.
    #[error("direction {direction:?} of axis {axis} has length {length}; it must be 1 (the spacing is apart)")]
    Length {
        /// The axis.
        axis: usize,
        /// Its direction.
        direction: [f64; 3],
        /// The direction's length.
        length: f64,
    },
    /// The axes do not span the space.
    #[error("directions {directions:?} lie in a plane; the axes must span the space")]
    Plane {
        /// Directions of the three axes.
        directions: [[f64; 3]; 3],
    },
}
