//! Machine code of kernels in executable memory, run by threads of the host.
//!
//! This module has all unsafe code of the crate. Generated functions access no memory except the
//! bindings, frames and workgroup memory of a [`KernelRun`]: lowering guards or clamps each index,
//! and [`CompiledKernel::run`](crate::CompiledKernel::run) checks the size of each binding.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, ModuleError, ModuleReloc};

use crate::emit::{Borders, context};
use crate::error::Error;
use crate::generate::{CodeGenerator, GeneratedFunction, GeneratedRegion};
use crate::regions::Regions;

/// Generated function that runs one row: context, `x0`, `x1`, `y`, `z` and the start of the row.
// SAFETY: callers pass a context whose addresses are valid until the function returns.
type RowFunction = unsafe extern "C" fn(*const u8, u32, u32, u32, u32, u32) -> u32;

/// Machine code of a kernel: one function for each of its regions.
pub(crate) struct MachineCode {
    module: Option<JITModule>,
    functions: Vec<RowFunction>,
    borders: Vec<[Option<RowFunction>; Borders::COUNT]>,
    /// Stack frames of the deepest chain of calls, in bytes.
    stack_bytes: usize,
}

// SAFETY: finished code is only read, and the module's only later use frees the code.
unsafe impl Send for MachineCode {}
// SAFETY: as above.
unsafe impl Sync for MachineCode {}

/// Row of invocations `x0..x1` at `y`, `z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    pub x: [u32; 2],
    pub y: u32,
    pub z: u32,
}

/// Memory of a binding, aligned to 8 bytes.
///
/// Written bindings may overlap if no invocation accesses a byte that another one writes. Read
/// bindings overlap no written binding.
#[derive(Debug, Clone, Copy)]
pub enum BindingBytes<'a> {
    /// Memory for loads only, for `uniform` and `read` bindings.
    Read(&'a [u8]),
    /// Memory for loads and stores.
    Written(&'a [Cell<u8>]),
}

impl<'a> BindingBytes<'a> {
    /// Memory that a kernel may write.
    pub fn written(bytes: &'a mut [u8]) -> Self {
        Self::Written(Cell::from_mut(bytes).as_slice_of_cells())
    }

    /// The part `range` of this memory, in bytes.
    ///
    /// # Panics
    /// For a range beyond the end.
    pub fn slice(self, range: Range<usize>) -> Self {
        match self {
            Self::Read(bytes) => Self::Read(&bytes[range]),
            Self::Written(bytes) => Self::Written(&bytes[range]),
        }
    }

    /// Address of the first byte, and number of bytes.
    fn range(self) -> [u64; 2] {
        match self {
            BindingBytes::Read(bytes) => [bytes.as_ptr().expose_provenance() as u64, bytes.len() as u64],
            BindingBytes::Written(bytes) => [bytes.as_ptr().expose_provenance() as u64, bytes.len() as u64],
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

/// Request to stop a run, shared with the threads of the run. A stopped run records the line of its
/// current loop.
#[derive(Debug, Default)]
pub struct StopRequest {
    is_requested: AtomicBool,
    line: AtomicU32,
}

impl StopRequest {
    /// Stops all threads of the run at the next pass of a loop.
    pub fn request(&self) {
        self.is_requested.store(true, Ordering::Relaxed);
    }

    /// Line of the loop in which the run stopped, or 0 without a source or a loop; `None` for a run
    /// that has not stopped.
    pub fn line(&self) -> Option<u32> {
        let line = self.line.load(Ordering::Relaxed).checked_sub(1);
        line.or_else(|| self.is_requested().then_some(0))
    }

    fn is_requested(&self) -> bool {
        self.is_requested.load(Ordering::Relaxed)
    }

    pub(crate) fn stops_at(&self, line: u32) -> bool {
        if self.is_requested() {
            self.line.store(line + 1, Ordering::Relaxed);
        }
        self.is_requested()
    }
}

pub(crate) struct KernelRun<'a> {
    code: &'a MachineCode,
    /// Address and size in bytes of each binding.
    bindings: Vec<[u64; 2]>,
    workgroups: [u32; 3],
    stop: &'a StopRequest,
}

/// Frames and workgroup memory of one thread of a run.
pub(crate) struct RunWorker<'a> {
    run: &'a KernelRun<'a>,
    context: Vec<u64>,
    frames: Vec<u64>,
    workgroup: Vec<u64>,
}

// SAFETY: the addresses are in memory that is borrowed for 'a. Threads of a kernel without data
// races write disjoint parts of this memory; a kernel with data races reads unspecified values, and
// no other memory.
unsafe impl Sync for KernelRun<'_> {}
// SAFETY: as above.
unsafe impl Send for KernelRun<'_> {}

impl fmt::Debug for MachineCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MachineCode").finish_non_exhaustive()
    }
}

impl Drop for MachineCode {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: a run borrows the code, so no thread runs it.
            unsafe { module.free_memory() };
        }
    }
}

