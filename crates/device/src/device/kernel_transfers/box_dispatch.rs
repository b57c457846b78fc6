//! [`BoxDispatch`]: boxes that one dispatch moves, because they share the windows of their buffers
//! and the shader.

use std::collections::HashMap;

use super::buffer_window::BufferWindow;
use super::job_table::{JobTable, MAX_CELLS_OF_JOB, MAX_JOBS_OF_TABLE, SlotKind, jobs};
use super::shader::{Shader, ShaderBinding, compose};
use crate::device::Device;
use crate::device::box_pair::{BoxPair, least_common_multiple};
use crate::error::DeviceError;
use crate::wgsl::WgslComposer;

/// Move of a box of cells between two buffers, or within one buffer if the boxes do not overlap.
#[derive(Debug, Clone)]
pub(super) struct BufferMove<'a> {
    pub src: &'a wgpu::Buffer,
    pub dst: &'a wgpu::Buffer,
    /// Source and destination box, in elements.
    pub transfer: BoxPair,
    /// Bytes that are added to the offsets of source and destination; multiples of 4.
    pub base_bytes: [u64; 2],
}

/// Unit in which a move transfers cells; selects the shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Unit {
    Word,
    FourWords,
    /// An element of 1 or 2 bytes.
    Small {
        cells_per_word: u64,
    },
}

#[derive(Default)]
struct MoveShaders(HashMap<&'static str, Shader>);

/// Box transfers of one dispatch, relative to the windows of their buffers.
pub(super) struct BoxDispatch<'a> {
    pub src: BufferWindow<'a>,
    pub dst: BufferWindow<'a>,
    pub transfers: Vec<BoxPair>,
}

impl Device {
    /// Returns the maximum span, in bytes, of a box that lies in one window of a buffer.
    fn window_span(&self, buffer: &wgpu::Buffer, unit_bytes: u64) -> u64 {
        let limits = self.limits();
        if buffer.size() <= limits.binding_bytes {
            return buffer.size();
        }
        let step = least_common_multiple(limits.offset_alignment, unit_bytes);
        (limits.binding_bytes / 2 / step).max(1) * step
    }

