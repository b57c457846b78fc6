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
mod diagnose;
mod domain;
mod geometry;
mod helpers;
mod params;
mod pipeline;
mod prepare;
mod program;
mod scan;
mod source;
mod types;
mod uniforms;

#[cfg(test)]
mod helper_tests;

pub use binding::Binding;
pub use call::Call;
pub(crate) use helpers::taken;
pub use params::ParamValue;
pub use source::KernelSource;

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use crate::device::Device;
use crate::error::{KernelError, Result};
use crate::trace;
use checked::Checked;
use helpers::Signature;
use pipeline::{BindGroups, Pipeline};
use program::{Program, blame_adapter, capabilities};
use source::Watch;

/// A compute kernel of this rank. Cheap to clone; clones share what is compiled.
///
/// It is compiled when first run, once for every kind of arrays that it is called with (element types and numbers of axes),
/// never for extents, chunks or ghost widths: those are data, so that every decomposition runs the same code.
#[derive(Debug, Clone)]
pub struct Kernel {
    shared: Rc<Shared>,
    entry: Option<String>,
}

#[derive(Debug)]
struct Shared {
    device: Rc<Device>,
    state: RefCell<State>,
    groups: RefCell<BindGroups>,
}

#[derive(Debug)]
struct State {
    version: Rc<Version>,
    watch: Option<Watch>,
    /// The program before the file was changed, until the new one has run.
    previous: Option<Rc<Version>>,
}

/// What is bound, and the entry point where one was chosen.
type Variant = (Signature, Option<String>);

/// A program with all that was compiled from it.
#[derive(Debug)]
struct Version {
    program: Program,
    compiled: RefCell<HashMap<Variant, Rc<Compiled>>>,
}

/// A kernel for one signature; the pipeline is made when it first runs.
#[derive(Debug)]
struct Compiled {
    checked: Checked,
    pipeline: OnceCell<Pipeline>,
}

/// A program as this device can run it.
fn read(device: &Device, name: &str, text: &str, composed: bool) -> Result<Program, KernelError> {
    let new = |features| Program::new(name, text, composed, capabilities(features));
    new(device.features()).map_err(|error| blame_adapter(device, error, |features| new(features).is_ok()))
}

impl Version {
    fn new(program: Program) -> Rc<Self> {
        Rc::new(Self { program, compiled: RefCell::default() })
    }

    /// The program with helpers for `signature`, checked by naga; found again when it was checked before.
    fn compiled(
        &self,
        device: &Device,
        signature: &Signature,
        entry: &Option<String>,
    ) -> Result<Rc<Compiled>, KernelError> {
        let key = (signature.clone(), entry.clone());
        if let Some(found) = self.compiled.borrow().get(&key) {
            return Ok(found.clone());
        }
        let program = &self.program;
        let complete = |features| program.complete(signature, entry.as_deref(), capabilities(features));
        let complete = complete(device.features()).map_err(|fault| {
            blame_adapter(device, program.explain_bound(&fault, signature), |features| complete(features).is_ok())
        })?;
        let checked = Checked::new(program, complete, signature, entry.as_deref())?;
        let compiled = Rc::new(Compiled { checked, pipeline: OnceCell::new() });
        self.compiled.borrow_mut().insert(key, compiled.clone());
        Ok(compiled)
    }
}

impl Compiled {
    fn pipeline(&self, device: &Device, name: &str) -> Result<&Pipeline> {
        if self.pipeline.get().is_none() {
            let made = Pipeline::get(device, name, &self.checked)?;
            return Ok(self.pipeline.get_or_init(|| made));
        }
        Ok(self.pipeline.get().expect("just seen"))
    }
}

impl Kernel {
    /// A kernel from WGSL. Local; nothing is compiled for the GPU before the first run.
    ///
    /// # Errors
    /// WGSL that is wrong whatever is bound to it, with file, line and column.
    pub fn new(device: &Rc<Device>, source: &KernelSource) -> Result<Self> {
        let program = read(device, &source.name, &source.text, source.composed)?;
        let watch = source.path.as_deref().filter(|_| cfg!(debug_assertions)).map(Watch::new);
        let state = RefCell::new(State { version: Version::new(program), watch, previous: None });
        let shared = Shared { device: device.clone(), state, groups: RefCell::default() };
        Ok(Self { shared: Rc::new(shared), entry: None })
    }

    /// The same kernel with this `@compute` function as its entry point, for files that have several. Local.
    ///
    /// # Errors
    /// There is no function of this name.
    pub fn entry(&self, name: &str) -> Result<Self> {
        let version = self.version();
        let program = &version.program;
        if !program.scan.functions.contains_key(name) {
            let functions: Vec<_> = program.scan.functions.keys().map(|name| format!("`{name}`")).collect();
            return Err(KernelError::Entry {
                kernel: program.name.clone(),
                problem: format!("there is no @compute function `{name}`"),
                entries: format!("among {}", functions.join(", ")),
            }
            .into());
        }
        Ok(Self { shared: self.shared.clone(), entry: Some(name.to_owned()) })
    }

    /// The file or name that the kernel came from.
    pub fn name(&self) -> String {
        self.version().program.name.clone()
    }

    /// A call, to be given its sections and parameters and then [run](Call::run).
    pub fn call(&self) -> Call<'_> {
        Call::new(self)
    }

    fn version(&self) -> Rc<Version> {
        self.shared.state.borrow().version.clone()
    }

    /// Takes in the file if it was changed (debug builds).
    fn reload(&self) {
        let mut state = self.shared.state.borrow_mut();
        let Some(text) = state.watch.as_mut().and_then(Watch::changed) else { return };
        if text == state.version.program.text {
            return;
        }
        let name = state.version.program.name.clone();
        match read(&self.shared.device, &name, &text, false) {
            Ok(program) => {
                tracing::info!("kernel {name} was changed and is compiled again");
                let old = std::mem::replace(&mut state.version, Version::new(program));
                // An older one that has run stays the one to go back to.
                state.previous.get_or_insert(old);
            }
            Err(error) => trace::warn(&format!("kernel {name} was changed, but stays as it was: {error}")),
        }
    }

    /// Goes back to the program before the last change, if that has not run yet; returns the changed one.
    fn step_back(&self) -> Option<Rc<Version>> {
        let mut state = self.shared.state.borrow_mut();
        let previous = state.previous.take()?;
        Some(std::mem::replace(&mut state.version, previous))
    }

    /// Undoes [`Kernel::step_back`].
    fn step_forward(&self, changed: Rc<Version>) {
        let mut state = self.shared.state.borrow_mut();
        state.previous = Some(std::mem::replace(&mut state.version, changed));
    }
}
