//! [`read`]: reads the chunks of a store that overlap this rank's cells.

use zippy::Result;
use zippy::array::GlobalArray;
use zippy::element::Element;
use zippy::extents::Index;
use zippy::region::Region;
use zippy_files::FileError;

use super::stored::StoredArray;
use crate::array::selection::FileSelection;
use crate::array::staging::ranges;

const PART_BYTES: u64 = 8 << 20;

/// Reads this rank's cells, field by field. Local.
pub(super) fn read<T: Element, const D: usize>(
    array: &GlobalArray<T, D>,
    stored: Vec<StoredArray>,
    selection: &FileSelection,
) -> Result<()> {
    let most = (PART_BYTES / T::INFO.bytes as u64).max(1);
    let mut fields: Vec<FieldReader> =
        stored.into_iter().map(|stored| FieldReader { stored, cached_chunk: None }).collect();
    for chunk in array.chunks().filter(|chunk| !chunk.region().is_empty()) {
        let store_chunks = fields[0].stored.chunks_overlapping(&selection.in_file(&chunk.region()));
        for store_chunk in store_chunks.points() {
            let Some(cells) = selection.in_array(&fields[0].stored.region(&store_chunk)) else { continue };
            let parts = local_parts(array, &cells);
            if parts.iter().map(|(id, _)| *id).min() != Some(chunk.id()) {
                continue;
            }
            for (id, part) in parts {
                let Some(target) = array.chunks().find(|chunk| chunk.id() == id) else { continue };
                for part in part.cut(most) {
                    let mut values = vec![T::zeroed(); part.cells() as usize];
                    let bytes = bytemuck::cast_slice_mut(&mut values);
                    fields.iter_mut().try_for_each(|field| field.fill(selection, &part, bytes, T::INFO.bytes))?;
                    target.at_global(ranges::<D>(&part)).write(&values)?;
                }
            }
        }
    }
    Ok(())
}

fn local_parts<T: Element, const D: usize>(array: &GlobalArray<T, D>, cells: &Region) -> Vec<(usize, Region)> {
    let (core, mut parts) = (array.core(), Vec::new());
    core.chunks().touching(cells, |id, part| {
        if core.ownership().owner(id).rank == core.rank() {
            parts.push((id, part));
        }
    });
    parts
}

/// Reader of one array of the store, which caches a chunk.
struct FieldReader {
    stored: StoredArray,
    cached_chunk: Option<(Index, Option<Vec<u8>>)>,
}

impl FieldReader {
    fn fill(
        &mut self,
        selection: &FileSelection,
        part: &Region,
        values: &mut [u8],
        cell_bytes: usize,
    ) -> std::result::Result<(), FileError> {
        for store_chunk in self.stored.chunks_overlapping(&selection.in_file(part)).points() {
            let region = self.stored.region(&store_chunk);
            let Some(cells) = selection.in_array(&region).and_then(|cells| cells.intersect(part)) else { continue };
            if self.cached_chunk.as_ref().is_none_or(|(number, _)| *number != store_chunk) {
                // Free the old chunk first.
                self.cached_chunk = None;
                self.cached_chunk = Some((store_chunk, self.stored.read(&store_chunk)?));
            }
            let numbers = self.cached_chunk.as_ref().and_then(|(_, numbers)| numbers.as_deref());
            let (bytes, row) = (self.stored.leaf.bytes(), (cells.end[0] - cells.start[0]) as usize);
            let mut end = cells.end;
            end[0] = cells.start[0] + 1;
            for first in Region::between(cells.start, end).points() {
                let to = &mut values[part.offset(&first) as usize * cell_bytes..][..row * cell_bytes];
                let from =
                    numbers.map(|numbers| &numbers[region.offset(&selection.cell_in_file(&first)) as usize * bytes..]);
                self.fill_row(to, from, selection.step[0] as usize, cell_bytes);
            }
        }
        Ok(())
    }

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
