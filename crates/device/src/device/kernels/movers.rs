//! Recording of transfers: selects the shader and the windows of the buffers, and makes one
//! dispatch for all boxes with the same ones.

use std::collections::HashMap;

use super::buffer_window::BufferWindow;
use super::shader::{Shader, ShaderBinding};
use super::tables::{CELLS_PER_JOB, JOBS, JOBS_PER_TABLE, Slots, Table};
use crate::device::Device;
use crate::device::boxes::{BoxPair, common_multiple};
use crate::error::DeviceError;

/// Cells to move between two buffers (or within one, if the boxes do not overlap), in elements.
#[derive(Debug, Clone)]
pub(super) struct BufferMove<'a> {
    pub src: &'a wgpu::Buffer,
    pub dst: &'a wgpu::Buffer,
    pub transfer: BoxPair,
    /// Bytes to add to the offsets of source and destination, multiples of 4.
    pub base: [u64; 2],
}

/// Unit of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Unit {
    Word,
    FourWords,
    Small(u64),
}

/// The pipelines, made when first needed.
#[derive(Default)]
struct Movers(HashMap<&'static str, Shader>);

/// One dispatch.
pub(super) struct BoxDispatch<'a> {
    pub src: BufferWindow<'a>,
    pub dst: BufferWindow<'a>,
    pub transfers: Vec<BoxPair>,
}

impl Device {
    /// The most bytes that a box may span in a buffer to be seen through one of its windows.
    fn window_span(&self, buffer: &wgpu::Buffer, unit_bytes: u64) -> u64 {
        let limits = self.limits();
        if buffer.size() <= limits.binding_bytes {
            return buffer.size();
        }
        let step = common_multiple(limits.offset_alignment, unit_bytes);
        (limits.binding_bytes / 2 / step).max(1) * step
    }

    /// The window of a buffer for a box that begins at byte `at` and spans at most
    /// [`Self::window_span`]. Windows overlap by half, so that every such box lies in one.
    fn window<'a>(&self, buffer: &'a wgpu::Buffer, at: u64, unit_bytes: u64) -> BufferWindow<'a> {
        let span = self.window_span(buffer, unit_bytes);
        if span == buffer.size() {
            return BufferWindow { buffer, start: 0, bytes: span };
        }
        let start = at / span * span;
        BufferWindow { buffer, start, bytes: (buffer.size() - start).min(2 * span) }
    }

    /// Cuts transfers (in units of `unit_bytes`) at the edges of windows and of jobs, makes offsets
    /// relative to windows, and collects the transfers of each dispatch. All transfers of a
    /// dispatch have the same windows and the same `class`, which is computed from a cut transfer.
    #[expect(clippy::mutable_key_type, reason = "wgpu buffers are compared and hashed by identity")]
    pub(super) fn dispatches<'a, C: Copy + Eq + std::hash::Hash>(
        &self,
        moves: impl Iterator<Item = BufferMove<'a>>,
        unit_bytes: u64,
        classify: impl Fn(&BoxPair) -> (C, BoxPair),
    ) -> Vec<(C, BoxDispatch<'a>)> {
        let mut found: HashMap<(C, BufferWindow, BufferWindow), usize> = HashMap::new();
        let mut out: Vec<(C, BoxDispatch)> = Vec::new();
        let (mut spans, mut parts) = (Vec::new(), Vec::new());
        for BufferMove { src, dst, mut transfer, base } in moves {
            transfer.src += base[0] / unit_bytes;
            transfer.dst += base[1] / unit_bytes;
            spans.clear();
            parts.clear();
            let (src_span, dst_span) =
                (self.window_span(src, unit_bytes) / unit_bytes, self.window_span(dst, unit_bytes) / unit_bytes);
            transfer.cut_to_spans(src_span, dst_span, &mut spans);
            for part in &spans {
                part.cut_to_cells(CELLS_PER_JOB, &mut parts);
            }
            for part in &parts {
                let mut part = *part;
                let src = self.window(src, part.src * unit_bytes, unit_bytes);
                let dst = self.window(dst, part.dst * unit_bytes, unit_bytes);
                part.src -= src.start / unit_bytes;
                part.dst -= dst.start / unit_bytes;
                let (class, part) = classify(&part);
                let at = *found.entry((class, src, dst)).or_insert_with(|| {
                    out.push((class, BoxDispatch { src, dst, transfers: Vec::new() }));
                    out.len() - 1
                });
                out[at].1.transfers.push(part);
            }
        }
        out
    }

    /// Records transfers of elements of `element_bytes`. Their boxes have been checked, are not
    /// empty, and no destination overlaps another's source or destination.
    pub(super) fn record_moves<'a>(
        &self,
        element_bytes: usize,
        moves: impl Iterator<Item = BufferMove<'a>>,
    ) -> Result<(), DeviceError> {
        let dispatches = if element_bytes < 4 {
            let unit = Unit::Small(4 / element_bytes as u64);
            self.dispatches(moves, element_bytes as u64, |t| (unit, *t))
        } else {
            let words = element_bytes as u64 / 4;
            let in_words = moves.map(|m| BufferMove { transfer: m.transfer.in_units_of(words), ..m });
            self.dispatches(in_words, 4, |t| match t.in_fours() {
                Some(fours) => (Unit::FourWords, fours),
                None => (Unit::Word, *t),
            })
        };
        self.with_cache(|movers: &mut Movers| {
            for (unit, dispatch) in &dispatches {
                let pipeline = movers.pipeline(self, *unit)?;
                let slots = if let Unit::Small(per_word) = unit { Slots::Words(*per_word) } else { Slots::Fours };
                self.run_jobs(&pipeline, dispatch, slots)?;
            }
            Ok(())
        })
    }

    /// Records a dispatch: source and destination are bindings 0 and 1, the job table is 2.
    pub(super) fn run_jobs(&self, shader: &Shader, dispatch: &BoxDispatch, slots: Slots) -> Result<(), DeviceError> {
        for jobs in dispatch.transfers.chunks(JOBS_PER_TABLE) {
            let table = Table::new(jobs, slots);
            let bound = [
                ShaderBinding::Window(dispatch.src),
                ShaderBinding::Window(dispatch.dst),
                ShaderBinding::Words(&table.words),
            ];
            self.dispatch("a transfer", shader, &bound.map(Some), table.groups)?;
        }
        Ok(())
    }

    /// Folds workgroups into two dimensions; the shader skips surplus workgroups.
    pub(super) fn folded(&self, groups: u64) -> (u32, u32) {
        let most = u64::from(self.limits().workgroups);
        if groups <= most { (groups as u32, 1) } else { (most as u32, groups.div_ceil(most) as u32) }
    }
}

impl Movers {
    fn pipeline(&mut self, device: &Device, unit: Unit) -> Result<Shader, DeviceError> {
        let words = include_str!("../../../shaders/move_words.wgsl");
        let (name, source) = match unit {
            Unit::Word => ("move_words", words.to_string()),
            Unit::FourWords => ("move_fours", words.replace("alias Unit = u32;", "alias Unit = vec4<u32>;")),
            Unit::Small(_) => ("move_small", include_str!("../../../shaders/move_small.wgsl").to_string()),
        };
        if let Some(pipeline) = self.0.get(name) {
            return Ok(pipeline.clone());
        }
        let pipeline = device.compile_shader(name, &[JOBS, &source].concat())?;
        self.0.insert(name, pipeline.clone());
        Ok(pipeline)
    }
}
