//! [`read`]: reads the chunks of a store that overlap this rank's cells.

use zippy::Result;
use zippy::array::GlobalArray;
use zippy::element::Element;
use zippy::extents::Index;
use zippy::region::Region;
use zippy_files::FileError;

use super::stored::StoredArray;
use crate::array::staging::ranges;
use crate::array::window::Window;

/// Bytes of cells per transfer to the device.
const PART_BYTES: u64 = 8 << 20;

/// Reads the cells of this rank's chunks, field by field. Local.
///
/// # Errors
/// A piece that cannot be read or is damaged; a device failure.
pub(super) fn read<T: Element, const D: usize>(
    array: &GlobalArray<T, D>,
    stored: Vec<StoredArray>,
    window: &Window,
) -> Result<()> {
    let most = (PART_BYTES / T::INFO.bytes as u64).max(1);
    let mut fields: Vec<FieldReader> = stored.into_iter().map(|stored| FieldReader { stored, last: None }).collect();
    for chunk in array.chunks().filter(|chunk| !chunk.region().is_empty()) {
        let touched = fields[0].stored.touching(&window.in_file(&chunk.region()));
        for piece in touched.points() {
            let Some(cells) = window.in_array(&fields[0].stored.region(&piece)) else { continue };
            let parts = own_parts(array, &cells);
            // Read each piece once, for all chunks of this rank.
            if parts.iter().map(|(id, _)| *id).min() != Some(chunk.id()) {
                continue;
            }
            for (id, part) in parts {
                let Some(target) = array.chunks().find(|chunk| chunk.id() == id) else { continue };
                for part in part.cut(most) {
                    let mut values = vec![T::zeroed(); part.cells() as usize];
                    let bytes = bytemuck::cast_slice_mut(&mut values);
                    fields.iter_mut().try_for_each(|field| field.fill(window, &part, bytes, T::INFO.bytes))?;
                    target.at_global(ranges::<D>(&part)).write(&values)?;
                }
            }
        }
    }
    Ok(())
}

/// Parts of a box in this rank's chunks, with the chunks' ids.
fn own_parts<T: Element, const D: usize>(array: &GlobalArray<T, D>, cells: &Region) -> Vec<(usize, Region)> {
    let (core, mut parts) = (array.core(), Vec::new());
    core.chunks().touching(cells, |id, part| {
        if core.ownership().owner(id).rank == core.rank() {
            parts.push((id, part));
        }
    });
    parts
}

/// One array of the store, with the piece that was read last.
struct FieldReader {
    stored: StoredArray,
    last: Option<(Index, Option<Vec<u8>>)>,
}

impl FieldReader {
    /// Fills this field in the cells of a box of the array.
    fn fill(
        &mut self,
        window: &Window,
        part: &Region,
        values: &mut [u8],
        cell_bytes: usize,
    ) -> std::result::Result<(), FileError> {
        for piece in self.stored.touching(&window.in_file(part)).points() {
            let region = self.stored.region(&piece);
            let Some(cells) = window.in_array(&region).and_then(|cells| cells.intersect(part)) else { continue };
            if self.last.as_ref().is_none_or(|(number, _)| *number != piece) {
                // Free the old piece first.
                self.last = None;
                self.last = Some((piece, self.stored.read(&piece)?));
            }
            let found = self.last.as_ref().and_then(|(_, found)| found.as_deref());
            let (bytes, row) = (self.stored.leaf.bytes(), (cells.end[0] - cells.start[0]) as usize);
            let mut end = cells.end;
            end[0] = cells.start[0] + 1;
            for first in Region::between(cells.start, end).points() {
                let to = &mut values[part.offset(&first) as usize * cell_bytes..][..row * cell_bytes];
                let from = found.map(|found| &found[region.offset(&window.cell_in_file(&first)) as usize * bytes..]);
                self.fill_row(to, from, window.step[0] as usize, cell_bytes);
            }
        }
        Ok(())
    }

    /// Fills this field in a row of cells from numbers with the stride `step`.
    fn fill_row(&self, to: &mut [u8], from: Option<&[u8]>, step: usize, cell_bytes: usize) {
        let (bytes, offset) = (self.stored.leaf.bytes(), self.stored.leaf.offset);
        match from {
            Some(from) if bytes == cell_bytes && step == 1 => to.copy_from_slice(&from[..to.len()]),
            Some(from) => {
                let cells = to.chunks_exact_mut(cell_bytes).zip(from.chunks(step.saturating_mul(bytes)));
                cells.for_each(|(to, from)| to[offset..offset + bytes].copy_from_slice(&from[..bytes]));
            }
            None => {
                let cells = to.chunks_exact_mut(cell_bytes);
                cells.for_each(|to| to[offset..offset + bytes].copy_from_slice(&self.stored.fill));
            }
        }
    }
}
