//! Errors of extraction and filters.

/// Reason why a surface cannot be extracted or a field filtered.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IsosurfaceError {
    /// The isovalue is not finite.
    #[error("isovalue {0}: it must be a finite number")]
    Isovalue(f32),
    /// The range has no values.
    #[error("range {0} to {1}: both ends must be numbers, and the first not above the second")]
    Range(f32, f32),
    /// The plane is degenerate or not finite.
    #[error("plane {0:?}: its four numbers must be finite, and its normal, the first three, not zero")]
    Plane([f64; 4]),
    /// The grid does not give each sample a distinct position.
    #[error("grid: {0}")]
    Grid(#[from] zippy::error::GridError),
    /// A corner of the field is too far from the origin for `f32`.
    #[error("grid: the field exceeds the range of f32: {0:?}")]
    Far(zippy::Grid),
    /// The shape of an attribute differs from that of the field.
    #[error(
        "array {name:?} is {found}, and the field of the surface is {wanted}; values at vertices need the same shape"
    )]
    Shape {
        /// Name of the array.
        name: String,
        /// Shape of the array.
        found: zippy::extents::Index,
        /// Shape of the field.
        wanted: zippy::extents::Index,
    },
    /// Kernels cannot extract this surface.
    #[error(
        "a surface {0} cannot be made on the device: it has no kernels, as where the device is the host; \
         `Extractor::by_kernels` reports this, and `Extractor::extract` works anywhere"
    )]
    NoKernels(String),
    /// Some rank's part of a surface exceeds the arrays of its device.
    #[error(
        "some rank's part of the surface does not fit the device, where a buffer has at most {0} bytes; use more ranks, or \
         `Extractor::extract`, which makes it in host memory"
    )]
    NoRoom(u64),
    /// A rank's part has too many items to number.
    #[error("rank {rank} would have more than {most} {what}; use more ranks")]
    TooMany {
        /// Rank with too many items.
        rank: usize,
        /// Kind of the items.
        what: &'static str,
        /// Maximum number of items.
        most: u64,
    },
    /// Two chunks disagree about the points on their border.
    #[error(
        "chunk {of} has {found} points on the border of chunk {to}, which expects {expected}, or other ones: the \
         field has been changed since its extractor was made"
    )]
    Border {
        /// The chunk that owns the points.
        of: usize,
        /// The chunk that uses the points.
        to: usize,
        /// Number of points that the owner found.
        found: u64,
        /// Number of points that the user found.
        expected: u64,
    },
}

impl From<IsosurfaceError> for zippy::Error {
    #[track_caller]
    fn from(error: IsosurfaceError) -> Self {
        Self::other(error)
    }
}
