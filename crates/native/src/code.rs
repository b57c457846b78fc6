//! Generated code: made by Cranelift, run by threads of the host.
//!
//! Everything unsafe of this crate is here. Generated functions access memory only within the
//! bindings, frame and workgroup memory that [`Code::run`] is given: lowering guards or clamps each
//! index, and `run` checks each binding's size against the size that the kernel needs.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{
    Context,
    ir::{Function, UserFuncName},
};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, ModuleError, ModuleReloc};

use crate::emit::{self, Frames, context};
use crate::error::Error;
use crate::interior::Interior;
use crate::ir::Kernel;
use crate::shape::Shapes;

/// The generated function for rows.
// SAFETY: callers give a context whose addresses live through the call.
type Rows = unsafe extern "C" fn(*const u8, u32, u32, u32, u32, u32) -> u32;

/// Machine code of a kernel: one function for each of its regions.
pub struct Code {
    module: Option<JITModule>,
    functions: Vec<Rows>,
    /// Functions for rows without interior, where `functions` has one for rows with interior.
    rests: Vec<Option<Rows>>,
}

// SAFETY: the module is not used after the code is finished but to free it, and code is only read.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

/// A row of invocations: `x0..x1` at `y`, `z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    pub x: [u32; 2],
    pub y: u32,
    pub z: u32,
}

/// Memory of a binding.
///
/// Bindings that are written may overlap, as far as no invocation reaches what another one writes.
/// Bindings that a kernel declares as read do not overlap them.
#[derive(Debug, Clone, Copy)]
pub enum Bytes<'a> {
    Read(&'a [u8]),
    Written(&'a [Cell<u8>]),
}

impl<'a> Bytes<'a> {
    /// Memory that a kernel may write.
    pub fn written(bytes: &'a mut [u8]) -> Self {
        Self::Written(Cell::from_mut(bytes).as_slice_of_cells())
    }

    /// Bytes `range` of this memory.
    ///
    /// # Panics
    /// The range leaves it.
    pub fn part(self, range: Range<usize>) -> Self {
        match self {
            Self::Read(bytes) => Self::Read(&bytes[range]),
            Self::Written(bytes) => Self::Written(&bytes[range]),
        }
    }

    /// Address of the first byte, and number of bytes.
    fn range(self) -> [u64; 2] {
        match self {
            Bytes::Read(bytes) => [bytes.as_ptr().expose_provenance() as u64, bytes.len() as u64],
            Bytes::Written(bytes) => [bytes.as_ptr().expose_provenance() as u64, bytes.len() as u64],
        }
    }

    pub(crate) fn len(self) -> usize {
        self.range()[1] as usize
    }

    pub(crate) fn overlaps(self, other: Self) -> bool {
        let ([a, a_bytes], [b, b_bytes]) = (self.range(), other.range());
        a < b + b_bytes && b < a + a_bytes
    }

    pub(crate) fn is_aligned(self) -> bool {
        self.range()[0].is_multiple_of(8)
    }
}

/// A request to stop, and the line of the loop at which code did.
#[derive(Debug, Default)]
pub struct Stop {
    asked: AtomicBool,
    line: AtomicU32,
}

impl Stop {
    /// Makes all threads of the run stop at their next loop.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Line of a loop at which code has stopped; 0 where the source is unknown, or no loop ran.
    pub fn line(&self) -> Option<u32> {
        let line = self.line.load(Ordering::Relaxed).checked_sub(1);
        line.or_else(|| self.is_asked().then_some(0))
    }

    fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// True where the run has to stop, at a loop at this line.
    pub(crate) fn stops_at(&self, line: u32) -> bool {
        if self.is_asked() {
            self.line.store(line + 1, Ordering::Relaxed);
        }
        self.is_asked()
    }
}

/// Memory that the threads of a run share.
pub struct Run<'a> {
    code: &'a Code,
    /// Address and bytes of each binding.
    bindings: Vec<[u64; 2]>,
    workgroups: [u32; 3],
    stop: &'a Stop,
}

