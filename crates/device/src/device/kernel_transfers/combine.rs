//! Combination of arriving cells with the cells of a chunk, by kernels.

use super::box_dispatch::BufferMove;
use super::combine_source::combine_source;
use super::copy_boxes::stage_sources;
use super::job_table::SlotKind;
use super::shader::Shader;
use super::staging_slice::cut_slices;
use crate::device::box_overlap::{IndexedBox, dispatch_levels};
use crate::device::box_pair::{BoxPair, least_common_multiple};
use crate::device::boxes::{PackedBox, StridedBox};
use crate::device::cache_capacity::{cache_capacity, estimate_compiled_bytes};
use crate::device::copy_order::has_hazard;
use crate::device::copy_set::CopySet;
use crate::device::memory_pool::SLICE_BYTES;
use crate::device::transfer_backend::CellMerge;
use crate::device::{Device, Operator};
use crate::element::{Capabilities, ElementInfo};
use crate::error::DeviceError;
use crate::plan::cache::WeightedCache;

struct CombineShaders(WeightedCache<(ElementInfo, Operator), Shader>);

impl Default for CombineShaders {
    fn default() -> Self {
        let bytes = |(_, operator): &(ElementInfo, Operator), _: &_| match operator {
            Operator::Custom { wgsl, .. } => estimate_compiled_bytes(wgsl),
            _ => estimate_compiled_bytes(""),
        };
        Self(WeightedCache::new(cache_capacity(), bytes))
    }
}

/// Compiled combining shader of an operator for an element type.
pub(super) struct CombineKernel<'a> {
    element: &'a ElementInfo,
    shader: Shader,
}

/// Move of cells that are combined, with its dispatch level. Moves of one level do not overlap;
/// levels run in ascending order.
struct LeveledMove<'a> {
    level: usize,
    buffer_move: BufferMove<'a>,
}

impl CombineKernel<'_> {
    /// Records the combination of the cells of a payload with the cells of boxes.
    pub(super) fn combine_payload(
        &self,
        device: &Device,
        payload: &[u8],
        pieces: &[PackedBox<'_>],
    ) -> Result<(), DeviceError> {
        let boxes = pieces.iter().map(|piece| IndexedBox { buffer: piece.buffer.id() as usize, view: piece.view });
        let levels = dispatch_levels(boxes.collect());
        let limit = SLICE_BYTES.min(device.limits().binding_bytes);
        let align = least_common_multiple(16, self.element.bytes as u64);
        for slice in cut_slices(pieces, self.element.bytes as u64, limit, align) {
            let upload = device.upload_slice(payload, &slice)?;
            let moves = slice.parts.iter().map(|part| {
                let transfer = BoxPair::new(&StridedBox::dense(0, part.view.extents), &part.view);
                let (src, dst) = (&upload.on_device, pieces[part.piece].buffer.raw());
                let buffer_move = BufferMove { src, dst, transfer, base_bytes: [part.staged_offset, 0] };
                LeveledMove { level: levels[part.piece], buffer_move }
            });
            self.record_levels(device, moves.collect())?;
            device.submit_upload(upload)?;
        }
        Ok(())
    }

    /// Records the combination of the cells of source boxes with the cells of destination boxes.
    pub(super) fn combine_boxes(&self, device: &Device, set: &CopySet<'_>) -> Result<(), DeviceError> {
        if set.copies.is_empty() {
            return Ok(());
        }
        let levels = dispatch_levels(set.copies.iter().map(|copy| copy.dst).collect());
        let all: Vec<usize> = (0..set.copies.len()).collect();
        if !has_hazard(&set.copies) {
            let moves = all.iter().map(|&copy| LeveledMove { level: levels[copy], buffer_move: set.direct_move(copy) });
            return self.record_levels(device, moves.collect());
        }
        let staged = stage_sources(device, set, &all)?;
        let offsets = set.temporary_layout(&all).offsets;
        let moves = all.iter().map(|&copy| LeveledMove {
            level: levels[copy],
            buffer_move: set.move_from_staged(copy, &staged, offsets[copy]),
        });
        self.record_levels(device, moves.collect())
    }

    fn record_levels(&self, device: &Device, mut moves: Vec<LeveledMove<'_>>) -> Result<(), DeviceError> {
        moves.sort_by_key(|leveled| leveled.level);
        for level in moves.chunk_by(|a, b| a.level == b.level) {
            let moves = level.iter().map(|leveled| leveled.buffer_move.clone());
            for (_, dispatch) in device.box_dispatches(moves, self.element.bytes as u64, |transfer| ((), *transfer)) {
                device.run_jobs(&self.shader, &dispatch, SlotKind::Cell)?;
            }
        }
        Ok(())
    }
}

impl Device {
    /// Returns the compiled combining shader of an operator, from the cache of this device.
    pub(super) fn combine_kernel<'a>(&self, merge: &CellMerge<'a>) -> Result<CombineKernel<'a>, DeviceError> {
        let CellMerge { element, operator } = *merge;
        self.with_cache(|shaders: &mut CombineShaders| {
            shaders.0.bound(self.rank_share(cache_capacity()));
            let key = (*element, operator.clone());
            if let Some(shader) = shaders.0.get(&key) {
                return Ok(CombineKernel { element, shader });
            }
            let adapter = &self.adapter().name;
            if let Err(error) = element.supported_by(Capabilities::from(self.features()), adapter) {
                return Err(DeviceError::Operator {
                    operator: operator.name().to_string(),
                    element: element.name.to_string(),
                    message: error.to_string(),
                });
            }
            let source = combine_source(element, operator)?;
            let shader = self.compile_shader(&format!("operator {operator}"), &source.text)?;
            shaders.0.insert(key, shader.clone());
            Ok(CombineKernel { element, shader })
        })
    }
}
