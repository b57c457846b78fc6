//! [`CompiledKernel`]: machine code of a kernel, and its runs on the threads of the host.

use std::ops::RangeInclusive;
use std::panic::resume_unwind;
use std::thread;

use naga::back::PipelineConstants;
use naga::back::pipeline_constants::process_overrides;
use naga::valid::ModuleInfo;

use crate::emit::LANES;
use crate::error::Error;
use crate::generate::{CodeGenerator, MAX_STACK_BYTES};
use crate::ir::Kernel;
use crate::lower;
use crate::machine_code::{BindingBytes, KernelRun, MachineCode, Row, StopRequest};
use crate::regions::{Regions, Vectorization};
use crate::staged_workgroup::{self, StagedWorkgroup};
use crate::stages::{self, Staged};

/// Maximum private and workgroup memory of a thread, in bytes.
const MAX_MEMORY_BYTES: usize = 256 << 20;
/// Maximum stack of a task, in bytes, that any thread can provide.
pub const SMALL_STACK_BYTES: usize = 64 << 10;
/// Stack reserved for the callers of generated code in a thread that runs tasks, in bytes.
pub const STACK_RESERVE_BYTES: usize = 1 << 20;
/// Minimum number of statements of a task, by the estimate of `work`.
const MIN_TASK_STATEMENTS: u64 = 200_000;
/// Range of the minimum number of invocations of a task.
const MIN_TASK_INVOCATIONS: RangeInclusive<u64> = 64..=8192;

/// Machine code of a kernel for concurrent runs on any number of threads.
#[derive(Debug)]
pub struct CompiledKernel {
    code: MachineCode,
    kernel: Kernel,
    /// Stages of a kernel with barriers or workgroup memory.
    staged: Option<Staged>,
    /// True if rows end at the end of each workgroup, for a kernel with indices in workgroups.
    by_workgroup: bool,
    /// True if the code has 32-bit byte indices into bindings.
    loads_bytes: bool,
    min_task: u64,
}

/// Runner of parallel tasks, such as a thread pool of the host.
pub trait TaskRunner {
    /// Number of threads that run tasks at a time.
    fn thread_count(&self) -> usize;

    /// Runs each of `task(0)` to `task(tasks - 1)` once, in any order and on any thread. All tasks
    /// are complete on return.
    ///
    /// A task needs `stack_bytes` bytes of stack, at most [`MAX_STACK_BYTES`]. Any thread has at
    /// least [`SMALL_STACK_BYTES`].
    fn run(&self, tasks: usize, stack_bytes: usize, task: &(dyn Fn(usize) + Sync));
}

/// Task runner with one thread: the calling thread, or a new thread for a large stack.
#[derive(Debug, Clone, Copy, Default)]
pub struct OneThread;

impl TaskRunner for OneThread {
    fn thread_count(&self) -> usize {
        1
    }

    fn run(&self, tasks: usize, stack_bytes: usize, task: &(dyn Fn(usize) + Sync)) {
        if stack_bytes <= SMALL_STACK_BYTES {
            return (0..tasks).for_each(task);
        }
        thread::scope(|scope| {
            let thread = thread::Builder::new().stack_size(stack_bytes + STACK_RESERVE_BYTES);
            let thread = thread.spawn_scoped(scope, || (0..tasks).for_each(task)).expect("the system starts threads");
            if let Err(panic) = thread.join() {
                resume_unwind(panic);
            }
        });
    }
}

fn lowered(module: &naga::Module, info: &ModuleInfo, entry: &str, source: &str) -> Result<Kernel, Error> {
    if module.overrides.is_empty() {
        return Ok(lower::lower_with_source(module, info, entry, source)?);
    }
    let point = Some((naga::ShaderStage::Compute, entry));
    let (module, info) = process_overrides(module, info, point, &PipelineConstants::default())
        .map_err(|error| Error::Overrides(error.to_string()))?;
    Ok(lower::lower_with_source(&module, &info, entry, source)?)
}

