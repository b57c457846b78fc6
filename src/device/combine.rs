//! Combining arriving cells with those that are there.

use std::collections::HashMap;

use super::boxes::{Piece, Strided, Transfer, check_pieces};
use super::combine_source::combine_source;
use super::copies::number;
use super::host_combine::host_combine;
use super::host_put::HostPut;
use super::memory::{SLICE_BYTES, Staging};
use super::movers::{Move, common_multiple};
use super::order::{Step, any_hazard, layers};
use super::scatter::check_destinations;
use super::slices::slices;
use super::tables::Slots;
use super::{BoxOf, Device, Operator};
use crate::element::{Capabilities, ElementInfo};
use crate::error::DeviceError;

/// Pipelines by element type and operator.
#[derive(Default)]
struct Combiners(HashMap<(ElementInfo, Operator), wgpu::ComputePipeline>);

impl Device {
    /// Combines the cells of a payload with those of boxes: `cell = operator(arriving, cell)`. The payload is laid out
    /// as for [`Device::scatter`].
    ///
    /// Boxes may overlap: pieces are combined in the order in which they are listed. The arithmetic is always done by
    /// the same means, whether cells come from a payload or from [`Device::combine_boxes`]: by the host where it maps the
    /// chunks, the operator is built in and the element a 32-bit scalar or a vector of them, else by one kernel. Recorded work
    /// comes first, later work sees the new cells.
    ///
    /// Local. Cost: by the host one pass over payload and boxes; by a kernel one upload and one submission for every 8 MiB,
    /// one dispatch for the boxes of a buffer that do not overlap.
    ///
    /// # Errors
    /// An operator that does not exist for the element or does not compile, an element type that the adapter cannot
    /// compute with, a box that leaves its buffer or the payload, or a failing device.
    pub fn combine(
        &self,
        element: &ElementInfo,
        payload: &[u8],
        pieces: &[Piece],
        operator: &Operator,
    ) -> Result<(), DeviceError> {
        let what = format!("combine with {operator}");
        check_pieces(&what, element.bytes, pieces, payload.len() as u64)?;
        check_destinations(&what, pieces.iter().map(|piece| &piece.view))?;
        self.check(&what)?;
        if let Some(put) = self.host_combiner(element, operator)? {
            return self.put_mapped(payload, pieces, &put);
        }
        let pipeline = self.combiner(element, operator)?;
        let boxes: Vec<_> = pieces.iter().map(|piece| (piece.buffer.id() as usize, piece.view)).collect();
        let layers = layers(boxes);
        let limit = SLICE_BYTES.min(self.limits().binding_bytes);
        let align = common_multiple(16, element.bytes as u64);
        for slice in slices(pieces, element.bytes as u64, limit, align) {
            let packed = self.upload(&slice, payload, false)?;
            let moves = slice.parts.iter().map(|part| {
                let transfer = Transfer::new(&Strided::dense(0, part.view.extents), &part.view);
                let dst = pieces[part.piece].buffer.raw();
                (layers[part.piece], Move { src: &packed.on_device, dst, transfer, base: [part.staged, 0] })
            });
            self.record_combining(&pipeline, element, moves.collect())?;
            self.uploaded(packed)?;
        }
        Ok(())
    }

    /// Combines boxes of this device into others of equal extents, as if every source were read before anything is
    /// written; see [`Device::combine`]. Destinations may overlap each other and are combined in the order listed.
    ///
    /// Local. Cost: one dispatch for the boxes between two buffers that do not overlap; where a destination overlaps a
    /// source, temporary memory for all sources.
    ///
    /// # Errors
    /// As [`Device::combine`], and extents that differ.
    pub fn combine_boxes(
        &self,
        element: &ElementInfo,
        pairs: &[(BoxOf, BoxOf)],
        operator: &Operator,
    ) -> Result<(), DeviceError> {
        let what = format!("combine with {operator}");
        let numbered = number(&what, element.bytes, pairs)?;
        self.check(&what)?;
        let all: Vec<usize> = (0..numbered.copies.len()).collect();
        if let Some(put) = self.host_combiner(element, operator)? {
            let ahead = any_hazard(&numbered.copies);
            let steps = if ahead { vec![Step::Staged(all)] } else { vec![Step::Direct(all)] };
            return if numbered.copies.is_empty() { Ok(()) } else { self.copy_mapped(&numbered, &steps, &put) };
        }
        let pipeline = self.combiner(element, operator)?;
        if numbered.copies.is_empty() {
            return Ok(());
        }
        let layers = layers(numbered.copies.iter().map(|copy| copy.dst).collect());
        if !any_hazard(&numbered.copies) {
            let moves = all.iter().map(|&i| (layers[i], numbered.between(i, None, None)));
            return self.record_combining(&pipeline, element, moves.collect());
        }
        let aside = self.read_aside(&numbered, &all)?;
        let places = numbered.places(&all).0;
        let moves = all.iter().map(|&i| (layers[i], numbered.between(i, Some((&aside, places[i])), None)));
        self.record_combining(&pipeline, element, moves.collect())?;
        self.core().memory.keep_staging(Staging::Device, aside);
        Ok(())
    }

    /// Records moves with their layers, one layer after the other.
    fn record_combining(
        &self,
        pipeline: &wgpu::ComputePipeline,
        element: &ElementInfo,
        mut moves: Vec<(usize, Move)>,
    ) -> Result<(), DeviceError> {
        moves.sort_by_key(|(layer, _)| *layer);
        for layer in moves.chunk_by(|a, b| a.0 == b.0) {
            let moves = layer.iter().map(|(_, one)| one.clone());
            for (_, dispatch) in self.dispatches(moves, element.bytes as u64, |t| ((), *t)) {
                self.run_jobs(pipeline, &dispatch, Slots::Cells)?;
            }
        }
        Ok(())
    }

    /// What the host does with arriving cells, where chunks are mapped and it knows the operator; else a kernel does it. This
    /// depends on adapter, element and operator alone, so that the bits do not depend on where cells come from.
    pub(super) fn host_combiner(
        &self,
        element: &ElementInfo,
        operator: &Operator,
    ) -> Result<Option<HostPut<'static>>, DeviceError> {
        operator.check(element)?;
        let cells = if self.host_mapped() { host_combine(element, operator) } else { None };
        Ok(cells.map(|cells| HostPut { cells, reads: true }))
    }

    /// The pipeline of an operator, made at its first use on this device.
    fn combiner(&self, element: &ElementInfo, operator: &Operator) -> Result<wgpu::ComputePipeline, DeviceError> {
        self.with_cache(|combiners: &mut Combiners| {
            let key = (*element, operator.clone());
            if let Some(pipeline) = combiners.0.get(&key) {
                return Ok(pipeline.clone());
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
            let pipeline = self.compute_pipeline(&format!("operator {operator}"), &source.text)?;
            combiners.0.insert(key, pipeline.clone());
            Ok(pipeline)
        })
    }
}
