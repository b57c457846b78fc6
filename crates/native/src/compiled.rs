//! A compiled kernel, and its run over the threads of the host.

use std::ops::RangeInclusive;

use naga::back::PipelineConstants;
use naga::back::pipeline_constants::process_overrides;

use crate::code::{Bytes, Code, GroupShapes, Row, Run, Stop};
use crate::emit::{Frames, LANES};
use crate::error::Error;
use crate::groups::{self, Group};
use crate::interior::Interior;
use crate::ir::Kernel;
use crate::shape::Shapes;
use crate::stages::{self, Staged};
use crate::{advance, bytes, legal, lower, number, prune, ssa, work};

/// Statements that one task runs at least, by the estimate of [`work`].
const TASK_STATEMENTS: u64 = 200_000;
/// Bytes of private and workgroup memory of a thread.
const MOST_MEMORY: usize = 256 << 20;
/// Bounds of the least number of invocations of a task.
const TASK: RangeInclusive<u64> = 64..=8192;

/// A kernel as machine code.
#[derive(Debug)]
pub struct Compiled {
    code: Code,
    kernel: Kernel,
    /// Stages of a kernel whose workgroups run together.
    staged: Option<Staged>,
    /// Rows end where workgroups do.
    by_workgroup: bool,
    /// The code counts bytes of bindings with 32 bits.
    loads_bytes: bool,
    /// Least number of invocations of a task.
    task: u64,
}

/// Runs tasks on the threads of the host.
pub trait Threads {
    /// Number of threads.
    fn count(&self) -> usize;

    /// Runs `task(0)` to `task(tasks - 1)`, each once, on any threads; returns when all have ended.
    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync));
}

/// The calling thread alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct OneThread;

impl Threads for OneThread {
    fn count(&self) -> usize {
        1
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        (0..tasks).for_each(task);
    }
}

/// Whether a kernel runs several invocations at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Vectors {
    #[default]
    Use,
    /// One invocation at a time.
    Avoid,
}

impl GroupShapes {
    /// Infers shapes; `is_kept` as in [`Shapes::infer`].
    fn infer(kernel: &Kernel, is_kept: bool) -> Self {
        let interior = Interior::find(kernel).map(|interior| {
            let shapes = Shapes::infer_others(&interior.kernel, is_kept, &interior.shapes);
            (interior, shapes)
        });
        Self { shapes: Shapes::infer(kernel, is_kept), interior }
    }
}

impl Compiled {
    /// Generates machine code for a compute entry point of a module that naga's validator accepted.
    /// Errors have lines of `source`, the module's text; it may be empty.
    ///
    /// # Errors
    /// A construct that is not supported, and a processor or system that refuses the code.
    pub fn new(
        module: &naga::Module,
        info: &naga::valid::ModuleInfo,
        entry: &str,
        source: &str,
        vectors: Vectors,
    ) -> Result<Self, Error> {
        if module.overrides.is_empty() {
            return Self::of_kernel(lower::lower_with_source(module, info, entry, source)?, vectors);
        }
        let point = Some((naga::ShaderStage::Compute, entry));
        let (module, info) = process_overrides(module, info, point, &PipelineConstants::default())
            .map_err(|error| Error::Overrides(error.to_string()))?;
        Self::of_kernel(lower::lower_with_source(&module, &info, entry, source)?, vectors)
    }

    /// Generates machine code for a kernel as lowering has made it.
    pub(crate) fn of_kernel(mut kernel: Kernel, vectors: Vectors) -> Result<Self, Error> {
        legal::expand(&mut kernel);
        let task = TASK_STATEMENTS / work::count_statements(&kernel.body).max(1);
        let task = task.clamp(*TASK.start(), *TASK.end());
        let staged = stages::has_stages(&kernel).then(|| stages::cut(&kernel));
        let mut regions = match &staged {
            Some(staged) => staged.regions.clone(),
            None => vec![std::mem::take(&mut kernel)],
        };
        let mut loads_bytes = false;
        for region in &mut regions {
            ssa::convert(region);
            prune::prune(region);
            number::number(region);
            if bytes::load_bytes(region) {
                loads_bytes = true;
                prune::prune(region);
                number::number(region);
            }
            advance::advance(region);
        }
        let frames = if staged.is_some() { Frames::OfGroups } else { Frames::Reused };
        let is_kept = staged.is_some();
        let shapes: Vec<_> = match vectors {
            Vectors::Use => regions.iter().map(|region| Some(GroupShapes::infer(region, is_kept))).collect(),
            Vectors::Avoid => regions.iter().map(|_| None).collect(),
        };
        let code = Code::generate(&regions, &shapes, frames)?;
        if staged.is_none() {
            kernel = regions.remove(0);
        }
        let frame_bytes = match &staged {
            Some(staged) => groups::frames_bytes(kernel.workgroup_size, staged.frame_bytes),
            None => kernel.frame_bytes as usize * LANES,
        };
        let bytes = frame_bytes.saturating_add(kernel.workgroup_bytes as usize);
        if bytes > MOST_MEMORY {
            return Err(Error::Memory { bytes, most: MOST_MEMORY });
        }
        let by_workgroup = kernel.values.iter().any(|(_, definition)| stages::asks_for_row(definition));
        Ok(Self { code, kernel, staged, by_workgroup, loads_bytes, task })
    }

