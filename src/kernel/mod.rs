//! WGSL compute kernels over local sections.
//!
//! A kernel is a plain WGSL file. Sections are bound by the names of its storage variables, and for every bound array `x`
//! address helpers are generated, so that nobody counts strides. A position `p` is `i32` for one axis, `vec2<i32>` to
//! `vec4<i32>` for two to four, `array<i32, D>` beyond; it counts cells from the start of the section, and ghost cells
//! are negative or past the end. All arrays of a call share it.
//!
//! | helper | what it does |
//! |---|---|
//! | `x_position(id) -> P` | the cell of this invocation; `id` is `global_invocation_id`. Outside of the domain it is far from every array |
//! | `x_inside(p) -> bool` | `p` is in the section (false outside the domain) |
//! | `x_has(p) -> bool` | `p` is in the chunk's storage, ghost cells included |
//! | `x_owned(p) -> bool` | `p` is a cell that the chunk owns |
//! | `x_load(p) -> T` | the cell's value; outside the storage some value of the array |
//! | `x_store(p, v)` | writes the cell; does nothing outside the storage |
//! | `x_extent() -> P`, `x_shape() -> P` | extents of the section, of the global array (low 31 bits) |
//! | `x_global(p) -> P` | the global coordinate, not wrapped around at periodic ends (low 32 bits) |
//! | `x_global_axis(p, axis: u32) -> vec2<u32>` | the same along one axis in 64 bits, low word first |
//! | `x_linear(p) -> vec2<u32>` | the linear index of a cell in the global array, 64 bits, axis 0 fastest |
//! | `x_index(p) -> u32` | the index of the cell in the variable `x`, for atomics (first window only, see below) |
//!
//! Cells of 8 and 16 bits are packed in words: declare `array<u32>`; `x_load` unpacks to `u32` or, sign extended, `i32`.
//! Such an array is written by whole words: the domain then has one invocation for every word of a row, `x_position`
//! is the word's first cell (possibly before the section's start), `x_inside_word(p)` tells whether any of its cells is in
//! the section, and `x_store_word(p, cells)` writes, of the four (`vec4`) or two (`vec2`) cells of the word, those that
//! are in the section. Over `interior()` and `boundary()` a word with cells of both is run by both. An array declared
//! `array<atomic<u32>>` has `x_store(p, v)` instead, cell by cell.
//!
//! Arrays may differ in their number of axes (an image and a volume); `x_position` exists for those that have as many as
//! the domain, which is the first written section or [`Call::over`].
//!
//! A chunk larger than a binding can be is bound as several variables; helpers choose the right one, the shader's own
//! `x[i]` sees the first alone.
//!
//! What helpers are made of is kept apart from what a kernel declares for all of itself, outside of functions: names that
//! begin with `zippy_`, names of helpers, and the few words of WGSL that helpers use (types such as `vec3` and `i32`, and
//! functions such as `select`) are refused there, by line and column. All other names are free, inside functions all are.
//!
//! ```
//! use zippy::{KernelSource, Layout, Split, World};
//!
//! const AVERAGE: &str = "
//! @group(0) @binding(0) var<storage, read> old: array<f32>;
//! @group(0) @binding(1) var<storage, read_write> average: array<f32>;
//! @group(0) @binding(2) var<uniform> weight: f32;
//! @compute @workgroup_size(64)
//! fn main(@builtin(global_invocation_id) id: vec3<u32>) {
//!     let p = average_position(id);
//!     if average_inside(p) { average_store(p, weight * (old_load(p - 1) + old_load(p + 1))); }
//! }";
//!
//! zippy::run(|world: &World| {
//!     let layout = Layout::new([12]).split([Split::Even(3)]).ghost([1]).periodic([true]);
//!     let (old, average) = (world.array::<f32, 1>("old", &layout)?, world.array::<f32, 1>("average", &layout)?);
//!     old.fill_with(|[x]| x as f32)?;
//!     world.ghosts(&old)?;
//!     let kernel = world.kernel(KernelSource::text("average.wgsl", AVERAGE))?;
//!     for (a, b) in zippy::together((&old, &average))? {
//!         kernel.call().read("old", a.all()).write("average", b.all()).param("weight", 0.5_f32).run()?;
//!         let expected = |x: i64| if x % 11 == 0 { 6.0 - (x / 11) as f32 } else { x as f32 };
//!         assert!(b.all().read()?.into_iter().eq(b.region().points().map(|p| expected(p[0]))));
//!     }
//!     Ok(())
//! })?;
//! # Ok::<(), zippy::Error>(())
//! ```
//!
//! Kernels see local sections only, so that data never moves between ranks behind the programmer's back. That a kernel is
//! handed a section of a global array does not compile:
//!
//! ```compile_fail,E0277
//! # fn wrong(world: &zippy::World, kernel: &zippy::Kernel) -> zippy::Result<()> {
//! let field = world.array::<f32, 1>("field", &zippy::Layout::new([12]))?;
//! kernel.call().write("field", field.at(..)).run()
//! # }
//! ```
//!
//! while a section of a chunk does:
//!
//! ```
//! # fn right(world: &zippy::World, kernel: &zippy::Kernel) -> zippy::Result<()> {
//! let field = world.array::<f32, 1>("field", &zippy::Layout::new([12]))?;
//! kernel.call().write("field", field.local()?.at(..)).run()
//! # }
//! ```

mod binding;
mod call;
mod checked;
mod checks;
mod counting;
mod diagnose;
mod dispatch;
mod domain;
mod fill;
mod geometry;
mod handle;
mod helpers;
mod invocations;
mod params;
mod pipeline;
mod prepare;
mod program;
mod run;
mod scan;
mod signature;
mod source;
mod types;
mod uniforms;
mod variants;

#[cfg(test)]
mod dispatch_tests;
#[cfg(test)]
mod helper_tests;

pub use binding::Binding;
pub use call::Call;
pub use domain::Domain;
pub use handle::Kernel;
pub(crate) use helpers::taken;
pub use params::ParamValue;
pub use source::KernelSource;