    /// Returns the window of a buffer for a box that starts at byte `offset` and spans at most
    /// [`Self::window_span`]. Windows overlap by half, so that every such box lies in one window.
    fn window<'a>(&self, buffer: &'a wgpu::Buffer, offset: u64, unit_bytes: u64) -> BufferWindow<'a> {
        let span = self.window_span(buffer, unit_bytes);
        if span == buffer.size() {
            return BufferWindow { buffer, start: 0, bytes: span };
        }
        let start = offset / span * span;
        BufferWindow { buffer, start, bytes: (buffer.size() - start).min(2 * span) }
    }

    /// Cuts transfers (in units of `unit_bytes`) to the size of windows and jobs, and groups them
    /// into dispatches by windows and class. `classify` returns the class of a cut transfer, and
    /// the transfer in the unit of the class.
    #[expect(clippy::mutable_key_type, reason = "wgpu buffers are compared and hashed by identity")]
    pub(super) fn box_dispatches<'a, C: Copy + Eq + std::hash::Hash>(
        &self,
        moves: impl Iterator<Item = BufferMove<'a>>,
        unit_bytes: u64,
        classify: impl Fn(&BoxPair) -> (C, BoxPair),
    ) -> Vec<(C, BoxDispatch<'a>)> {
        let mut indices: HashMap<(C, BufferWindow<'_>, BufferWindow<'_>), usize> = HashMap::new();
        let mut dispatches: Vec<(C, BoxDispatch<'_>)> = Vec::new();
        let (mut spans, mut parts) = (Vec::new(), Vec::new());
        for BufferMove { src, dst, mut transfer, base_bytes } in moves {
            transfer.src_offset += base_bytes[0] / unit_bytes;
            transfer.dst_offset += base_bytes[1] / unit_bytes;
            spans.clear();
            parts.clear();
            let (src_span, dst_span) =
                (self.window_span(src, unit_bytes) / unit_bytes, self.window_span(dst, unit_bytes) / unit_bytes);
            transfer.cut_to_spans(src_span, dst_span, &mut spans);
            for part in &spans {
                part.cut_to_cells(MAX_CELLS_OF_JOB, &mut parts);
            }
            for part in &parts {
                let mut part = *part;
                let src = self.window(src, part.src_offset * unit_bytes, unit_bytes);
                let dst = self.window(dst, part.dst_offset * unit_bytes, unit_bytes);
                part.src_offset -= src.start / unit_bytes;
                part.dst_offset -= dst.start / unit_bytes;
                let (class, part) = classify(&part);
                let index = *indices.entry((class, src, dst)).or_insert_with(|| {
                    dispatches.push((class, BoxDispatch { src, dst, transfers: Vec::new() }));
                    dispatches.len() - 1
                });
                dispatches[index].1.transfers.push(part);
            }
        }
        dispatches
    }

    /// Records moves of elements of `element_bytes` in one dispatch per shader and pair of windows.
    /// The boxes are checked and not empty; no destination overlaps another source or destination.
    pub(super) fn record_moves<'a>(
        &self,
        element_bytes: usize,
        moves: impl Iterator<Item = BufferMove<'a>>,
    ) -> Result<(), DeviceError> {
        let dispatches = if element_bytes < 4 {
            let unit = Unit::Small { cells_per_word: 4 / element_bytes as u64 };
            self.box_dispatches(moves, element_bytes as u64, |transfer| (unit, *transfer))
        } else {
            let words = element_bytes as u64 / 4;
            let in_words = moves
                .map(|in_elements| BufferMove { transfer: in_elements.transfer.split_units(words), ..in_elements });
            self.box_dispatches(in_words, 4, |transfer| match transfer.join_four_units() {
                Some(joined) => (Unit::FourWords, joined),
                None => (Unit::Word, *transfer),
            })
        };
        self.with_cache(|shaders: &mut MoveShaders| {
            for (unit, dispatch) in &dispatches {
                let shader = shaders.get_or_compile(self, *unit)?;
                let slots = match *unit {
                    Unit::Small { cells_per_word } => SlotKind::Word { cells: cells_per_word },
                    Unit::Word | Unit::FourWords => SlotKind::FourCells,
                };
                self.run_jobs(&shader, dispatch, slots)?;
            }
            Ok(())
        })
    }

    /// Dispatches a shader over the boxes of a dispatch. Bindings: source 0, destination 1, job
    /// table 2.
    pub(super) fn run_jobs(
        &self,
        shader: &Shader,
        dispatch: &BoxDispatch<'_>,
        slots: SlotKind,
    ) -> Result<(), DeviceError> {
        for jobs in dispatch.transfers.chunks(MAX_JOBS_OF_TABLE) {
            let table = JobTable::new(jobs, slots);
            let bindings = [
                ShaderBinding::Window(dispatch.src),
                ShaderBinding::Window(dispatch.dst),
                ShaderBinding::Words(&table.words),
            ];
            self.dispatch("a transfer", shader, &bindings.map(Some), table.groups)?;
        }
        Ok(())
    }

    /// Distributes workgroups over two dimensions; the shader skips surplus workgroups.
    pub(super) fn workgroup_grid(&self, groups: u64) -> (u32, u32) {
        let limit = u64::from(self.limits().workgroups);
        if groups <= limit { (groups as u32, 1) } else { (limit as u32, groups.div_ceil(limit) as u32) }
    }
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Self::Word => "move_words",
            Self::FourWords => "move_fours",
            Self::Small { .. } => "move_small",
        }
    }

    pub(super) fn composer(self) -> WgslComposer {
        let words = |unit: &str| jobs().alias("Unit", unit).module(wgsl_module!("../../../shaders/move_words.wgsl"));
        match self {
            Self::Word => words("u32"),
            Self::FourWords => words("vec4<u32>"),
            Self::Small { .. } => jobs().module(wgsl_module!("../../../shaders/move_small.wgsl")),
        }
    }
}

impl MoveShaders {
    fn get_or_compile(&mut self, device: &Device, unit: Unit) -> Result<Shader, DeviceError> {
        let name = unit.name();
        if let Some(shader) = self.0.get(name) {
            return Ok(shader.clone());
        }
        let shader = device.compile_shader(name, &compose(&unit.composer())?)?;
        self.0.insert(name, shader.clone());
        Ok(shader)
    }
}
