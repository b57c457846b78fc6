//! Lattice Boltzmann flow over global arrays: one copy of the distributions, streamed in place, and the same bits for every
//! number of ranks and every cut.
//!
//! ```
//! # use zippy::World;
//! use zippy_lbm::{Cut, Flow, Problem, Side, VelocitySet};
//! # fn program(world: &World) -> zippy::Result<()> {
//! // Fluid between two walls, pulled along by a force.
//! let problem = Problem::new(VelocitySet::D2Q9, [8, 16, 1])
//!     .sides(1, Side::Wall, Side::Wall)
//!     .viscosity(0.1)
//!     .force([1e-5, 0.0, 0.0]);
//! let mut flow = Flow::new(world, &problem, &Cut::Auto)?;
//! flow.run(2000)?;
//! let fields = flow.fields()?;
//! let middle = world.get(fields.velocity.at((3, 1 + 8, 0, 0)))?;
//! let middle = world.fence()?.redeem(middle)?[0];
//! // Poiseuille's parabola, half a cell from its top.
//! assert!((middle - 1e-5 / 0.2 * (8.5 * 7.5)).abs() < 1e-3 * middle);
//! # Ok(()) }
//! # zippy::run_with(zippy::Config::threads(2), program).unwrap();
//! ```
//!
//! [`Problem`] says what flows, and between which sides; [`Flow`] is it while it flows. Coordinates of a problem count the
//! cells of the box from 0. Arrays of a flow have one layer of cells more beyond each side that is not periodic, in which
//! walls are: see [`Flow::inside`].
//!
//! After M. Lehmann, *Esoteric Pull and Esoteric Push*, Computation 10(6), 2022 (streaming in place), I. Ginzburg et al.,
//! *Two-relaxation-time lattice Boltzmann scheme*, Commun. Comput. Phys. 3, 2008, Z. Guo et al., Phys. Rev. E 65, 2002
//! (forces), M. Geier et al., Comput. Math. Appl. 70, 2015 (cumulants), J. Latt et al., Phys. Rev. E 77, 2008 (open sides), and section 5.3 of the Zippy paper.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod cases;
mod cell;
mod check;
mod closed;
mod cut;
pub mod described;
mod driven;
mod error;
mod flow;
mod given;
mod images;
mod problem;
mod shader;
pub mod solids;
mod sponge;
mod storage;
mod units;
mod velocities;

pub use cut::Cut;
pub use error::FlowError;
pub use flow::{Fastest, Fields, Flow, Motion, Populations, Pull, Quantity, SolidCells};
pub use problem::{Collision, Place, Problem, Side};
pub use storage::Storage;
pub use units::Units;
pub use velocities::VelocitySet;
