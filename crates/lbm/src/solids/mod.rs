//! Solid cells from triangle surfaces and scans.
//!
//! * **Scan**: a cell is solid if the interpolated value at its centre is in a range.
//! * **Surface**: a cell is solid if its centre is inside, by the generalised winding number. Small
//!   holes, duplicate triangles, some flipped triangles and overlapping parts are harmless.
//!
//! Parts thinner than a cell leave holes. A warning compares the projected areas of the surface and
//! of the solid cells. [`VoxelizationBox::thicken`] also makes the cells solid that the surface
//! passes through; the solid grows by at most half a cell.
//!
//! Each rank classifies its share of the cells and reads only the planes of a scan that it needs.
//! Afterwards every rank has all cells, one bit each.
//!
//! ```
//! # use zippy::World;
//! use zippy_lbm::solids::{Placement, SolidShape, TriangleSurface, VoxelizationBox};
//! # fn program(world: &World) -> zippy::Result<()> {
//! // A tetrahedron with edges of 6 cells along the axes, in a box of 16 x 12 x 12 cells.
//! let [o, x, y, z] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
//! let surface = TriangleSurface::new(&[[o, y, x], [o, x, z], [o, z, y], [x, y, z]])?;
//! let placement = Placement { scale: 6.0, centre: [7.5, 5.5, 5.5] };
//! let solid = surface.voxelize(world, &placement, &VoxelizationBox::from([16, 12, 12]))?;
//! assert!(solid.contains([5, 3, 3]) && !solid.contains([10, 8, 8]));
//! let problem = zippy_lbm::Problem::new(zippy_lbm::VelocitySet::D3Q19, [16, 12, 12])
//!     .body(solid.centroid(), solid.predicate());
//! # let _ = problem; Ok(()) }
//! # zippy::run_with(zippy::Config::threads(2), program).unwrap();
//! ```

mod measure_coverage;
mod open_edges;
mod orient_triangles;
mod placement;
mod rank_share;
mod scan_volume;
mod solid_angle;
mod solid_error;
mod solid_mask;
mod solid_shape;
mod surface_coverage;
mod thicken;
mod triangle;
mod triangle_surface;
mod voxelization_box;

pub use placement::Placement;
pub use scan_volume::{PlaneReceiver, ScanVolume};
pub use solid_error::SolidError;
pub use solid_mask::SolidMask;
pub use solid_shape::SolidShape;
pub use surface_coverage::SurfaceCoverage;
pub use triangle_surface::TriangleSurface;
pub use voxelization_box::VoxelizationBox;
