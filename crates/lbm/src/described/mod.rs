//! A case of one's own, as a text in TOML.
//!
//! | key | what it says |
//! |---|---|
//! | `name`, `steps`, `every` | what it is called; how many steps it has; after how many there is a line in tables |
//! | `lattice.cells` | cells of the box along each axis; 1 along the third one in two dimensions |
//! | `lattice.velocities` | `"D3Q19"`, which is the default with more than one cell along axis 2, `"D3Q27"`, or `"D2Q9"` |
//! | `lattice.collision`, `.magic`, `.smagorinsky` | `"trt"`, the default, with its magic number (3/16), `"bgk"` or `"cumulant"`; Smagorinsky's constant |
//! | `units.cell`, `.density` | the edge of a cell in m, the density of the fluid in kg/m³ |
//! | `units.step` or `units.lattice_speed` | the time of a step in s, or the cells that `reference.speed` is in a step |
//! | `fluid.viscosity`, `.acceleration`, `.velocity` | kinematic viscosity in m²/s; what pulls the fluid, in m/s²; its velocity at the beginning |
//! | `reference.length`, `.speed`, `.area` | what the Reynolds number counts by; the area of drag coefficients, in two dimensions a length |
//! | `sides.x`, `.y`, `.z` | what lies `below` and `above` the box along an axis: `"periodic"`, which is the default, `"wall"`, `"free-slip"`, `{ moving-wall = [u, v, w] }`, `{ velocity = [u, v, w] }`, `{ parabola = [u, v, w] }` with this peak between walls, `{ pressure = p }`, `{ outlet = p }` (Pa above that of the fluid at rest) |
//! | `[[bodies]]` `shape` | `{ sphere = { centre, radius } }`, `{ box = { from, to } }`, `{ cylinder = { centre, radius, axis, length } }`, `{ scan = { file, above, below, axes, centre, size or unit, thicken } } (`axes = "xyz"` of a NumPy array of shape (x, y, z))`, `{ surface = { file, centre, size or unit, thicken } }` |
//! | `[[bodies]]` `velocity`, `spin` | how its surface moves, in m/s, and turns about its centre, in radians a second |
//! | `[[probes]]` `name`, `at` | a place where density and velocity are told |
//!
//! Places are counted from the lower corner of the box. Without the table `units` all numbers are
//! in cells, steps and density 1; places are counted from that corner, too. Of a file, `size` is
//! what the longest edge of its box is to be, `unit` what one of its own units is; without a
//! `centre` a surface keeps the positions of its file. With `thicken = true` cells that the surface
//! passes through are solid, too, so that thin parts have no holes. Along periodic axes bodies have
//! images.
//!
//! The file `examples/channel.toml` of this crate:
//!
#![doc = "```toml"]
#![doc = include_str!("../../examples/channel.toml")]
#![doc = "```"]

mod beyond;
mod bodies;
mod case;
mod changes;
mod schema;
mod shape;
mod sides;
mod source;
mod text;

pub use case::{Described, Probe};
pub use changes::Changes;
pub use source::{Load, Source};