/// Machine code of a kernel for the processors of a target, such as `aarch64-unknown-linux-gnu`, as
/// the bytes of each function.
///
/// Arguments, cost and errors: see [`CompiledKernel::new`]. AArch64 on another host needs the
/// feature `aarch64` of this crate; [`Error::Generator`] without it.
pub fn generate_for_target(
    target: &str,
    module: &naga::Module,
    info: &ModuleInfo,
    entry: &str,
    vectors: Vectorization,
) -> Result<Vec<Vec<u8>>, Error> {
    let regions = Regions::new(&mut lowered(module, info, entry, "")?, vectors);
    let generated = CodeGenerator::for_target(target)?.generate(&regions, MAX_STACK_BYTES)?;
    let functions = generated.into_iter().flat_map(|region| [Some(region.row)].into_iter().chain(region.borders));
    Ok(functions.flatten().map(|function| function.code).collect())
}

impl CompiledKernel {
    /// Generates machine code for the compute entry point `entry` of a validated module.
    ///
    /// `info` is the result of naga's validator for `module`. `source` is the text of the module,
    /// for the line numbers of errors and stopped loops; without a text, lines are 0. Overrides
    /// have their default values. Cost: a few milliseconds for a kernel of 30 lines.
    ///
    /// # Errors
    /// * [`Error::Unsupported`]: the kernel has a construct outside the language of native kernels.
    /// * [`Error::Overrides`]: an override has no default value.
    /// * [`Error::Generator`]: the processor or the system refuses the code.
    /// * [`Error::Stack`]: the values of an invocation exceed a thread's stack.
    /// * [`Error::Memory`]: the invocations of a workgroup need too much memory.
    pub fn new(
        module: &naga::Module,
        info: &ModuleInfo,
        entry: &str,
        source: &str,
        vectors: Vectorization,
    ) -> Result<Self, Error> {
        Self::from_kernel(lowered(module, info, entry, source)?, vectors)
    }

    /// Generates machine code for a lowered kernel. Errors: see [`Self::new`].
    pub(crate) fn from_kernel(mut kernel: Kernel, vectors: Vectorization) -> Result<Self, Error> {
        let mut regions = Regions::new(&mut kernel, vectors);
        let code = MachineCode::new(&regions, MAX_STACK_BYTES)?;
        let Regions { staged, loads_bytes, statements, .. } = regions;
        if staged.is_none() {
            kernel = regions.kernels.remove(0);
        }
        let min_task = MIN_TASK_STATEMENTS / statements.max(1);
        let min_task = min_task.clamp(*MIN_TASK_INVOCATIONS.start(), *MIN_TASK_INVOCATIONS.end());
        let frame_bytes = match &staged {
            Some(staged) => staged_workgroup::frame_bytes_of(kernel.workgroup_size, staged.frame_bytes),
            None => kernel.frame_bytes as usize * LANES,
        };
        let bytes = frame_bytes.saturating_add(kernel.workgroup_bytes as usize);
        if bytes > MAX_MEMORY_BYTES {
            return Err(Error::Memory { bytes, most: MAX_MEMORY_BYTES });
        }
        let by_workgroup = kernel.values.iter().any(|(_, definition)| stages::uses_workgroup_index(definition));
        Ok(Self { code, kernel, staged, by_workgroup, loads_bytes, min_task })
    }

