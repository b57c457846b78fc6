/// Grid that does not map the cells of an array to distinct positions.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GridError {
    /// A number is NaN or infinite.
    #[error("the {what} has numbers that are not finite: {numbers:?}")]
    NotFinite {
        /// `"origin"` or a text for a direction.
        what: &'static str,
        /// The three numbers of `what`.
        numbers: [f64; 3],
    },
    /// A spacing is not finite and positive.
    #[error(
        "a spacing of {} along {direction:?} (axis {axis} of {spacing:?}): it must be finite and positive; mirror an axis by \
         its direction, or by a step of Grid::from_steps", spacing[*axis]
    )]
    Spacing {
        /// The first axis with a spacing that is not finite and positive.
        axis: usize,
        /// Spacing along the three axes.
        spacing: [f64; 3],
        /// Direction of the axis, or its step for a grid from steps.
        direction: [f64; 3],
    },
    /// A direction is not a unit vector.
    #[error("direction {direction:?} of axis {axis} has length {length}; it must be 1 (the spacing is separate)")]
    Length {
        /// Axis.
        axis: usize,
        /// Direction of the axis.
        direction: [f64; 3],
        /// Length of the direction.
        length: f64,
    },
    /// The directions do not span the space.
    #[error("directions {directions:?} lie in a plane; the axes must span the space")]
    Plane {
        /// Directions of the three axes.
        directions: [[f64; 3]; 3],
    },
}