    /// The kernel that the code was generated from; its bindings are in the order of `run`.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Runs the kernel over workgroups; complete on return.
    ///
    /// # Errors
    /// A binding that is too small or misaligned, and `stop`.
    pub fn run(
        &self,
        bindings: &[Bytes<'_>],
        workgroups: [u32; 3],
        threads: &impl Threads,
        stop: &Stop,
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

    /// Runs invocations row by row.
    fn run_rows(&self, run: &Run<'_>, [nx, ny, nz]: [u64; 3], threads: &impl Threads) {
        let size = u64::from(self.kernel.workgroup_size[0]);
        let step = if self.by_workgroup { size } else { LANES as u64 };
        // Rows in parts, and then parts in tasks.
        let part = (nx.div_ceil(4 * threads.count() as u64).max(self.task)).next_multiple_of(step);
        let parts = nx.div_ceil(part);
        let items = parts * ny * nz;
        let per_task = (self.task / part.min(nx)).max(items.div_ceil(16 * threads.count() as u64)).clamp(1, items);
        let rows = |item: u64| {
            let (x, y, z) = (item % parts * part, item / parts % ny, item / parts / ny);
            let (first, end) = (x, (x + part).min(nx));
            let step = if self.by_workgroup { step } else { end - first };
            let starts = (first..end).step_by(step as usize);
            starts.map(move |x| Row { x: [x as u32, (x + step).min(end) as u32], y: y as u32, z: z as u32 })
        };
        threads.run(items.div_ceil(per_task) as usize, &|task| {
            let first = task as u64 * per_task;
            let mut worker = run.worker(self.kernel.frame_bytes as usize * LANES, 0);
            let mut rows = (first..(first + per_task).min(items)).flat_map(rows);
            rows.all(|row| worker.row(0, row, 0));
        });
    }

    /// Runs workgroups, each stage by stage.
    fn run_groups(&self, staged: &Staged, run: &Run<'_>, [nx, ny, nz]: [u32; 3], threads: &impl Threads) {
        let groups = u64::from(nx) * u64::from(ny) * u64::from(nz);
        let size = self.kernel.workgroup_size;
        let invocations = size.iter().map(|one| u64::from(*one)).product::<u64>();
        let per_task = (self.task / invocations).max(groups.div_ceil(16 * threads.count() as u64)).clamp(1, groups);
        threads.run(groups.div_ceil(per_task) as usize, &|task| {
            let frames = groups::frames_bytes(size, staged.frame_bytes);
            let mut worker = run.worker(frames, self.kernel.workgroup_bytes as usize);
            let first = task as u64 * per_task;
            for number in first..(first + per_task).min(groups) {
                let (x, y) = (number % u64::from(nx), number / u64::from(nx) % u64::from(ny));
                let z = number / u64::from(nx) / u64::from(ny);
                let mut group = Group {
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

    fn check(&self, bindings: &[Bytes<'_>]) -> Result<(), Error> {
        for (number, declared) in self.kernel.bindings.iter().enumerate() {
            let fail = |problem: String| Error::Binding {
                group: declared.group,
                binding: declared.binding,
                name: declared.name.clone(),
                problem,
            };
            let bytes = match bindings.get(number) {
                None => return Err(fail("nothing is bound".to_owned())),
                Some(Bytes::Read(_)) if declared.writable => {
                    return Err(fail("is written, but bound to be read".to_owned()));
                }
                Some(bytes) => bytes,
            };
            if bytes.len() < declared.min_bytes as usize {
                return Err(fail(format!("{} bytes are bound; it needs {}", bytes.len(), declared.min_bytes)));
            }
            if self.loads_bytes && bytes.len() as u64 > 1 << 32 {
                return Err(fail("more than 4 GiB are bound to a kernel that takes single bytes".to_owned()));
            }
            if !bytes.is_aligned() {
                return Err(fail("the memory does not begin at a multiple of 8 bytes".to_owned()));
            }
            // Code loads memory that it does not write once for many invocations.
            let written = self.kernel.bindings.iter().zip(bindings).filter(|(other, _)| other.writable);
            if let Some((other, _)) = written.filter(|_| !declared.writable).find(|(_, one)| one.overlaps(*bytes)) {
                return Err(fail(format!("the memory overlaps that of \"{}\", which is written", other.name)));
            }
        }
        Ok(())
    }
}
