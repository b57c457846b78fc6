//! Errors of solids.

/// Reason why a shape cannot become solid cells.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolidError {
    /// A surface without triangles.
    #[error("the surface has no triangles")]
    NoTriangles,
    /// A surface with more than 2³¹ triangles.
    #[error("the surface has {count} triangles; the maximum is 2^31")]
    TooManyTriangles {
        /// Number of triangles.
        count: usize,
    },
    /// A coordinate of a surface that is not finite.
    #[error("triangle {index} of the surface has the corners {corners:?}, which are not all finite")]
    CornerNotFinite {
        /// Index of the triangle.
        index: usize,
        /// Its corners.
        corners: [[f32; 3]; 3],
    },
    /// No memory for one bit per cell.
    #[error("a box of {extents:?} cells around it needs more memory than there is, one bit per cell")]
    OutOfMemory {
        /// Cells along each axis of the box around the shape.
        extents: [i64; 3],
    },
    /// No cell centre is between the ends of the shape along an axis.
    #[error(
        "along axis {axis} it reaches from {low:.3} to {high:.3} cells from the corner of the box, between the centres of \
         cells: take smaller cells, or thicken it"
    )]
    BetweenCells {
        /// The axis.
        axis: usize,
        /// Lower end of the shape, in cells from the corner of the box.
        low: f64,
        /// Upper end of the shape.
        high: f64,
    },
    /// The shape is outside of the box along an axis.
    #[error(
        "along axis {axis} it reaches from {low:.3} to {high:.3} cells from the corner of the box, outside of the box of \
         {cells} cells"
    )]
    OutsideBox {
        /// The axis.
        axis: usize,
        /// Lower end of the shape, in cells from the corner of the box.
        low: f64,
        /// Upper end of the shape.
        high: f64,
        /// Cells of the box along the axis.
        cells: i64,
    },
    /// The shape covers too many periods of a periodic axis.
    #[error(
        "along the periodic axis {axis} it reaches from {low:.3} to {high:.3} cells, more than {max_periods} periods of \
         {period} cells: give it a smaller size, or a smaller unit; one unit of the shape is {scale} cells now"
    )]
    TooManyPeriods {
        /// The axis.
        axis: usize,
        /// Lower end of the shape, in cells.
        low: f64,
        /// Upper end of the shape.
        high: f64,
        /// The largest number of periods.
        max_periods: f64,
        /// Cells of a period.
        period: i64,
        /// Cells per unit of the shape.
        scale: f64,
    },
    /// The shape is too far from the box along a periodic axis.
    #[error(
        "along the periodic axis {axis} it reaches from {low:.3} to {high:.3} cells, more than {max_distance} cells from the \
         box: give it a centre in the box, or a smaller unit; one unit of the shape is {scale} cells now"
    )]
    TooFar {
        /// The axis.
        axis: usize,
        /// Lower end of the shape, in cells.
        low: f64,
        /// Upper end of the shape.
        high: f64,
        /// The largest distance, in cells.
        max_distance: f64,
        /// Cells per unit of the shape.
        scale: f64,
    },
    /// No cell centre is inside a surface.
    #[error(
        "the surface of {triangles} triangles has no cell inside; it must be closed except for small holes, its triangles \
         must face the same way, and its parts must be thicker than a cell: use smaller cells, or thicken it"
    )]
    NoCellInside {
        /// Number of triangles.
        triangles: usize,
    },
    /// All cells of the box are solid.
    #[error("it fills the whole box of {extents:?} cells and leaves none to the fluid")]
    FillsBox {
        /// Cells of the box along each axis.
        extents: [i64; 3],
    },
    /// A scan without voxels.
    #[error("the scan has {voxels} voxels along an axis; it must have at least 1")]
    NoVoxels {
        /// Voxels along the axis.
        voxels: i64,
    },
    /// The grid of a scan is invalid.
    #[error("the grid of the scan: {message}")]
    InvalidGrid {
        /// Reason.
        message: String,
    },
    /// The upper threshold of a scan is not above the lower threshold.
    #[error("values above {above} and not above {below} are solid: the second number must be larger than the first")]
    InvalidThresholds {
        /// Lower threshold.
        above: f64,
        /// Upper threshold.
        below: f64,
    },
    /// A scan without finite values in the box.
    #[error("no cell of the scan is solid: it has no finite values in the box")]
    NoFiniteValues,
    /// A scan without values between the thresholds in the box.
    #[error(
        "no cell of the scan is solid: its values are from {min} to {max} in the box, and values above {above}{} are solid",
        upper_threshold(below)
    )]
    NoValueInRange {
        /// Least value in the box.
        min: f64,
        /// Largest value in the box.
        max: f64,
        /// Lower threshold.
        above: f64,
        /// Upper threshold.
        below: Option<f64>,
    },
}

fn upper_threshold(below: &Option<f64>) -> String {
    below.map_or(String::new(), |below| format!(" and not above {below}"))
}
