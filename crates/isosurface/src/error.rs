//! What can be wrong with a surface or a filter that is asked for.

/// A surface cannot be extracted, or a field filtered, as asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IsosurfaceError {
    /// No surface has this value.
    #[error("isovalue {0}: it must be a finite number")]
    Isovalue(f32),
    /// No value lies in this range.
    #[error("range {0} to {1}: both ends must be numbers, and the first not above the second")]
    Range(f32, f32),
    /// Nothing is cut by this plane.
    #[error("plane {0:?}: its four numbers must be finite, and its normal, the first three, not zero")]
    Plane([f64; 4]),
    /// The grid does not give each sample a position of its own.
    #[error("grid: {0}")]
    Grid(#[from] zippy::error::GridError),
    /// A corner of the field is too far away.
    #[error("grid: the field reaches beyond the numbers of f32: {0:?}")]
    Far(zippy::Grid),
    /// An array does not go with the field of a surface.
    #[error(
        "array {name:?} is {found}, and the field of the surface is {wanted}; values at vertices need the same shape"
    )]
    Shape {
        /// The array.
        name: String,
        /// Its shape.
        found: zippy::extents::Index,
        /// The field's.
        wanted: zippy::extents::Index,
    },
    /// Kernels do not make this surface.
    #[error(
        "a surface {0} cannot be made on the device: it has no kernels, as where the device is the host; \
         `Extractor::by_kernels` tells, and `Extractor::extract` makes it anywhere"
    )]
    NoKernels(String),
    /// Some rank's part of a surface is too large for the arrays of a device.
    #[error(
        "some rank's part of the surface does not fit the device, where a buffer has at most {0} bytes; use more ranks, or \
         `Extractor::extract`, which makes it in host memory"
    )]
    NoRoom(u64),
    /// A rank's part cannot be numbered.
    #[error("rank {rank} would have more than {most} {what}; use more ranks")]
    TooMany {
        /// The rank.
        rank: usize,
        /// Of what.
        what: &'static str,
        /// The most that it can number.
        most: u64,
    },
    /// What two chunks know of a border differs.
    #[error(
        "chunk {of} has {found} points on the border of chunk {to}, which sees {expected} there, or others: the \
         field has been changed since its extractor was made"
    )]
    Border {
        /// The chunk that owns the points.
        of: usize,
        /// The chunk that uses them.
        to: usize,
        /// What their owner found.
        found: u64,
        /// What the other one sees.
        expected: u64,
    },
}

impl From<IsosurfaceError> for zippy::Error {
    #[track_caller]
    fn from(error: IsosurfaceError) -> Self {
        Self::other(error)
    }
}
