//! Folding the cells of boxes into a few words: the device's part of a reduction.

use std::collections::HashMap;

use super::buffer_window::BufferWindow;
use super::movers::{BoxDispatch, BufferMove};
use super::shader::{Shader, ShaderBinding};
use super::tables::{JOBS, JOBS_PER_TABLE, Slots, Table};
use crate::device::boxes::BoxPair;
use crate::device::checks::{bad, check_element, check_view};
use crate::device::memory::{SLICE_BYTES, Staging};
use crate::device::ranges::read_mapped;
use crate::device::{BufferBox, Device};
use crate::error::DeviceError;

/// Groups of slots that a workgroup takes at most: with four slots an invocation, four cells a slot
/// and 64 invocations these are 2^15 cells, so that 16-bit digits of all of them add up in 32 bits.
const MOST_ROUNDS: u64 = 32;
/// Workgroups that share small boxes, before each takes more than one group.
const FEW_WORKGROUPS: u64 = 64;

/// Kernel of a fold: a compute shader of the form of `shaders/reduce/walk.wgsl`.
pub struct FoldKernel<'a> {
    /// Names the kernel; the same name always means the same text.
    pub name: &'a str,
    /// Its text, which follows `shaders/jobs.wgsl`.
    pub source: &'a dyn Fn() -> String,
    /// Words that a workgroup writes.
    pub words: usize,
    /// Data of its own, found from word `table[2]` of the job table on.
    pub constants: &'a [u32],
}

#[derive(Default)]
struct Folders(HashMap<String, Shader>);

/// A dispatch in the making.
struct FoldDispatch<'a> {
    first: BufferWindow<'a>,
    second: Option<BufferWindow<'a>>,
    table: Table,
    workgroups: u64,
}

impl Device {
    /// Runs a kernel over the cells of boxes and calls `each` with the words of every workgroup.
    /// `pairs` has the box `first` and, for all pairs or none, the box `second` of equal extents;
    /// boxes count units of `unit_bytes` (1, 2 or a multiple of 4). The division of cells among
    /// workgroups depends on the device and its limits, so results must not depend on the division.
    /// No workgroup sees more than 2^15 cells.
    ///
    /// Local. Recorded work comes first. Cost: one dispatch for the boxes of a buffer, one
    /// submission and one wait for up to 2^28 cells; a warm repeat allocates nothing.
    ///
    /// # Errors
    /// Extents that differ, a box that leaves its buffer, or a failing device.
    pub fn fold(
        &self,
        kernel: &FoldKernel,
        unit_bytes: usize,
        pairs: &[(BufferBox, Option<BufferBox>)],
        each: &mut dyn FnMut(&[u32]),
    ) -> Result<(), DeviceError> {
        let what = kernel.name;
        check_element(what, unit_bytes)?;
        let mut moves = Vec::with_capacity(pairs.len());
        for (first, second) in pairs {
            let beside = second.as_ref().unwrap_or(first);
            for one in [first, beside] {
                check_view(what, &one.view, unit_bytes, one.buffer.bytes())?;
            }
            if first.view.extents != beside.view.extents {
                let (a, b) = (first.view.extents, beside.view.extents);
                return Err(bad(what, format!("boxes of extents {a} and {b}")));
            }
            if first.view.cells() > 0 {
                let transfer = BoxPair::new(&first.view, &beside.view);
                moves.push(BufferMove { src: first.buffer.raw(), dst: beside.buffer.raw(), transfer, base: [0, 0] });
            }
        }
        self.check(what)?;
        let paired = pairs.iter().any(|(_, second)| second.is_some());
        let dispatches = self.dispatches(moves.into_iter(), unit_bytes as u64, |t| ((), *t));
        let row = kernel.words as u64 * 4;
        let room = SLICE_BYTES.min(self.limits().binding_bytes);
        let mut batch = Vec::new();
        let mut bytes = 0;
        for (_, dispatch) in &dispatches {
            for step in fold_dispatches(dispatch, paired, (room / row).max(1), kernel.constants) {
                let more = (step.workgroups * row).next_multiple_of(self.limits().offset_alignment);
                if bytes + more > SLICE_BYTES && !batch.is_empty() {
                    self.fold_batch(kernel, &std::mem::take(&mut batch), bytes, each)?;
                    bytes = 0;
                }
                batch.push((bytes, step));
                bytes += more;
            }
        }
        if batch.is_empty() { Ok(()) } else { self.fold_batch(kernel, &batch, bytes, each) }
    }