    /// The lowered kernel, with its bindings in the order of [`run`](Self::run).
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Runs the kernel over `workgroups` workgroups along x, y and z. All writes are complete on
    /// return.
    ///
    /// `bindings` has the memory of each binding, in the order of `self.kernel().bindings`. Another
    /// thread can stop the run by `stop`.
    ///
    /// # Errors
    /// * [`Error::Binding`]: a binding is missing, too small, not aligned to 8 bytes, declared as
    ///   written but bound as read, or overlaps written memory.
    /// * [`Error::Stopped`]: `stop` was requested during a loop. Bindings have the writes up to
    ///   this time.
    pub fn run(
        &self,
        bindings: &[BindingBytes<'_>],
        workgroups: [u32; 3],
        threads: &impl TaskRunner,
        stop: &StopRequest,
    ) -> Result<(), Error> {
        self.check(bindings)?;
        let size = self.kernel.workgroup_size;
        let [nx, ny, nz] = [0, 1, 2].map(|axis| u64::from(workgroups[axis]) * u64::from(size[axis]));
        if nx == 0 || ny == 0 || nz == 0 {
            return Ok(());
        }
        let run = self.code.run(bindings, workgroups, stop);
        match &self.staged {
            Some(staged) => self.run_groups(staged, &run, workgroups, threads),
            None => self.run_rows(&run, [nx, ny, nz], threads),
        }
        match stop.line() {
            Some(line) => Err(Error::Stopped { line }),
            None => Ok(()),
        }
    }

    /// Runs the invocations of a kernel without barriers, row by row.
    fn run_rows(&self, run: &KernelRun<'_>, [nx, ny, nz]: [u64; 3], threads: &impl TaskRunner) {
        let size = u64::from(self.kernel.workgroup_size[0]);
        let step = if self.by_workgroup { size } else { LANES as u64 };
        let part = (nx.div_ceil(4 * threads.thread_count() as u64).max(self.min_task)).next_multiple_of(step);
        let parts = nx.div_ceil(part);
        let items = parts * ny * nz;
        let per_task =
            (self.min_task / part.min(nx)).max(items.div_ceil(16 * threads.thread_count() as u64)).clamp(1, items);
        let rows = |item: u64| {
            let (x, y, z) = (item % parts * part, item / parts % ny, item / parts / ny);
            let (first, end) = (x, (x + part).min(nx));
            let step = if self.by_workgroup { step } else { end - first };
            let starts = (first..end).step_by(step as usize);
            starts.map(move |x| Row { x: [x as u32, (x + step).min(end) as u32], y: y as u32, z: z as u32 })
        };
        threads.run(items.div_ceil(per_task) as usize, self.code.stack_bytes(), &|task| {
            let first = task as u64 * per_task;
            let mut worker = run.worker(self.kernel.frame_bytes as usize * LANES, 0);
            let mut rows = (first..(first + per_task).min(items)).flat_map(rows);
            rows.all(|row| worker.run_row(0, row, 0));
        });
    }

    fn run_groups(&self, staged: &Staged, run: &KernelRun<'_>, [nx, ny, nz]: [u32; 3], threads: &impl TaskRunner) {
        let groups = u64::from(nx) * u64::from(ny) * u64::from(nz);
        let size = self.kernel.workgroup_size;
        let invocations = size.iter().map(|extent| u64::from(*extent)).product::<u64>();
        let per_task =
            (self.min_task / invocations).max(groups.div_ceil(16 * threads.thread_count() as u64)).clamp(1, groups);
        threads.run(groups.div_ceil(per_task) as usize, self.code.stack_bytes(), &|task| {
            let frames = staged_workgroup::frame_bytes_of(size, staged.frame_bytes);
            let mut worker = run.worker(frames, self.kernel.workgroup_bytes as usize);
            let first = task as u64 * per_task;
            for number in first..(first + per_task).min(groups) {
                let (x, y) = (number % u64::from(nx), number / u64::from(nx) % u64::from(ny));
                let z = number / u64::from(nx) / u64::from(ny);
                let mut group = StagedWorkgroup {
                    worker: &mut worker,
                    size,
                    frame_bytes: staged.frame_bytes,
                    returned: staged.returned,
                    index: [x as u32, y as u32, z as u32],
                };
                group.run(&staged.stages);
            }
        });
    }

    fn check(&self, bindings: &[BindingBytes<'_>]) -> Result<(), Error> {
        for (number, declared) in self.kernel.bindings.iter().enumerate() {
            let fail = |problem: String| Error::Binding {
                group: declared.group,
                binding: declared.binding,
                name: declared.name.clone(),
                problem,
            };
            let bytes = match bindings.get(number) {
                None => return Err(fail("no memory is bound".to_owned())),
                Some(BindingBytes::Read(_)) if declared.writable => {
                    return Err(fail("the kernel writes it, but its memory is bound for reads only".to_owned()));
                }
                Some(bytes) => bytes,
            };
            if bytes.len() < declared.min_bytes as usize {
                return Err(fail(format!(
                    "{} bytes are bound, and the kernel needs {}",
                    bytes.len(),
                    declared.min_bytes
                )));
            }
            if self.loads_bytes && bytes.len() as u64 > 1 << 32 {
                return Err(fail("more than 4 GiB are bound, the limit of kernels with byte loads".to_owned()));
            }
            if !bytes.is_aligned() {
                return Err(fail("the address of the memory is not a multiple of 8".to_owned()));
            }
            // Code loads a value of read-only memory once for many invocations.
            let written = self.kernel.bindings.iter().zip(bindings).filter(|(other, _)| other.writable);
            if let Some((other, _)) = written.filter(|_| !declared.writable).find(|(_, memory)| memory.overlaps(*bytes))
            {
                return Err(fail(format!(
                    "the memory overlaps the memory of \"{}\", which the kernel writes",
                    other.name
                )));
            }
        }
        Ok(())
    }
}
