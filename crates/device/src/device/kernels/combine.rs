//! Combining arriving cells with those that are there, by kernels.

use super::combine_source::combine_source;
use super::copies::read_aside;
use super::movers::BufferMove;
use super::shader::Shader;
use super::slices::slices;
use super::tables::Slots;
use crate::device::boxes::{BoxPair, PackedBox, Strided, common_multiple};
use crate::device::cache_capacity::{cache_capacity, estimate_compiled_bytes};
use crate::device::memory::SLICE_BYTES;
use crate::device::numbered::Numbered;
use crate::device::order::{any_hazard, layers};
use crate::device::{Device, Operator};
use crate::element::{Capabilities, ElementInfo};
use crate::error::DeviceError;
use crate::plan::cache::WeightedCache;

/// Shaders by element type and operator.
struct Combiners(WeightedCache<(ElementInfo, Operator), Shader>);

impl Default for Combiners {
    fn default() -> Self {
        let bytes = |(_, operator): &(ElementInfo, Operator), _: &_| match operator {
            Operator::Custom { wgsl, .. } => estimate_compiled_bytes(wgsl),
            _ => estimate_compiled_bytes(""),
        };
        Self(WeightedCache::new(cache_capacity(), bytes))
    }
}

/// Combines a payload with boxes, by the shader of an operator.
pub(super) fn payload(
    on: &Device,
    (element, shader): (&ElementInfo, &Shader),
    payload: &[u8],
    pieces: &[PackedBox],
) -> Result<(), DeviceError> {
    let boxes: Vec<_> = pieces.iter().map(|piece| (piece.buffer.id() as usize, piece.view)).collect();
    let layers = layers(boxes);
    let limit = SLICE_BYTES.min(on.limits().binding_bytes);
    let align = common_multiple(16, element.bytes as u64);
    for slice in slices(pieces, element.bytes as u64, limit, align) {
        let packed = on.upload(&slice, payload, false)?;
        let moves = slice.parts.iter().map(|part| {
            let transfer = BoxPair::new(&Strided::dense(0, part.view.extents), &part.view);
            let dst = pieces[part.piece].buffer.raw();
            (layers[part.piece], BufferMove { src: &packed.on_device, dst, transfer, base: [part.staged, 0] })
        });
        on.record_combining(shader, element, moves.collect())?;
        on.uploaded(packed)?;
    }
    Ok(())
}

/// Combines boxes with boxes, by the shader of an operator.
pub(super) fn boxes(on: &Device, (element, shader): (&ElementInfo, &Shader), of: &Numbered) -> Result<(), DeviceError> {
    let all: Vec<usize> = (0..of.copies.len()).collect();
    if of.copies.is_empty() {
        return Ok(());
    }
    let layers = layers(of.copies.iter().map(|copy| copy.dst).collect());
    if !any_hazard(&of.copies) {
        let moves = all.iter().map(|&i| (layers[i], of.between(i, None, None)));
        return on.record_combining(shader, element, moves.collect());
    }
    let aside = read_aside(on, of, &all)?;
    let places = of.places(&all).0;
    let moves = all.iter().map(|&i| (layers[i], of.between(i, Some((&*aside, places[i])), None)));
    on.record_combining(shader, element, moves.collect())
}

impl Device {
    /// Records moves with their layers, one layer after the other.
    fn record_combining(
        &self,
        shader: &Shader,
        element: &ElementInfo,
        mut moves: Vec<(usize, BufferMove)>,
    ) -> Result<(), DeviceError> {
        moves.sort_by_key(|(layer, _)| *layer);
        for layer in moves.chunk_by(|a, b| a.0 == b.0) {
            let moves = layer.iter().map(|(_, one)| one.clone());
            for (_, dispatch) in self.dispatches(moves, element.bytes as u64, |t| ((), *t)) {
                self.run_jobs(shader, &dispatch, Slots::Cells)?;
            }
        }
        Ok(())
    }

    /// The shader of an operator, made at its first use on this device.
    pub(super) fn combiner(&self, element: &ElementInfo, operator: &Operator) -> Result<Shader, DeviceError> {
        self.with_cache(|combiners: &mut Combiners| {
            combiners.0.bound(self.share_of(cache_capacity()));
            let key = (*element, operator.clone());
            if let Some(shader) = combiners.0.get(&key) {
                return Ok(shader);
            }
            let adapter = &self.adapter().name;
            if let Err(error) = element.supported_by(Capabilities::from(self.features()), adapter) {
                return Err(DeviceError::Operator {
                    operator: operator.name().to_string(),
                    element: element.name.to_string(),
                    message: error.to_string(),
                });
            }
            let source = combine_source(element, operator);
            let shader = self.compile_shader(&format!("operator {operator}"), &source.text)?;
            combiners.0.insert(key, shader.clone());
            Ok(shader)
        })
    }
}
