//! Solid cells from what others have made: surfaces of triangles, and scans.
//!
//! Of a scan, cells are solid where the interpolated value lies in a range. Of a surface, cells are
//! solid inside, by the generalised winding number: small holes, doubled triangles, some turned
//! ones and overlapping parts do no harm. Parts thinner than a cell leave holes: the projected
//! areas of surface and cells are compared, and a warning has the figures. Thickening makes all
//! cells solid that the surface passes through; elsewhere the solid grows by at most half a cell.
//! Each rank computes its share of the cells, and reads the planes of a scan that it needs; then
//! all ranks get all cells, one bit each.
//!
//! ```
//! # use zippy::World;
//! use zippy_lbm::solids::{Placement, Room, Shape, Surface};
//! # fn program(world: &World) -> zippy::Result<()> {
//! // A tetrahedron with edges along the axes, of 6 cells, in a box of 16 x 12 x 12 cells.
//! let [o, x, y, z] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
//! let surface = Surface::new(&[[o, y, x], [o, x, z], [o, z, y], [x, y, z]])?;
//! let placement = Placement { scale: 6.0, middle: [7.5, 5.5, 5.5] };
//! let solid = surface.solid(world, &placement, &Room::from([16, 12, 12]))?;
//! assert!(solid.contains([5, 3, 3]) && !solid.contains([10, 8, 8]));
//! let problem = zippy_lbm::Problem::new(zippy_lbm::VelocitySet::D3Q19, [16, 12, 12]).body(solid.middle(), solid.inside());
//! # let _ = problem; Ok(()) }
//! # zippy::run_with(zippy::Config::threads(2), program).unwrap();
//! ```

mod angle;
mod bits;
mod coverage;
mod holes;
mod orient;
mod room;
mod shape;
mod surface;
mod thicken;
mod voxels;

pub use bits::Solid;
pub use coverage::Coverage;
pub use room::Room;
pub use shape::{Placement, Shape};
pub use surface::Surface;
pub use voxels::{Take, Voxels};
