//! Isosurfaces of global arrays: Marching Cubes with the topology of the trilinear interpolant,
//! welded across chunks and ranks; and filters of fields: [threshold](Extractor::threshold),
//! [clip](Extractor::clip), [planar section](cut()).
//!
//! ```
//! # use zippy::{Layout, Split, World};
//! use zippy_isosurface::{Extractor, Grid, statistics};
//! # fn program(world: &World) -> zippy::Result<()> {
//! // A ball of radius 5.2 in the middle of 16 samples a side.
//! let layout = Layout::new([16, 16, 16]).split_all(Split::Auto).ghost([2, 2, 2]);
//! let field = world.array::<f32, 3>("field", &layout)?;
//! let distance = |p: [i64; 3]| p.map(|x| (x as f32 - 7.5).powi(2)).iter().sum::<f32>().sqrt();
//! field.fill_with(|p| 5.2 - distance(p))?;
//! let mesh = Extractor::new(world, &field, Grid::default())?.extract(0.0)?;
//! let found = statistics(world, &mesh)?;
//! assert_eq!((found.euler, found.components, found.open_edges), (2, 1, 0));
//! # Ok(()) }
//! # zippy::run_with(zippy::Config::threads(3), program).unwrap();
//! ```
//!
//!
//! # Promises
//!
//! * The mesh has the Euler characteristic and the components of the surface where the trilinear
//!   interpolant equals the isovalue. Saddles decide ambiguous faces, insides of cells and tunnels.
//! * A sample or a saddle that equals the isovalue is inside; NaN and minus infinity are outside.
//!   No combination of values opens a hole, and no edge has more than two triangles. A field that
//!   is inside at its border has an open surface there.
//! * Each crossed grid edge has one vertex, owned by the rank of the edge's first sample, with a
//!   64-bit number. The mesh is the same, bit for bit, for every number of ranks and every cut,
//!   except for the order of vertices and triangles.
//! * Triangles are counterclockwise as seen from lower values, and normals point there, also in
//!   mirrored grids.
//! * Samples are compared as `f32`. Ambiguous cells are decided in `f64`: exactly for integers and
//!   half-integers of up to 12 bits, else within rounding. The mesh is closed either way.
//!
//! # Limits
//!
//! * Filters compute on the host: in place if host and device share memory, else from a copy of one
//!   chunk at a time.
//! * Kernels compute in `f32`. On adapters of different models, positions may differ in the last
//!   bit. Samples below 1e-37, and `f16` below 6.1e-5, may count as zero.
//! * A field without ghost cells along a cut axis is copied; a changed field needs
//!   [`Extractor::update`].
//! * A surface that crosses all bricks takes about 0.8 bytes per voxel in addition to samples and
//!   mesh.
//!
//! After section 5.2 of the Zippy paper (Fan, Qiu, Kaufman 2008).
#![forbid(unsafe_code)]

mod cell;
mod device_mesh;
mod error;
mod extract;
mod field;
mod files;
mod filter;
mod grid;
mod kernels;
mod mesh;
mod messages;
mod points;
mod sample;
mod statistics;
mod volume_mesh;

pub use device_mesh::DeviceMesh;
pub use error::IsosurfaceError;
pub use extract::Extractor;
pub use field::attribute::Attribute;
pub use files::{write, write_volume, write_volume_with_origin, write_with_origin};
pub use filter::clip::Side;
pub use filter::cut::{Plane, cut};
pub use filter::threshold::Corners;
pub use mesh::Mesh;
pub use sample::Sample;
pub use statistics::{Statistics, VolumeStatistics, components, statistics, volume_statistics};
pub use volume_mesh::VolumeMesh;
pub use zippy::Grid;
pub use zippy_io::mesh::CellCounts;
