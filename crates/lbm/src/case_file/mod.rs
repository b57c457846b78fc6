//! Cases described by a TOML file.
//!
//! * `name`, `steps`, `every`: name; number of steps; steps between lines of tables.
//! * `lattice.cells`: cells of the box along each axis; 1 along the third axis in two dimensions.
//! * `lattice.velocities`: `"D3Q19"` (default with more than one cell along the third axis),
//!   `"D3Q27"` or `"D2Q9"`.
//! * `lattice.collision`, `.magic`, `.smagorinsky`: `"trt"` (default) with its magic number (3/16),
//!   `"bgk"` or `"cumulant"`; the Smagorinsky constant.
//! * `units.cell`, `.density`: edge of a cell in m; density of the fluid in kg/m³.
//! * `units.step` or `units.lattice_speed`: time of a step in s, or `reference.speed` in cells per
//!   step.
//! * `fluid.viscosity`, `.acceleration`, `.velocity`: kinematic viscosity in m²/s; acceleration of
//!   the fluid in m/s²; initial velocity.
//! * `reference.length`, `.speed`, `.area`: length and speed of the Reynolds number; area of drag
//!   coefficients, in two dimensions a length.
//! * `sides.x`, `.y`, `.z`: the sides `below` and `above` the box along an axis, each one of
//!   - `"periodic"` (default), `"wall"`, `"free-slip"`,
//!   - `{ moving-wall = [u, v, w] }`, `{ velocity = [u, v, w] }`,
//!   - `{ parabola = [u, v, w] }`, a velocity with this peak between walls,
//!   - `{ pressure = p }`, `{ outlet = p }`, in Pa above the fluid at rest.
//! * `[[bodies]]` `shape`, one of
//!   - `{ sphere = { centre, radius } }`, `{ box = { from, to } }`,
//!   - `{ cylinder = { centre, radius, axis, length } }`,
//!   - `{ scan = { file, above, below, axes, centre, size or unit, thicken } }`, with
//!     `axes = "xyz"` for a NumPy array of shape (x, y, z),
//!   - `{ surface = { file, centre, size or unit, thicken } }`.
//! * `[[bodies]]` `velocity`, `spin`: velocity of the surface in m/s, and rotation about the centre
//!   in radians per second.
//! * `[[probes]]` `name`, `at`: a position at which density and velocity are recorded.
//!
//! Positions count from the lower corner of the box. Without the table `units`, all numbers are in
//! cells, steps and density 1. For a file, `size` is the longest edge of its bounds in the box and
//! `unit` is the length of one of its units. A surface without a `centre` keeps the positions of
//! its file. `thicken = true` also makes the cells solid that the surface passes through, so that
//! thin parts have no holes. Along periodic axes, bodies have images.
//!
//! The file `examples/channel.toml` of this crate:
//!
#![doc = "```toml"]
#![doc = include_str!("../../examples/channel.toml")]
#![doc = "```"]

mod add_bodies;
mod add_sides;
mod body_extents;
mod body_file;
mod body_warnings;
mod build;
mod check_bodies;
mod check_sides;
mod differences;
mod inflow_balance;
mod parse;
mod probe;
mod resolve_units;
mod schema;
mod shape_entry;
mod side_entry;
mod sides;
mod source_text;
mod three_numbers;

pub use body_file::{BodyFile, LoadShape};
pub use differences::CaseDifferences;
pub use parse::CaseFile;
pub use probe::Probe;
