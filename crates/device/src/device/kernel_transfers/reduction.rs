//! [`ReductionKernel`]: reduction of the cells of boxes to partial results, one per workgroup.

use std::collections::HashMap;

use super::box_dispatch::{BoxDispatch, BufferMove};
use super::buffer_window::BufferWindow;
use super::job_table::{JobTable, MAX_JOBS_OF_TABLE, SlotKind, jobs};
use super::shader::{Shader, ShaderBinding, compose};
use crate::device::box_checks::{bad_box_error, check_box_in_buffer, check_element_size};
use crate::device::box_pair::BoxPair;
use crate::device::mapped_bytes::read_mapped;
use crate::device::memory_pool::{SLICE_BYTES, StagingKind};
use crate::device::{BufferBox, Device};
use crate::error::DeviceError;
use crate::wgsl::WgslComposer;

/// Maximum number of groups of slots of a workgroup. With 64 invocations of 4 slots of 4 cells, a
/// workgroup has at most 2^15 cells, so that sums of 16-bit digits fit in 32 bits.
const MAX_GROUPS: u64 = 32;
/// Minimum number of workgroups of a reduction before a workgroup has several groups of slots.
const MIN_WORKGROUPS: u64 = 64;

/// Kernel of a reduction: a compute shader with the bindings of `shaders/reduce/walk.wgsl`.
pub struct ReductionKernel<'a> {
    /// Name of the kernel. Kernels of the same name must have the same text.
    pub name: &'a str,
    /// Returns the parts of the kernel's text after `shaders/jobs.wgsl`.
    pub source: &'a dyn Fn() -> WgslComposer,
    /// Number of 32-bit words of the partial result of a workgroup.
    pub words: usize,
    /// Constants of the kernel, appended to the job table. Word 2 of the table is their offset in
    /// the table.
    pub constants: &'a [u32],
}

impl ReductionKernel<'_> {
    /// Returns the whole WGSL text of the kernel.
    pub fn composer(&self) -> WgslComposer {
        jobs().append((self.source)())
    }
}

#[derive(Default)]
struct ReductionShaders(HashMap<String, Shader>);

/// Dispatch of a reduction over boxes with common windows.
struct ReductionDispatch<'a> {
    first: BufferWindow<'a>,
    second: Option<BufferWindow<'a>>,
    table: JobTable,
    workgroups: u64,
}

impl Device {
    /// Runs a reduction kernel over the cells of boxes, and calls `add_partial` with the partial
    /// result of every workgroup.
    ///
    /// A pair is a box and, for all pairs or none, a second box of equal extents. Boxes count units
    /// of `unit_bytes` (1, 2 or a multiple of 4). The division of cells among workgroups, of at
    /// most 2^15 cells each, depends on the device and its limits: the total must not depend on the
    /// division.
    ///
    /// Local. Recorded commands run first. Cost: one dispatch for the boxes of a buffer; one
    /// submission and one wait for up to 2^28 cells. A repeated call allocates nothing.
    ///
    /// # Errors
    /// * The extents of a pair differ.
    /// * A box leaves its buffer.
    /// * The device fails.
    pub fn reduce_boxes(
        &self,
        kernel: &ReductionKernel<'_>,
        unit_bytes: usize,
        pairs: &[(BufferBox<'_>, Option<BufferBox<'_>>)],
        add_partial: &mut dyn FnMut(&[u32]),
    ) -> Result<(), DeviceError> {
        check_element_size(kernel.name, unit_bytes)?;
        let mut moves = Vec::with_capacity(pairs.len());
        for (first, second) in pairs {
            let second = second.as_ref().unwrap_or(first);
            for BufferBox { buffer, view } in [first, second] {
                check_box_in_buffer(kernel.name, view, unit_bytes, buffer.bytes())?;
            }
            if first.view.extents != second.view.extents {
                let (a, b) = (first.view.extents, second.view.extents);
                return Err(bad_box_error(kernel.name, format!("boxes of extents {a} and {b}")));
            }
            if first.view.cells() > 0 {
                let transfer = BoxPair::new(&first.view, &second.view);
                let (src, dst) = (first.buffer.raw(), second.buffer.raw());
                moves.push(BufferMove { src, dst, transfer, base_bytes: [0, 0] });
            }
        }
        self.check(kernel.name)?;
        let has_second = pairs.iter().any(|(_, second)| second.is_some());
        let dispatches = self.box_dispatches(moves.into_iter(), unit_bytes as u64, |transfer| ((), *transfer));
        let partial_bytes = kernel.words as u64 * 4;
        let max_bytes = SLICE_BYTES.min(self.limits().binding_bytes);
        let mut batch = Vec::new();
        let mut bytes = 0;
        for (_, dispatch) in &dispatches {
            let max_workgroups = (max_bytes / partial_bytes).max(1);
            for part in reduction_dispatches(dispatch, has_second, max_workgroups, kernel.constants) {
                let part_bytes = (part.workgroups * partial_bytes).next_multiple_of(self.limits().offset_alignment);
                if bytes + part_bytes > SLICE_BYTES && !batch.is_empty() {
                    self.run_reductions(kernel, &std::mem::take(&mut batch), bytes, add_partial)?;
                    bytes = 0;
                }
                batch.push((bytes, part));
                bytes += part_bytes;
            }
        }
        if batch.is_empty() { Ok(()) } else { self.run_reductions(kernel, &batch, bytes, add_partial) }
    }