/// One thread's part of a run, with its frames and workgroup memory.
pub struct Worker<'a> {
    run: &'a Run<'a>,
    /// The context that generated code reads.
    context: Vec<u64>,
    frames: Vec<u64>,
    workgroup: Vec<u64>,
}

// SAFETY: the addresses are of memory that is borrowed for 'a; kernels without data races write
// disjoint parts of it from several threads, and others get unspecified values, not other memory.
unsafe impl Sync for Run<'_> {}
// SAFETY: as above.
unsafe impl Send for Run<'_> {}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").finish_non_exhaustive()
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: nothing runs the code any more, as a run borrows it.
            unsafe { module.free_memory() };
        }
    }
}

/// Instructions of a function from which on registers are allocated in one pass, where rows have no
/// interior. The better allocation takes time in proportion to the square of their number, and makes
/// functions of this size two to three times as fast.
const ONE_PASS: usize = 6000;
/// The same for interiors of rows, most of the invocations.
const ONE_PASS_INTERIOR: usize = 8000;
/// The same for rows beside their interiors, few of the invocations.
const ONE_PASS_REST: usize = 2000;

/// The processor that this program runs on.
fn target(allocation: &str) -> Result<OwnedTargetIsa, Error> {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "speed"),
        ("regalloc_algorithm", allocation),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        ("is_pic", "false"),
        // Large frames touch each page, so that the end of the stack is met and not passed.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
    ] {
        flags.set(name, value).map_err(|error| Error::Generator(error.to_string()))?;
    }
    let target = cranelift_native::builder().map_err(|error| Error::Generator(error.to_owned()))?;
    target.finish(settings::Flags::new(flags)).map_err(|error| Error::Generator(error.to_string()))
}

/// Adds the machine code of a function to a module.
fn define(module: &mut JITModule, isa: &dyn TargetIsa, context: &mut Context) -> Result<FuncId, Error> {
    let failed = |error: ModuleError| Error::Generator(error.to_string());
    let id = module.declare_anonymous_function(&context.func.signature).map_err(failed)?;
    let compiled = context
        .compile(isa, &mut ControlPlane::default())
        .map_err(|error| Error::Generator(format!("{:?}", error.inner)))?;
    let (code, alignment) = (compiled.code_buffer().to_vec(), u64::from(compiled.buffer.alignment));
    let relocations: Vec<_> = compiled.buffer.relocs().to_vec();
    let relocations: Vec<_> =
        relocations.iter().map(|one| ModuleReloc::from_mach_reloc(one, &context.func, id)).collect();
    module.define_function_bytes(id, alignment, &code, &relocations).map_err(failed)?;
    Ok(id)
}

/// Shapes of a kernel's groups.
#[derive(Debug, Clone)]
pub struct GroupShapes {
    pub shapes: Shapes,
    /// The interior of rows, with the shapes of its groups.
    pub interior: Option<(Interior, Shapes)>,
}

impl Code {
    /// Generates one function for each kernel, with the shapes of groups where they use vectors.
    pub fn generate(kernels: &[Kernel], groups: &[Option<GroupShapes>], frames: Frames) -> Result<Self, Error> {
        let isa = target("backtracking")?;
        let quick = target("single_pass")?;
        let (call, frontend) = (isa.default_call_conv(), isa.frontend_config());
        let mut contexts = Vec::new();
        let mut generate = |one_pass: usize, emit: &dyn Fn(&mut Function)| {
            let mut context = Context::new();
            context.func.signature = emit::signature(call);
            context.func.name = UserFuncName::user(0, contexts.len() as u32);
            emit(&mut context.func);
            let is_quick = context.func.dfg.num_insts() > one_pass;
            contexts.push((context, is_quick));
            contexts.len() - 1
        };
        let mut parts = Vec::new();
        for (kernel, groups) in kernels.iter().zip(groups) {
            let interior = groups.as_ref().and_then(|groups| groups.interior.as_ref());
            let shapes = groups.as_ref().map(|groups| &groups.shapes);
            let one_pass = if interior.is_some() { ONE_PASS_REST } else { ONE_PASS };
            let rest = generate(one_pass, &|function| emit::rows(kernel, shapes, frames, function, frontend));
            parts.push(match interior {
                Some((interior, shapes)) => {
                    let emit = |function: &mut Function| emit::interiors(interior, shapes, frames, function, frontend);
                    (generate(ONE_PASS_INTERIOR, &emit), Some(rest))
                }
                None => (rest, None),
            });
        }
        let mut module = JITModule::new(JITBuilder::with_isa(isa.clone(), cranelift_module::default_libcall_names()));
        let mut defined = Vec::new();
        for (context, is_quick) in &mut contexts {
            defined.push(define(&mut module, if *is_quick { &*quick } else { &*isa }, context)?);
        }
        let ids = parts.into_iter().map(|(first, rest)| (defined[first], rest.map(|rest| defined[rest])));
        module.finalize_definitions().map_err(|error| Error::Generator(error.to_string()))?;
        let function = |id| {
            let address = module.get_finalized_function(id);
            // SAFETY: the function was declared with this signature.
            unsafe { std::mem::transmute::<*const u8, Rows>(address) }
        };
        let (functions, rests) = ids.into_iter().map(|(id, rest)| (function(id), rest.map(function))).unzip();
        Ok(Self { module: Some(module), functions, rests })
    }

