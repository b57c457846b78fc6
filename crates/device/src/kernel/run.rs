//! Execution of a call: records its dispatches on the device.

use super::binding::Binding;
use super::call::{AccessMode, Call};
use super::dispatch::{self, Dispatch, Shape};
use super::domain::{Domain, DomainKind};
use super::geometry;
use super::native_call::BoundMemory;
use super::pipeline::{BoundBuffer, Pipeline};
use super::prepare::{PreparedCall, Work};
use super::report::{Report, ReportContents};
use super::signature::Watch;
use super::uniforms::Uniforms;
use crate::device::{BufferRequest, Device, Lease};
use crate::error::{CallSite, KernelError, Result};
use crate::history::{Finding, History, Ledger, OperationName, Problem};
use crate::region::Region;
use crate::trace::{self, SpanKind};

/// Maximum number of dispatches with geometry in one buffer.
const DISPATCHES_PER_BUFFER: usize = 16;

impl Call<'_> {
    /// Queues the kernel on this rank's device, after all previously queued work. Local.
    ///
    /// Transfers and host reads wait for the kernel. A call over an empty domain has no effect.
    /// Repeated calls allocate no device memory.
    ///
    /// # Errors
    /// * Names that are missing, unknown, unused or bound twice.
    /// * Element types, access or parameters that do not match the shader.
    /// * A chunk that is bound both for reading and for writing.
    /// * A section with an invalid region.
    /// * An invalid domain, or a domain without cells in an array whose position helper the kernel
    ///   uses.
    /// * WGSL that is invalid for these arrays, or a device that cannot run the kernel.
    /// * An unreported device error of an earlier operation.
    #[track_caller]
    pub fn run(self) -> Result<()> {
        let _call = CallSite::enter();
        let at = CallSite::here();
        // CheckedKernel first, because the change has not caused errors of earlier operations.
        self.kernel.shared.target.device.check(&format!("running kernel {}", self.kernel.name()))?;
        self.kernel.reload();
        let done = self.attempt(at);
        if let Err(error) = &done
            && let Some(changed) = self.kernel.restore_previous_version()
        {
            if self.attempt(at).is_err() {
                // The call is invalid, not the changed text.
                self.kernel.reinstate_changed_version(changed);
                return done;
            }
            trace::warn(&format!("kernel {} was changed, but stays as it was: {error}", self.kernel.name()));
            return Ok(());
        }
        done?;
        self.kernel.drop_previous_version();
        Ok(())
    }

    fn attempt(&self, at: CallSite) -> Result<()> {
        let prepared = self.prepare()?;
        let bindings = || self.bound.iter().map(|(_, binding, _)| binding);
        let device = &self.kernel.shared.target.device;
        let report = if prepared.watch != Watch::Off { Some(Report::new(device, bindings())?) } else { None };
        if !self.submit(&prepared, report.as_ref())? {
            self.record_empty_call(&prepared, at);
            return Ok(());
        }
        let contents = report.map(|report| report.read(device)).transpose()?;
        self.record_accesses(&prepared, contents.as_ref(), at);
        Ok(())
    }

    /// Records a call without invocations in the histories of the chunks.
    fn record_empty_call(&self, prepared: &PreparedCall<'_>, at: CallSite) {
        for history in self.bound.iter().filter_map(|(_, binding, _)| binding.history.as_ref()) {
            history.operation(&[], &[], OperationName::Kernel(prepared.version.label.clone()), at);
        }
    }

    pub(super) fn ledger(&self) -> Option<&Ledger> {
        self.bound.iter().find_map(|(_, binding, _)| Some(&*binding.history.as_ref()?.ledger))
    }

    fn record_accesses(&self, prepared: &PreparedCall<'_>, contents: Option<&ReportContents>, at: CallSite) {
        let kernel = &prepared.version.label;
        for (number, (_, binding, access)) in self.bound.iter().enumerate() {
            let Some(history) = &binding.history else { continue };
            let what = OperationName::Kernel(kernel.clone());
            let (Some(contents), true) = (contents, history.ghosts().is_some()) else {
                let written = if *access == AccessMode::Read { &[][..] } else { &[binding.section][..] };
                history.operation(&[], written, what, at);
                continue;
            };
            let mut written = if *access == AccessMode::Read { Vec::new() } else { self.written(binding) };
            written.extend(contents.stored(number, binding));
            history.operation(&contents.loaded(number, binding), &written, what, at);
        }
        if let (Some((invocations, line)), Some(pass_limit)) =
            (contents.and_then(ReportContents::stopped), prepared.loop_pass_limit)
            && let Some((binding, history)) = self.written_history()
        {
            let site = history.ledger.site(OperationName::Kernel(kernel.clone()), at);
            let problem = Problem::LoopStopped { line, passes: pass_limit, invocations };
            history.ledger.add_finding(Finding { array: binding.array(), chunk: history.chunk(), site, problem });
        }
        if let Some(outside) = contents.and_then(ReportContents::first_outside_access)
            && let Some(bound) = prepared.order.get(outside.var).copied().flatten()
        {
            outside.warn(&self.bound[bound].1, kernel, at);
        }
    }

    /// Returns the first written section and the history of its chunk.
    fn written_history(&self) -> Option<(&Binding, &History)> {
        let written = self.bound.iter().filter(|(_, _, access)| *access != AccessMode::Read);
        written.map(|(_, binding, _)| binding).find_map(|binding| Some((binding, &**binding.history.as_ref()?)))
    }

    /// Returns the owned boxes that a kernel writes, as far as known: the cells of the invocations
    /// if the domain is in the index space of the section, otherwise the section.
    fn written(&self, binding: &Binding) -> Vec<Region> {
        let first = self.bound.iter().find(|(_, _, access)| *access != AccessMode::Read).map(|(_, first, _)| first);
        let alike = first.filter(|first| first.shape == binding.shape);
        let boxes = match (&self.over, alike) {
            (None, Some(first)) => first.boxes(),
            (Some(Domain(DomainKind::Section(over))), Some(first)) if over.shape == first.shape => over.boxes(),
            _ => vec![binding.section],
        };
        // Positions count from the start of each section.
        let from = alike.map_or(binding.section.start, |first| first.section.start);
        let boxes = boxes.iter().map(|region| region.translate(&(binding.section.start - from)));
        let owned: Vec<Region> = boxes.filter_map(|region| region.intersect(&binding.owned)).collect();
        if owned.is_empty() { binding.section.intersect(&binding.owned).into_iter().collect() } else { owned }
    }

    /// Records the dispatches of the call; true if there were any.
    fn submit(&self, prepared: &PreparedCall<'_>, report: Option<&Report>) -> Result<bool> {
        let PreparedCall { version, compiled, order, work, .. } = prepared;
        let (name, checked) = (&version.program.name, &compiled.checked);
        match work {
            Work::Parts(parts) => {
                let limit = |problem| KernelError::Limit { kernel: name.clone(), problem };
                let group_limit = self.kernel.shared.target.device.limits().workgroups;
                let shape = Shape { workgroup: checked.workgroup, limit: group_limit };
                // Compute all dispatches before recording: an impossible one must leave nothing
                // recorded.
                let dispatches = parts.iter().map(|part| dispatch::dispatches(&part.grid, &shape));
                let dispatches = dispatches.collect::<Result<Vec<_>, _>>().map_err(limit)?;
                for (part, dispatches) in parts.iter().zip(&dispatches) {
                    self.record(prepared, dispatches, &part.offsets, report, None)?;
                }
                Ok(dispatches.iter().any(|dispatches| !dispatches.is_empty()))
            }
            Work::Counted { count, max_count } => {
                let words = dispatch::workgroup_words(checked.workgroup).to_vec();
                let arguments = self.kernel.count(count, *max_count, checked.workgroup[0])?;
                let dispatch = Dispatch { words, groups: [0; 3] };
                self.record(prepared, &[dispatch], &vec![0; order.len()], report, Some(&arguments))?;
                Ok(true)
            }
        }
    }

    /// Records dispatches over the windows that begin at `offsets`, one offset in bytes per storage
    /// variable.
    fn record(
        &self,
        prepared: &PreparedCall<'_>,
        dispatches: &[Dispatch],
        offsets: &[u64],
        report: Option<&Report>,
        count: Option<&Lease>,
    ) -> Result<()> {
        let PreparedCall { version, compiled, uniforms, .. } = prepared;
        let device = &self.kernel.shared.target.device;
        let (name, checked) = (&version.program.name, &compiled.checked);
        if dispatches.is_empty() {
            return Ok(());
        }
        let pipeline = match compiled.pipeline(&self.kernel.shared.target, name)? {
            Pipeline::Driver(pipeline) => pipeline,
            Pipeline::Native(code) => {
                let _span = trace::span(SpanKind::Kernel, || format!("computing {}", version.label));
                let (buffers, geometry) = self.arrays(prepared, offsets, report)?;
                let memory = BoundMemory { buffers: &buffers, geometry: &geometry, count };
                return self.run_natively(prepared, code, dispatches, &memory);
            }
        };
        let _span = trace::span(SpanKind::Kernel, || format!("recording {}", version.label));
        trace::queued(&version.label);
        let (buffers, words) = self.arrays(prepared, offsets, report)?;
        self.check_binding_bytes(prepared, &buffers)?;
        for some in dispatches.chunks(DISPATCHES_PER_BUFFER) {
            let mut parts = uniforms.clone();
            for dispatch in some {
                let all: Vec<i32> = words.iter().chain(&dispatch.words).copied().collect();
                parts.push(bytemuck::cast_slice(&all).to_vec());
            }
            let (buffer, offsets) = device.with_cache(|cache: &mut Uniforms| cache.write(device, &parts))?;
            let mut groups = self.kernel.shared.groups.borrow_mut();
            let groups = groups.get(device, name, (pipeline, checked), &buffers, &buffer, count)?;
            let (constants, geometries) = offsets.split_at(uniforms.len());
            device.record(|encoder| {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(&pipeline.raw);
                for (dispatch, &geometry) in some.iter().zip(geometries) {
                    for (group, bind_group) in &groups {
                        pass.set_bind_group(*group, bind_group, &checked.offsets(*group, constants, geometry));
                    }
                    let [x, y, z] = dispatch.groups;
                    match count {
                        None => pass.dispatch_workgroups(x, y, z),
                        Some(count) => pass.dispatch_workgroups_indirect(count.raw(), 0),
                    }
                }
            });
        }
        Ok(())
    }

    /// Checks that the driver can bind whole chunks, for a kernel without a native form on a device
    /// with native kernels.
    ///
    /// # Errors
    /// A chunk is larger than a binding of the driver.
    fn check_binding_bytes(&self, prepared: &PreparedCall<'_>, buffers: &[Option<BoundBuffer>]) -> Result<()> {
        let device = &self.kernel.shared.target.device;
        let limit = device.limits().wgpu.max_storage_buffer_binding_size;
        for (bound, buffer) in prepared.order.iter().zip(buffers) {
            let (Some(bound), Some(buffer)) = (bound, buffer) else { continue };
            let window = buffer.window(0);
            let bytes = window.end - window.start;
            if bytes > limit {
                let (_, Binding { label, .. }, _) = &self.bound[*bound];
                let adapter = &device.adapter().name;
                let problem = format!(
                    "the driver computes it, and {label} has {bytes} bytes; {adapter} binds at most {limit}: cut the array into \
                     more chunks, or run with ZIPPY_BINDING_LIMIT={limit}, which binds chunks in several parts"
                );
                return Err(KernelError::Limit { kernel: prepared.version.program.name.clone(), problem }.into());
            }
        }
        Ok(())
    }

    /// Returns the buffers of the storage variables, and the geometry words of their arrays.
    fn arrays(
        &self,
        prepared: &PreparedCall<'_>,
        offsets: &[u64],
        report: Option<&Report>,
    ) -> Result<(Vec<Option<BoundBuffer>>, Vec<i32>)> {
        let PreparedCall { version, compiled, order, .. } = prepared;
        let device = &self.kernel.shared.target.device;
        let map = &compiled.checked.map;
        // The geometry of arrays that the entry point does not use stays zero.
        let mut words = vec![0; 4 * map.domain()];
        let mut buffers = vec![None; order.len()];
        for (number, &bound) in order.iter().enumerate() {
            let Some(bound) = bound else { continue };
            let (_, binding, _) = &self.bound[bound];
            let (slot_bytes, window_bytes) = binding.window(self.kernel.shared.target.binding_bytes());
            let array = geometry::array_words(binding).ok_or_else(|| KernelError::Limit {
                kernel: version.program.name.clone(),
                problem: format!("{} is too large for 31-bit positions; cut it into more chunks", binding.label),
            })?;
            let first = 4 * map.var(number);
            words[first..first + array.len()].copy_from_slice(&array);
            let offset = offsets[number];
            words[first] = words[first].wrapping_sub((offset / slot_bytes) as i32);
            if let Some((at, layers)) = report.map(|report| report.parts()[bound]) {
                (words[first + 2], words[first + 3]) = (at as i32, layers.components as i32);
            }
            buffers[number] = Some(match &binding.buffer {
                Some(buffer) => BoundBuffer {
                    raw: buffer.raw().clone(),
                    id: buffer.id(),
                    weak: Some(buffer.downgrade()),
                    offset,
                    end: binding.storage_bytes(),
                    window_bytes,
                },
                None => empty_buffer(device, slot_bytes)?,
            });
        }
        buffers.extend(report.map(|report| Some(report.buffer())));
        Ok((buffers, words))
    }
}

/// Returns the buffer bound for a chunk without cells.
fn empty_buffer(device: &Device, slot_bytes: u64) -> Result<BoundBuffer> {
    #[derive(Default)]
    struct EmptyBinding(Option<(wgpu::Buffer, u64)>);
    device.with_cache(|cache: &mut EmptyBinding| {
        let size = slot_bytes.next_multiple_of(256);
        if cache.0.as_ref().is_none_or(|(buffer, _)| buffer.size() < size) {
            let usage = wgpu::BufferUsages::STORAGE | device.kernel_usages();
            let made = device.new_buffer(&BufferRequest {
                size,
                usage,
                purpose: "binding an empty chunk",
                label: "zippy: nothing",
            })?;
            // Ids of chunks count up from 1.
            cache.0 = Some((made, u64::MAX - size));
        }
        let (raw, id) = cache.0.clone().expect("just made");
        let window_bytes = raw.size();
        Ok(BoundBuffer { raw, id, weak: None, offset: 0, end: window_bytes, window_bytes })
    })
}