    /// Runs dispatches with results at the given offsets of `bytes` bytes, and reads the results.
    fn fold_batch(
        &self,
        kernel: &FoldKernel,
        batch: &[(u64, FoldDispatch)],
        bytes: u64,
        each: &mut dyn FnMut(&[u32]),
    ) -> Result<(), DeviceError> {
        let shader = self.folder(kernel)?;
        let partials = self.staging(Staging::Device, bytes)?;
        let readback = self.staging(Staging::Readback, bytes)?;
        let row = kernel.words as u64 * 4;
        for (at, step) in batch {
            let output = BufferWindow { buffer: &partials, start: *at, bytes: step.workgroups * row };
            let bound = [
                Some(ShaderBinding::Window(step.first)),
                step.second.map(ShaderBinding::Window),
                Some(ShaderBinding::Words(&step.table.words)),
                Some(ShaderBinding::Window(output)),
            ];
            self.dispatch(kernel.name, &shader, &bound, step.workgroups)?;
        }
        self.record(|encoder| encoder.copy_buffer_to_buffer(&partials, 0, &readback, 0, Some(bytes)));
        drop(partials);
        let mapped = self.map_many(&[(&*readback, wgpu::MapMode::Read)])?;
        let view = read_mapped(&readback, 0..bytes)?;
        for (at, step) in batch {
            let words = &view[*at as usize..][..(step.workgroups * row) as usize];
            bytemuck::cast_slice::<u8, u32>(words).chunks_exact(kernel.words).for_each(&mut *each);
        }
        drop(view);
        drop(mapped);
        Ok(())
    }

    fn folder(&self, kernel: &FoldKernel) -> Result<Shader, DeviceError> {
        self.with_cache(|folders: &mut Folders| {
            if let Some(shader) = folders.0.get(kernel.name) {
                return Ok(shader.clone());
            }
            let shader = self.compile_shader(kernel.name, &[JOBS, &(kernel.source)()].concat())?;
            folders.0.insert(kernel.name.to_string(), shader.clone());
            Ok(shader)
        })
    }
}

/// The dispatches over jobs that share their windows, each of at most `most` workgroups.
fn fold_dispatches<'a>(
    dispatch: &BoxDispatch<'a>,
    paired: bool,
    most: u64,
    constants: &[u32],
) -> Vec<FoldDispatch<'a>> {
    let mut out = Vec::new();
    let mut rest = &dispatch.transfers[..];
    while !rest.is_empty() {
        // A job is cut no further: it has at most 2^22 cells, so at most 512 workgroups' worth.
        let mut jobs = rest.len().min(JOBS_PER_TABLE);
        let mut table = Table::new(&rest[..jobs], Slots::Fours);
        while jobs > 1 && table.groups.div_ceil(MOST_ROUNDS) > most {
            jobs /= 2;
            table = Table::new(&rest[..jobs], Slots::Fours);
        }
        let workgroups = table.groups.div_ceil(MOST_ROUNDS).max(table.groups.min(FEW_WORKGROUPS));
        (table.words[2], table.words[3]) = (table.words.len() as u32, workgroups as u32);
        table.words.extend(constants);
        out.push(FoldDispatch { first: dispatch.src, second: paired.then_some(dispatch.dst), table, workgroups });
        rest = &rest[jobs..];
    }
    out
}