    /// Begins a run over these bindings, which have the sizes that the kernel needs.
    pub fn run<'a>(&'a self, bindings: &'a [Bytes<'_>], workgroups: [u32; 3], stop: &'a Stop) -> Run<'a> {
        let bindings = bindings.iter().map(|bytes| bytes.range()).collect();
        Run { code: self, bindings, workgroups, stop }
    }
}

impl Run<'_> {
    /// A thread's part, with memory for frames and for a workgroup.
    pub fn worker(&self, frame_bytes: usize, workgroup_bytes: usize) -> Worker<'_> {
        let [x, y, z] = self.workgroups.map(u64::from);
        let mut context = vec![(&raw const self.stop.asked).expose_provenance() as u64, 0, 0, 0, x | y << 32, z];
        debug_assert_eq!(8 * context.len(), context::BINDINGS as usize);
        context.extend(self.bindings.iter().flatten());
        let [frames, workgroup] = [frame_bytes, workgroup_bytes].map(|bytes| vec![0; bytes.div_ceil(8)]);
        Worker { run: self, context, frames, workgroup }
    }
}

impl Worker<'_> {
    /// Runs a row of invocations, whose frames begin at a byte of this worker's; false where the
    /// run has to stop.
    pub fn row(&mut self, function: usize, row: Row, frame: usize) -> bool {
        let Row { x: [first, end], y, z } = row;
        let stop = self.run.stop;
        self.context[context::FRAME as usize / 8] = (self.frames.as_mut_ptr().expose_provenance() + frame) as u64;
        self.context[context::WORKGROUP as usize / 8] = self.workgroup.as_mut_ptr().expose_provenance() as u64;
        let rest = self.run.code.rests[function].map_or(0, |rest| (rest as *const u8).expose_provenance());
        self.context[context::REST as usize / 8] = rest as u64;
        // SAFETY: the context has the layout that the code expects, and all it points to lives
        // through the call; frames and workgroup memory have the sizes that the kernel needs.
        let stopped =
            unsafe { (self.run.code.functions[function])(self.context.as_ptr().cast(), first, end, y, z, first) };
        if stopped != 0 {
            stop.line.store(stopped, Ordering::Relaxed);
            stop.ask();
        }
        !stop.is_asked()
    }

    /// True where the run has to stop, at a loop at this line.
    pub fn stops_at(&self, line: u32) -> bool {
        self.run.stop.stops_at(line)
    }

    /// Fills the workgroup's memory with zeros.
    pub fn clear_workgroup(&mut self) {
        self.workgroup.fill(0);
    }

    /// Fills the frames with zeros.
    pub fn clear_frames(&mut self) {
        self.frames.fill(0);
    }

    /// The word at a byte of the frames.
    pub fn frame_word(&self, byte: usize) -> u32 {
        (self.frames[byte / 8] >> (byte % 8 * 8)) as u32
    }
}
