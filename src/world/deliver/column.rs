//! [`Column`]: name and type of delivered cells.

use std::ops::Range;

use crate::array::CellSequence;
use crate::device::PackedBox;
use crate::element::ElementInfo;
use crate::error::Result;
use crate::transport::Payload;
use crate::world::World;

/// Column of a delivery: name of the array that arrives, and its element type. The same on every
/// rank.
pub struct Column<'a> {
    /// Name of the array, and of the column in errors.
    pub name: &'a str,
    /// Element type.
    pub element: &'static ElementInfo,
}

impl CellSequence {
    /// Packs the cells of several ranges, concatenated without padding.
    pub(crate) fn pack(&self, world: &World, ranges: impl Iterator<Item = Range<u64>>) -> Result<Payload> {
        let size = self.element().bytes as u64;
        let (mut pieces, mut bytes, mut end, mut padded) = (Vec::new(), 0, 0, false);
        for (buffer, view) in ranges.flat_map(|range| self.boxes(range)) {
            padded |= end > bytes;
            pieces.push(PackedBox { buffer, view, payload_offset: end });
            bytes += view.cells() * size;
            end = (end + view.cells() * size).next_multiple_of(4);
        }
        let staged = world.pack(self.element().bytes, &pieces, end)?;
        if !padded {
            return Ok(Box::new(staged.part(0..bytes as usize).expect("a range of this payload")));
        }
        // The device packs each box at a multiple of 4 bytes, so that boxes of small elements have
        // gaps between them.
        let mut dense = Vec::with_capacity(bytes as usize);
        for PackedBox { view, payload_offset, .. } in pieces {
            dense.extend_from_slice(&staged.as_ref()[payload_offset as usize..][..(view.cells() * size) as usize]);
        }
        Ok(Box::new(dense))
    }
}