fn define(module: &mut JITModule, generated: &GeneratedFunction) -> Result<FuncId, Error> {
    let failed = |error: ModuleError| Error::Generator(error.to_string());
    let id = module.declare_anonymous_function(&generated.function.signature).map_err(failed)?;
    let relocations = generated.relocations.iter();
    let relocations: Vec<_> =
        relocations.map(|one| ModuleReloc::from_mach_reloc(one, &generated.function, id)).collect();
    module.define_function_bytes(id, generated.alignment, &generated.code, &relocations).map_err(failed)?;
    Ok(id)
}

impl MachineCode {
    /// Generates the functions of each region, for the host's processor. Arguments and errors: see
    /// [`CodeGenerator::generate`].
    pub(crate) fn new(regions: &Regions, most_stack: usize) -> Result<Self, Error> {
        let generator = CodeGenerator::for_host()?;
        let regions = generator.generate(regions, most_stack)?;
        let stack_bytes = regions.iter().map(GeneratedRegion::stack_bytes).max().unwrap_or(0);
        let builder = JITBuilder::with_isa(generator.isa().clone(), cranelift_module::default_libcall_names());
        let mut module = JITModule::new(builder);
        let ids: Vec<_> = regions
            .iter()
            .map(|region| {
                let mut borders = [None; Borders::COUNT];
                for (id, border) in borders.iter_mut().zip(&region.borders) {
                    *id = border.as_ref().map(|border| define(&mut module, border)).transpose()?;
                }
                Ok((define(&mut module, &region.row)?, borders))
            })
            .collect::<Result<_, Error>>()?;
        module.finalize_definitions().map_err(|error| Error::Generator(error.to_string()))?;
        let function = |id| {
            let address = module.get_finalized_function(id);
            // SAFETY: the function was declared with this signature.
            unsafe { std::mem::transmute::<*const u8, RowFunction>(address) }
        };
        let ids = ids.into_iter();
        let borders = |ids: [Option<FuncId>; Borders::COUNT]| ids.map(|id| id.map(function));
        let (functions, borders) = ids.map(|(row, ids)| (function(row), borders(ids))).unzip();
        Ok(Self { module: Some(module), functions, borders, stack_bytes })
    }

    pub(crate) fn stack_bytes(&self) -> usize {
        self.stack_bytes
    }

    /// Prepares a run over bindings of at least the sizes that the kernel declares.
    pub(crate) fn run<'a>(
        &'a self,
        bindings: &'a [BindingBytes<'_>],
        workgroups: [u32; 3],
        stop: &'a StopRequest,
    ) -> KernelRun<'a> {
        let bindings = bindings.iter().map(|bytes| bytes.range()).collect();
        KernelRun { code: self, bindings, workgroups, stop }
    }
}

impl KernelRun<'_> {
    pub(crate) fn worker(&self, frame_bytes: usize, workgroup_bytes: usize) -> RunWorker<'_> {
        let [x, y, z] = self.workgroups.map(u64::from);
        let mut context =
            vec![(&raw const self.stop.is_requested).expose_provenance() as u64, 0, 0, 0, 0, 0, x | y << 32, z];
        debug_assert_eq!(8 * context.len(), context::BINDINGS as usize);
        context.extend(self.bindings.iter().flatten());
        let [frames, workgroup] = [frame_bytes, workgroup_bytes].map(|bytes| vec![0; bytes.div_ceil(8)]);
        RunWorker { run: self, context, frames, workgroup }
    }
}

impl RunWorker<'_> {
    /// Runs a row of invocations with the frames at byte `frame` of this worker; returns false if
    /// the run has to stop.
    pub(crate) fn run_row(&mut self, function: usize, row: Row, frame: usize) -> bool {
        let Row { x: [first, end], y, z } = row;
        let stop = self.run.stop;
        self.context[context::FRAME as usize / 8] = (self.frames.as_mut_ptr().expose_provenance() + frame) as u64;
        self.context[context::WORKGROUP as usize / 8] = self.workgroup.as_mut_ptr().expose_provenance() as u64;
        let addresses = &mut self.context[context::BORDERS as usize / 8..];
        for (address, border) in addresses.iter_mut().zip(&self.run.code.borders[function]) {
            *address = border.map_or(0, |border| (border as *const u8).expose_provenance() as u64);
        }
        // SAFETY: the context has the layout `context`, its addresses are valid until the function
        // returns, and frames and workgroup memory have the sizes that the kernel declares.
        let stopped =
            unsafe { (self.run.code.functions[function])(self.context.as_ptr().cast(), first, end, y, z, first) };
        if stopped != 0 {
            stop.line.store(stopped, Ordering::Relaxed);
            stop.request();
        }
        !stop.is_requested()
    }

    pub(crate) fn stops_at(&self, line: u32) -> bool {
        self.run.stop.stops_at(line)
    }

    pub(crate) fn clear_workgroup(&mut self) {
        self.workgroup.fill(0);
    }

    pub(crate) fn clear_frames(&mut self) {
        self.frames.fill(0);
    }

    pub(crate) fn frame_word(&self, byte: usize) -> u32 {
        (self.frames[byte / 8] >> (byte % 8 * 8)) as u32
    }
}
