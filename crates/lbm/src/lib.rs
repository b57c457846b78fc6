//! Lattice Boltzmann flow over global arrays, with one copy of the populations that streams in
//! place. Results have the same bits for every number of ranks and every cut.
//!
//! ```
//! # use zippy::World;
//! use zippy_lbm::{Cut, Flow, Problem, Side, VelocitySet};
//! # fn program(world: &World) -> zippy::Result<()> {
//! // Fluid between two walls, driven by a force.
//! let problem = Problem::new(VelocitySet::D2Q9, [8, 16, 1])
//!     .sides(1, Side::Wall, Side::Wall)
//!     .viscosity(0.1)
//!     .force([1e-5, 0.0, 0.0]);
//! let mut flow = Flow::new(world, &problem, &Cut::Auto)?;
//! flow.run(2000)?;
//! let fields = flow.fields()?;
//! let middle = world.get(fields.velocity.at((3, 1 + 8, 0, 0)))?;
//! let middle = world.fence()?.redeem(middle)?[0];
//! // Poiseuille's parabola, half a cell from its peak.
//! assert!((middle - 1e-5 / 0.2 * (8.5 * 7.5)).abs() < 1e-3 * middle);
//! # Ok(()) }
//! # zippy::run_with(zippy::Config::threads(2), program).unwrap();
//! ```
//!
//! A [`Problem`] describes a flow, and a [`Flow`] is the running flow. Coordinates of a problem
//! count the cells of the box from 0. Arrays of a flow have one more layer of cells at each side
//! that is not periodic: see [`Flow::box_ranges`].
//!
//! # Promises
//!
//! * Every population has the same bits for every number of ranks and every cut, including uneven
//!   cuts, layers of one cell, and a restart on another number of ranks. Forces and masses are sums
//!   without rounding.
//! * D3Q19 takes 77 bytes per cell, or 39 with [`Precision::Half`]. Each cell that moves, mirrors
//!   or is open, and each surface cell of a body, takes 64 more bytes. Density and velocity take
//!   memory only on request.
//! * A step moves only populations that cross a cut: 5 of 19 per face, both directions in one
//!   exchange. On devices with their own memory, interior cells are computed meanwhile, except in
//!   flows with outlets.
//! * Walls are half-way between solid and fluid cells. With two relaxation times and the magic
//!   number 3/16, straight walls are exact.
//! * Open sides are regularised. Two open sides do not meet at an edge. A part of the cut at an
//!   outlet has at least three layers of cells.
//! * Small lattices leave some ranks without cells. A lattice with more than 65536 chunks is
//!   refused.
//! * Errors are the same on every rank: an invalid description, a cut that does not fit, and an
//!   unstable flow, with the fastest cell of its last finite state.
//!
//! # End and continuation of runs of the program `lbm`
//!
//! * SIGTERM, Ctrl-C, or the end of a `--budget` of seconds ends a run with a checkpoint, and
//!   completes the movie with its frames. A second signal ends the run at once.
//! * `--checkpoint` keeps two generations, and refuses a directory with checkpoints of another run.
//!   `--restart` continues from the latest generation. Tables and indices of fields keep earlier
//!   lines; a movie needs another name for each job. `--steps` counts from the start of the job.
//! * `--restart DIR --case edited.toml` continues with an edited case and prints the differences.
//!   [`CaseFile::differences`](case_file::CaseFile::differences) lists the permitted changes.
//! * A checkpoint has a hash of the solid cells. A restart is refused if a changed file of a solid
//!   changes them.
//! * Every 50 steps, kernels find the fastest cell. An unstable flow ends the run; pictures, files
//!   and tables have only finite states.
//! * Pictures of space, and of slices across z, have x to the right and y up. With `--length`,
//!   `--viscosity`, `--flow-speed` and `--density` in SI units, reports and tables have these
//!   units; pictures and field files have cells and steps.
//!
//! # Accuracy
#![doc = include_str!("../accuracy.md")]
//!
//! # Sources
//!
//! * Streaming in place: M. Lehmann, *Esoteric Pull and Esoteric Push*, Computation 10(6), 2022.
//! * Two relaxation times: I. Ginzburg et al., *Two-relaxation-time lattice Boltzmann scheme*,
//!   Commun. Comput. Phys. 3, 2008.
//! * Forces: Z. Guo et al., Phys. Rev. E 65, 2002.
//! * Cumulants: M. Geier et al., Comput. Math. Appl. 70, 2015.
//! * Open sides: J. Latt et al., Phys. Rev. E 77, 2008.
//! * Clusters: section 5.3 of the Zippy paper.
#![forbid(unsafe_code)]

mod boundary_cell;
pub mod case_file;
pub mod cases;
mod cell_index;
mod cell_kind;
mod check_problem;
mod check_values;
mod classify;
mod closed_region;
mod collision;
mod cut;
mod cut_error;
mod cut_grid;
mod driving;
mod error;
mod flow;
mod lattice_cell;
mod periodic_images;
mod precision;
mod problem;
mod shader;
mod side;
pub mod solids;
mod sponge;
mod units;
mod velocity_set;
mod word_packing;

pub use cell_index::CellIndex;
pub use cell_kind::CellKind;
pub use collision::Collision;
pub use cut::Cut;
pub use cut_error::{CutError, CutUnit};
pub use error::{FixedProperty, FlowError};
pub use flow::{
    ArrayMismatch, BodyForce, FastestCell, Fields, Flow, FlowSample, Populations, Quantity, SolidFingerprint,
};
pub use precision::Precision;
pub use problem::Problem;
pub use side::Side;
pub use units::{Scale, Units};
pub use velocity_set::VelocitySet;
