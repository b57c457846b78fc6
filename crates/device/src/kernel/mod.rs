//! WGSL compute kernels over local sections.
//!
//! A kernel is a plain WGSL file. Sections are bound by the names of its storage variables. For
//! every bound array `x`, Zippy generates helpers that compute addresses from a position `p`: an
//! `i32` for one axis, `vec2<i32>` to `vec4<i32>` for two to four, `array<i32, D>` for more. A
//! position counts cells from the start of the section; ghost cells have negative positions or
//! positions past the end. The same position is valid for all arrays of a call.
//!
//! * `x_position(id) -> P`: the cell of this invocation; `id` is `global_invocation_id`. Outside of
//!   the domain it is far from every array
//! * `x_inside(p) -> bool`: `p` is in the section (false outside the domain)
//! * `x_has(p) -> bool`: `p` is in the chunk's storage, ghost cells included
//! * `x_owned(p) -> bool`: `p` is a cell that the chunk owns
//! * `x_load(p) -> T`: the cell's value; outside the storage, an unspecified value of the array
//! * `x_store(p, v)`: writes the cell; does nothing outside the storage
//! * `x_extent() -> P`, `x_shape() -> P`: extents of the section, of the global array (low 31 bits)
//! * `x_global(p) -> P`: the global coordinate, not wrapped around at periodic ends (low 32 bits)
//! * `x_global_axis(p, axis: u32) -> vec2<u32>`: the same along one axis in 64 bits, low word first
//! * `x_linear(p) -> vec2<u32>`: the linear index of a cell in the global array, 64 bits, axis 0
//!   fastest
//! * `x_index(p) -> u32`: the index of the cell in the variable `x`, for atomics (first window
//!   only, see below)
//!
//! Cells of 8 and 16 bits are packed in 32-bit words: declare `array<u32>`; `x_load` unpacks to
//! `u32` or, sign extended, `i32`. A kernel writes such an array in whole words:
//!
//! * The domain has one invocation per word of a row.
//! * `x_position` is the word's first cell, possibly before the section's start.
//! * `x_inside_word(p)` is true if any cell of the word is in the section.
//! * `x_store_word(p, cells)` takes the four (`vec4`) or two (`vec2`) cells of the word and writes
//!   those that are in the section.
//! * A word with cells of both `interior()` and `boundary()` has an invocation in the calls over
//!   each.
//!
//! An array declared `array<atomic<u32>>` has `x_store(p, v)` instead, cell by cell.
//!
//! Arrays may differ in their number of axes (an image and a volume). `x_position` exists for
//! arrays with the same number of axes as the domain (the first written section, or
//! [`Call::over`]), if the domain is a section of the index space of a bound array. Positions count
//! from the start of the first section written in that space, or of the first one read if none is
//! written.
//!
//! # Domain of a call
//!
//! A [`Domain`] is a section of any array, plain extents, or a count on the device. Positions in a
//! domain have its number of axes:
//!
//! * `domain_position(id) -> P`: position of this invocation in the domain, from 0; far from every
//!   position for invocations outside of it
//! * `domain_inside(p) -> bool`: `p` is in the domain's extents
//! * `domain_extent() -> P`: number of invocations along each axis; of a counted domain the lesser
//!   of the count and its limit
//! * `domain_workgroup(workgroup_id)`: index of the workgroup along each axis (`i32`, `vec2<i32>`;
//!   from three axes on `vec3<i32>`); far from every index for workgroups outside of the domain
//!
//! A domain may need several dispatches, and `workgroup_id` counts within one dispatch. Dispatches
//! consist of whole workgroups, so that workgroup memory, barriers and `domain_workgroup` work as
//! in a single dispatch: along axis 0, a workgroup begins at position `domain_workgroup(..)` times
//! its size.
//!
//! In a text with workgroups, subgroups or local ids, and over plain extents, axis 0 runs along x,
//! axis 1 along y, and the other axes, folded, along z. Otherwise a longer axis may run along x
//! instead of a short axis 0. Over sections of several boxes (`boundary()`), no workgroup has cells
//! of two boxes, and `domain_workgroup` does not exist. If a kernel writes words of packed cells,
//! positions count words.
//!
//! All invocations of a workgroup must reach each barrier, so invocations outside of the domain
//! must not return: guard their loads and stores instead. Example: a sum for each block of 64
//! cells, over a number of cells that another kernel has counted:
//!
//! ```
//! use zippy::kernel::Domain;
//! use zippy::{KernelSource, Layout, LocalArray, World};
//!
//! const SUMS: &str = "
//! @group(0) @binding(0) var<storage, read> x: array<u32>;
//! @group(0) @binding(1) var<storage, read_write> sums: array<u32>;
//! var<workgroup> part: array<u32, 64>;
//! @compute @workgroup_size(64)
//! fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>,
//!         @builtin(local_invocation_index) local: u32) {
//!     let p = domain_position(id);
//!     part[local] = select(0u, x_load(p), domain_inside(p));
//!     for (var half = 32u; half > 0u; half /= 2u) {
//!         workgroupBarrier();
//!         if local < half { part[local] += part[local + half]; }
//!     }
//!     if local == 0u { sums_store(domain_workgroup(group), part[0]); }
//! }";
//!
//! zippy::run(|world: &World| {
//!     let x: LocalArray<u32, 1> = world.local_array("x", &Layout::new([1000]))?;
//!     let sums: LocalArray<u32, 1> = world.local_array("sums", &Layout::new([16]))?;
//!     let count: LocalArray<u32, 1> = world.local_array("count", &Layout::new([1]))?;
//!     x.all().fill(1)?;
//!     count.all().write(&[70])?;
//!     let kernel = world.kernel(KernelSource::text("sums.wgsl", SUMS))?;
//!     kernel.call().read("x", x.all()).write("sums", sums.all()).over([1000]).run()?;
//!     assert_eq!(sums.all().read()?[14..], [64, 40]);
//!     let domain = Domain::counted(count.all(), 1000);
//!     kernel.call().read("x", x.all()).write("sums", sums.all()).over(domain).run()?;
//!     assert_eq!(sums.all().read()?[..3], [64, 6, 64]);
//!     Ok(())
//! })?;
//! # Ok::<(), zippy::Error>(())
//! ```
//!
//! # Large chunks
//!
//! A call over a chunk that is larger than a binding has one of two forms:
//!
//! * In parts, each with one binding of the memory around it. In such a kernel, helpers load and
//!   store only at the position of the invocation plus constants. Counters of loops with constant
//!   bounds, and elements of constant arrays, count as constants.
//! * As a whole, with several variables for the chunk. This is the form of all other kernels, of
//!   kernels that use `global_invocation_id` other than in `*_position`, and of kernels that use
//!   workgroups. Helpers select a variable at each access, which costs time, and `x[i]` in the
//!   shader accesses the first variable only.
//!
//! # Branches on parameters
//!
//! Mesa's lavapipe (22.3) compiles a kernel of ordinary size at every call, in milliseconds, if an
//! `if` or the end of a loop depends on `var<uniform>` only. Use two kernels, or a constant in the
//! text, for choices that are made before the call.
//!
//! # Names
//!
//! Module-scope declarations of a kernel cannot have names that begin with `zippy_`, names of
//! helpers, or the predeclared WGSL names that helpers use (types such as `vec3` and `i32`, and
//! functions such as `select`); the error has line and column. All other names are allowed, and all
//! names inside functions.
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
//!     let old = world.array::<f32, 1>("old", &layout)?;
//!     let average = world.array::<f32, 1>("average", &layout)?;
//!     old.fill_with(|[x]| x as f32)?;
//!     world.ghosts(&old)?;
//!     let kernel = world.kernel(KernelSource::text("average.wgsl", AVERAGE))?;
//!     for (a, b) in zippy::zip_chunks((&old, &average))? {
//!         let call = kernel.call().read("old", a.all()).write("average", b.all());
//!         call.param("weight", 0.5_f32).run()?;
//!         let expected = |x: i64| if x % 11 == 0 { 6.0 - (x / 11) as f32 } else { x as f32 };
//!         assert!(b.all().read()?.into_iter().eq(b.region().points().map(|p| expected(p[0]))));
//!     }
//!     Ok(())
//! })?;
//! # Ok::<(), zippy::Error>(())
//! ```
//!
//! Kernels bind local sections only, so that data never moves between ranks implicitly. A call with
//! a section of a global array does not compile:
//!
//! ```compile_fail,E0277
//! # fn wrong(world: &zippy::World, kernel: &zippy::Kernel) -> zippy::Result<()> {
//! let field = world.array::<f32, 1>("field", &zippy::Layout::new([12]))?;
//! kernel.call().write("field", field.at(..)).run()
//! # }
//! ```
//!
//! A call with a section of a chunk compiles:
//!
//! ```
//! # fn right(world: &zippy::World, kernel: &zippy::Kernel) -> zippy::Result<()> {
//! let field = world.array::<f32, 1>("field", &zippy::Layout::new([12]))?;
//! kernel.call().write("field", field.local()?.at(..)).run()
//! # }
//! ```

mod access_range;
mod argument;
mod binding;
mod binding_checks;
mod call;
mod checked_kernel;
mod counting;
mod diagnose;
mod dispatch;
mod domain;
mod entry;
mod geometry;
mod handle;
mod helpers;
mod invocations;
mod loop_pass_limit;
mod loops;
mod machine_code;
mod native_call;
mod params;
mod parsed_module;
mod pipeline;
mod prepare;
mod program;
mod report;
mod run;
mod scan;
mod signature;
mod source;
mod target;
mod types;
mod uniform_values;
mod uniforms;
mod variants;
mod vocabulary;
mod windows;

#[cfg(test)]
mod dispatch_tests;
#[cfg(test)]
mod helper_tests;
#[cfg(test)]
mod parts_tests;
#[cfg(test)]
mod random_kernels;

#[doc(hidden)]
pub use crate::wgsl::check_text;
pub use crate::wgsl::{WgslComposer, WgslConstant, WgslModule};
pub use argument::KernelArgument;
pub use binding::Binding;
pub use call::Call;
pub use domain::{Domain, IntoDomain};
pub use handle::Kernel;
pub use helpers::taken;
pub use params::{IntoParam, ParamValue};
pub use source::KernelSource;
