//! What kernels find in bricks.

use zippy::kernel::Binding;
use zippy::{Result, World};

use super::items::{ITEM_WORDS, Items};
use super::{Kernels, LANES, with_part};
use crate::error::IsosurfaceError;
use crate::field::part::Part;
use crate::points::numbering::Words;

/// Words of an ambiguous cell that is told to the host.
const CELL_WORDS: usize = 10;

/// So many can be told.
const MOST_CELLS: u64 = i32::MAX as u64 / CELL_WORDS as u64;

/// Of items that no place has.
const NONE: u32 = u32::MAX;

/// What there is in bricks.
pub struct Found {
    /// Of each item: vertices on edges, triangles of cells that are not ambiguous, ambiguous cells.
    pub counts: Vec<[u32; 3]>,
    /// Edges, of the items that are borders.
    pub borders: Vec<Words<3>>,
    /// In the order of items and cells.
    pub cells: Vec<AmbiguousCell>,
}

/// A cell that the host decides.
pub struct AmbiguousCell {
    pub item: u32,
    /// Counted from the brick's first sample.
    pub at: [usize; 3],
    pub samples: [f32; 8],
}

impl Kernels {
    /// Looks at items of chunks with these samples, for the isovalues of their meshes. One read-back, but where there are
    /// more ambiguous cells than ever before.
    ///
    /// # Errors
    /// A device fails.
    pub fn look(&self, world: &World, items: &Items, chunks: &[(&Part, Binding)], isovalues: &[f32]) -> Result<Found> {
        let (count, room) = (items.all.len(), &mut *self.room.borrow_mut());
        if count == 0 {
            return Ok(Found { counts: Vec::new(), borders: Vec::new(), cells: Vec::new() });
        }
        let list: Vec<[u32; 4]> = (items.all.iter())
            .map(|item| {
                let brick = chunks[item.piece].0.brick_number(item.at) as u32;
                let slots = items.first_slot(item.piece, item.mesh) as u32;
                [brick, isovalues[item.mesh].to_bits(), item.border.unwrap_or(NONE), slots]
            })
            .collect();
        room.items.set_len(0)?;
        room.items.append(&list)?;
        room.slots.set_len(items.slots() as u64)?;
        room.slots.all().fill(NONE)?;
        room.words.set_len(count as u64 * ITEM_WORDS)?;
        let counts = 1;
        let borders = counts + 3 * count;
        let cells = borders + 48 * items.borders;
        loop {
            // Most scans have fewer ambiguous cells than bricks.
            let most = (room.found.capacity() as usize).saturating_sub(cells) / CELL_WORDS;
            let most = most.max(count + LANES);
            if cells + CELL_WORDS * most > i32::MAX as usize {
                let what = "bricks and ambiguous cells in an extraction";
                return Err(IsosurfaceError::TooMany { rank: world.rank(), what, most: MOST_CELLS }.into());
            }
            let words = (cells + CELL_WORDS * most) as u64;
            room.found.set_len(words)?;
            room.found.at(0..1).write(&[0])?;
            for (number, (part, samples)) in chunks.iter().enumerate() {
                let range = items.of_piece(number);
                if range.is_empty() {
                    continue;
                }
                let kernels = self.of_samples(world, samples.element)?;
                let call = kernels.inside.call().read("samples", samples.clone());
                let call = call.read("items", room.items.at(range.start as u64..range.end as u64));
                let call = call.read("shapes", self.shapes.all()).write("words", room.words.all());
                let call = call.write("slots", room.slots.all()).update("found", room.found.all());
                let call = with_part(call, part).param("look.first", range.start as i32);
                let call = call.param("look.counts", counts as i32).param("look.borders", borders as i32);
                let call = call.param("look.cells", cells as i32).param("look.most", most as u32);
                call.over([range.len() * LANES]).run()?;
            }
            let told = room.found.all().read()?;
            if told[0] as usize > most {
                // Not read where it was not written.
                room.found.set_len((cells + CELL_WORDS * told[0] as usize) as u64)?;
                continue;
            }
            let words = |words: &[u32; 48]| std::array::from_fn(|kind| words.as_chunks::<16>().0[kind]);
            let mut ambiguous: Vec<AmbiguousCell> =
                told[cells..].as_chunks::<CELL_WORDS>().0.iter().take(told[0] as usize).map(cell).collect();
            ambiguous.sort_by_key(|cell| (cell.item, cell.at[2], cell.at[1], cell.at[0]));
            return Ok(Found {
                counts: told[counts..borders].as_chunks().0.to_vec(),
                borders: told[borders..cells].as_chunks().0.iter().map(words).collect(),
                cells: ambiguous,
            });
        }
    }
}

fn cell(&[item, place, samples @ ..]: &[u32; CELL_WORDS]) -> AmbiguousCell {
    let at = [place & 31, place >> 5 & 3, place >> 7].map(|at| at as usize);
    AmbiguousCell { item, at, samples: samples.map(f32::from_bits) }
}
