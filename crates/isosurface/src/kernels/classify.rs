//! Classification of bricks by kernels.

use zippy::kernel::Binding;
use zippy::{Result, World};

use super::items::{CELL_WORDS, ITEM_WORDS, Items, LANES, NONE};
use super::{Kernels, with_chunk};
use crate::field::bricked_chunk::BrickedChunk;
use crate::points::numbering::Words;

/// Counts and ambiguous cells of all items.
pub(crate) struct BrickCounts {
    /// Per item: vertices on edges, triangles of unambiguous cells, ambiguous cells.
    pub counts: Vec<[u32; 3]>,
    /// Crossed edges of border items.
    pub borders: Vec<Words<3>>,
    /// Ambiguous cells, in the order of items and cells.
    pub cells: Vec<AmbiguousCell>,
}

impl BrickCounts {
    pub(crate) fn vertices(&self, items: &Items, meshes: usize) -> Vec<u64> {
        let mut vertices = vec![0; meshes];
        items.all.iter().zip(&self.counts).for_each(|(item, count)| vertices[item.mesh] += u64::from(count[0]));
        vertices
    }
}

/// Ambiguous cell, which the host decides.
pub(crate) struct AmbiguousCell {
    pub item: u32,
    /// Position relative to the brick's first sample.
    pub at: [usize; 3],
    pub samples: [f32; 8],
}

impl Kernels {
    /// Classifies the items of chunks for the isovalues of their meshes. Reads back once, or more
    /// often if there are more ambiguous cells than bricks. `None` if a buffer is too small.
    pub(crate) fn classify(
        &self,
        world: &World,
        items: &Items,
        chunks: &[(&BrickedChunk, Binding)],
        isovalues: &[f32],
    ) -> Result<Option<BrickCounts>> {
        let (count, work) = (items.all.len(), &mut *self.work.borrow_mut());
        if count == 0 {
            return Ok(Some(BrickCounts { counts: Vec::new(), borders: Vec::new(), cells: Vec::new() }));
        }
        let counts = 1;
        let borders = counts + 3 * count;
        let cells = borders + 48 * items.borders;
        // Most scans have fewer ambiguous cells than bricks.
        let usual = count + LANES;
        let most_words = world.limits().buffer_bytes / 4;
        let longest = [count as u64 * ITEM_WORDS, items.slots() as u64, (cells + CELL_WORDS * usual) as u64];
        if longest.iter().any(|&words| words > most_words) {
            return Ok(None);
        }
        let list: Vec<[u32; 4]> = (items.all.iter())
            .map(|item| {
                let brick = chunks[item.chunk].0.brick_number(item.at) as u32;
                let slots = items.first_slot(item.chunk, item.mesh) as u32;
                [brick, isovalues[item.mesh].to_bits(), item.border.unwrap_or(NONE), slots]
            })
            .collect();
        work.items.clear();
        work.items.append(&list)?;
        work.slots.clear();
        work.slots.set_len(items.slots() as u64)?;
        work.slots.all().fill(NONE)?;
        work.words.clear();
        work.words.set_len(count as u64 * ITEM_WORDS)?;
        let mut most = ((work.found.capacity() as usize).saturating_sub(cells) / CELL_WORDS).max(usual);
        loop {
            work.found.clear();
            work.found.set_len((cells + CELL_WORDS * most) as u64)?;
            work.found.at(0..1).write(&[0])?;
            for (number, (part, samples)) in chunks.iter().enumerate() {
                let range = items.of_chunk(number);
                if range.is_empty() {
                    continue;
                }
                let kernels = self.sample_kernels(world, samples.element)?;
                let call = kernels.inside.call().read("samples", samples.clone());
                let call = call.read("items", work.items.at(range.start as u64..range.end as u64));
                let call = call.read("shapes", self.shapes.all()).write("words", work.words.all());
                let call = call.write("slots", work.slots.all()).update("found", work.found.all());
                let call = with_chunk(call, part).param("dispatch.first", range.start as i32);
                let call = call.param("dispatch.counts", counts as i32).param("dispatch.borders", borders as i32);
                let call = call.param("dispatch.cells", cells as i32).param("dispatch.most", most as u32);
                call.over([range.len() * LANES]).run()?;
            }
            let first = (cells + CELL_WORDS * usual) as u64;
            let mut found = work.found.at(0..first).read()?;
            let all = (cells + CELL_WORDS * found[0] as usize) as u64;
            if found[0] as usize > most {
                if all > most_words {
                    return Ok(None);
                }
                most = found[0] as usize;
                continue;
            }
            if all > first {
                found.extend(work.found.at(first..all).read()?);
            }
            let words = |words: &[u32; 48]| std::array::from_fn(|kind| words.as_chunks::<16>().0[kind]);
            let mut ambiguous: Vec<AmbiguousCell> =
                found[cells..].as_chunks::<CELL_WORDS>().0.iter().take(found[0] as usize).map(cell).collect();
            ambiguous.sort_by_key(|cell| (cell.item, cell.at[2], cell.at[1], cell.at[0]));
            return Ok(Some(BrickCounts {
                counts: found[counts..borders].as_chunks().0.to_vec(),
                borders: found[borders..cells].as_chunks().0.iter().map(words).collect(),
                cells: ambiguous,
            }));
        }
    }
}

fn cell(&[item, place, samples @ ..]: &[u32; CELL_WORDS]) -> AmbiguousCell {
    let at = [place & 31, place >> 5 & 3, place >> 7].map(|at| at as usize);
    AmbiguousCell { item, at, samples: samples.map(f32::from_bits) }
}
