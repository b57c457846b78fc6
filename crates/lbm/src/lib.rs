//! Lattice Boltzmann flow over global arrays: one copy of the distributions, streamed in place, and
//! the same bits for every number of ranks and every cut.
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
//! # What is promised
//!
//! * Every population has the same bits for every number of ranks and every cut, uneven cuts and
//!   layers of one cell included, and across a restart on other ranks. Forces and masses are summed
//!   without rounding.
//! * D3Q19 takes 77 bytes a cell, and 39 with [`Storage::Half`]; 64 bytes more for each cell that
//!   moves, mirrors or is open, and for each cell of a body's surface. Density and velocity take
//!   memory only when a program asks for them.
//! * A step moves the populations that cross a cut: 5 of 19 for each face, in both directions in
//!   one exchange. Where the device is not the host, cells that need no neighbours are computed
//!   meanwhile (not with outlets).
//! * A wall stands half-way between a solid cell and its neighbours. With two relaxation times and
//!   the magic number 3/16, straight walls are exact.
//! * Open sides are regularised. Two open sides do not meet at an edge. A part of the cut at an
//!   outlet has at least three layers of cells.
//! * Where the lattice has too few cells for all ranks, some ranks have none. A lattice that needs
//!   more than 65536 chunks is refused.
//! * Mistakes are the same error on every rank: a description that makes no sense, a cut that does
//!   not fit, and an unstable flow, with the fastest cell of its last finite state.
//!
//! # How a run of the program `lbm` ends and continues
//!
//! * SIGTERM, Ctrl-C, or the end of a `--budget` of seconds ends a run with a checkpoint, and a
//!   movie with the frames that it has. The same signal once more ends it at once.
//! * `--checkpoint` keeps the last two generations, and refuses a directory with those of another
//!   run. `--restart` continues from the latest generation. Tables and indices of fields keep
//!   earlier lines; a movie needs another name for each job. `--steps` counts from the beginning of
//!   the job.
//! * `--restart DIR --case edited.toml` continues with an edited case and lists the differences.
//!   These may differ: steps, names, probes, reference numbers, viscosity, acceleration, collision,
//!   density, values at sides, and velocities of bodies. Cells, velocities of the lattice, shapes,
//!   kinds of sides, the size of a cell and the time of a step must not.
//! * A checkpoint has a hash of the solid cells. A restart is refused if a solid's file has changed
//!   them.
//! * Every 50 steps, kernels find the fastest cell. An unstable flow ends the run; pictures, files
//!   and tables have finite states only.
//! * Pictures of space, and of slices across z, have x to the right and y up. With `--length`,
//!   `--viscosity`, `--flow-speed` and `--density` in SI units, reports and tables have these
//!   units; pictures and files of fields stay in cells and steps.
//!
//! # How exact it is
#![doc = include_str!("../accuracy.md")]
//!
//! After M. Lehmann, *Esoteric Pull and Esoteric Push*, Computation 10(6), 2022 (streaming in
//! place), I. Ginzburg et al., *Two-relaxation-time lattice Boltzmann scheme*, Commun. Comput.
//! Phys. 3, 2008, Z. Guo et al., Phys. Rev. E 65, 2002 (forces), M. Geier et al., Comput. Math.
//! Appl. 70, 2015 (cumulants), J. Latt et al., Phys. Rev. E 77, 2008 (open sides), and section 5.3
//! of the Zippy paper.
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