    /// Runs dispatches that write partial results at the given offsets of a buffer of `bytes`
    /// bytes, and reads the results.
    fn run_reductions(
        &self,
        kernel: &ReductionKernel<'_>,
        batch: &[(u64, ReductionDispatch<'_>)],
        bytes: u64,
        add_partial: &mut dyn FnMut(&[u32]),
    ) -> Result<(), DeviceError> {
        let shader = self.reduction_shader(kernel)?;
        let partials = self.staging(StagingKind::Device, bytes)?;
        let readback = self.staging(StagingKind::Readback, bytes)?;
        let partial_bytes = kernel.words as u64 * 4;
        for (offset, part) in batch {
            let output = BufferWindow { buffer: &partials, start: *offset, bytes: part.workgroups * partial_bytes };
            let bound = [
                Some(ShaderBinding::Window(part.first)),
                part.second.map(ShaderBinding::Window),
                Some(ShaderBinding::Words(&part.table.words)),
                Some(ShaderBinding::Window(output)),
            ];
            self.dispatch(kernel.name, &shader, &bound, part.workgroups)?;
        }
        self.record(|encoder| encoder.copy_buffer_to_buffer(&partials, 0, &readback, 0, Some(bytes)));
        drop(partials);
        let mapped = self.map_buffers(&[(&*readback, wgpu::MapMode::Read)])?;
        let view = read_mapped(&readback, 0..bytes)?;
        for (offset, part) in batch {
            let words = &view[*offset as usize..][..(part.workgroups * partial_bytes) as usize];
            bytemuck::cast_slice::<u8, u32>(words).chunks_exact(kernel.words).for_each(&mut *add_partial);
        }
        drop(view);
        drop(mapped);
        Ok(())
    }

    fn reduction_shader(&self, kernel: &ReductionKernel<'_>) -> Result<Shader, DeviceError> {
        self.with_cache(|shaders: &mut ReductionShaders| {
            if let Some(shader) = shaders.0.get(kernel.name) {
                return Ok(shader.clone());
            }
            let shader = self.compile_shader(kernel.name, &compose(&kernel.composer())?)?;
            shaders.0.insert(kernel.name.to_string(), shader.clone());
            Ok(shader)
        })
    }
}

/// Divides the jobs of a dispatch among reduction dispatches of at most `max_workgroups` workgroups
/// each.
fn reduction_dispatches<'a>(
    dispatch: &BoxDispatch<'a>,
    has_second: bool,
    max_workgroups: u64,
    constants: &[u32],
) -> Vec<ReductionDispatch<'a>> {
    let mut out = Vec::new();
    let mut rest = &dispatch.transfers[..];
    while !rest.is_empty() {
        // A single job has at most 2^22 cells, which are 512 workgroups.
        let mut jobs = rest.len().min(MAX_JOBS_OF_TABLE);
        let mut table = JobTable::new(&rest[..jobs], SlotKind::FourCells);
        while jobs > 1 && table.groups.div_ceil(MAX_GROUPS) > max_workgroups {
            jobs /= 2;
            table = JobTable::new(&rest[..jobs], SlotKind::FourCells);
        }
        let workgroups = table.groups.div_ceil(MAX_GROUPS).max(table.groups.min(MIN_WORKGROUPS));
        (table.words[2], table.words[3]) = (table.words.len() as u32, workgroups as u32);
        table.words.extend(constants);
        let second = has_second.then_some(dispatch.dst);
        out.push(ReductionDispatch { first: dispatch.src, second, table, workgroups });
        rest = &rest[jobs..];
    }
    out
}
