//! [`Heads`]: the first cells of the segments of a sequence.

use std::ops::Range;

use bytemuck::bytes_of;
use zippy::World;
use zippy::collective::{CellSequence, CollectiveWorld, align_parts};
use zippy::element::Element;
use zippy::error::Result;
use zippy::kernel::{KernelSource, WgslComposer};
use zippy::wgsl_module;

use super::backend::HasBackend;
use super::by_size::by_size;

/// Size, in bytes, of the portion of cells that the host reads at a time.
const PORTION_BYTES: usize = 128 << 10;

/// Definition of the segments of a sequence by their first cells (heads).
#[derive(Debug, Clone, Copy)]
pub(crate) enum Heads<'a> {
    /// One segment: only the first cell of the sequence is a head.
    None,
    /// Heads are the cells whose `u32` flag is not 0.
    Flags(&'a CellSequence),
    /// Heads are the cells whose key differs in any bit from the previous key.
    Keys(&'a CellSequence),
}

impl<'a> Heads<'a> {
    pub(crate) fn cells(self) -> Option<&'a CellSequence> {
        match self {
            Self::None => None,
            Self::Flags(cells) | Self::Keys(cells) => Some(cells),
        }
    }

    /// Returns the same kind of definition with other cells of flags or keys.
    pub(crate) fn with(self, cells: Option<&'a CellSequence>) -> Self {
        match (self, cells) {
            (Self::Flags(_), Some(cells)) => Self::Flags(cells),
            (Self::Keys(_), Some(cells)) => Self::Keys(cells),
            _ => self,
        }
    }
}

/// Computes on the host, for each cell of a range, whether the cell is a head; empty for one
/// segment. `key` is the key of the cell before the range, and is set to the last key of the range.
pub(crate) fn read(heads: Heads<'_>, cells: Range<u64>, key: &mut Option<Vec<u8>>) -> Result<Vec<bool>> {
    let Some(of) = heads.cells() else { return Ok(Vec::new()) };
    let (n, size) = ((cells.end - cells.start) as usize, of.element().bytes);
    if let Heads::Flags(_) = heads {
        let mut flags = vec![0_u32; n];
        of.read(cells, bytemuck::cast_slice_mut(&mut flags))?;
        return Ok(flags.into_iter().map(|flag| flag != 0).collect());
    }
    let mut bytes = vec![0; n * size];
    of.read(cells, &mut bytes)?;
    let mut found = vec![true; n];
    find_heads(size, &bytes, key.as_deref(), &mut found);
    if let Some(last) = bytes.chunks_exact(size).last() {
        *key = Some(last.to_vec());
    }
    Ok(found)
}

/// Sets `found` for each key of `size` bytes that differs from the previous key.
pub(crate) fn find_heads(size: usize, keys: &[u8], before: Option<&[u8]>, found: &mut [bool]) {
    by_size!(find_differing_keys, size, keys, before, found);
}

#[inline(always)]
fn find_differing_keys(size: usize, keys: &[u8], before: Option<&[u8]>, found: &mut [bool]) {
    let mut before = before.unwrap_or(&[]);
    for (key, found) in keys.chunks_exact(size).zip(found) {
        *found = before.get(..size).is_none_or(|before| before != key);
        before = key;
    }
}

/// Sets `flags` to 1 where `keys` differ from the previous key and to 0 elsewhere, with a kernel.
pub(crate) fn mark(world: &World, keys: &CellSequence, flags: &CellSequence, key: &mut Option<Vec<u8>>) -> Result<()> {
    let composer = WgslComposer::new().constant("WORDS", keys.words_per_cell() as i32);
    let text = composer.module(wgsl_module!("../shaders/heads.wgsl")).compose()?;
    let kernel = world.cached_kernel(&KernelSource::composed("heads of segments", text))?;
    for piece in align_parts(&[keys, flags]) {
        let call = kernel.call().read("keys", piece.parts[0].in_words());
        call.write("flags", piece.parts[1].binding()).run()?;
        let mut first = vec![0; keys.element().bytes];
        keys.read(piece.first..piece.first + 1, &mut first)?;
        let differs = u32::from(key.as_ref() != Some(&first));
        flags.write(piece.first..piece.first + 1, bytes_of(&differs))?;
        let end = piece.first + piece.cells();
        keys.read(end - 1..end, &mut first)?;
        *key = Some(first);
    }
    Ok(())
}

/// Returns a flag per cell, not 0 if the cell's key differs from the previous one.
pub(crate) fn flags_of(world: &World, keys: &CellSequence) -> Result<CellSequence> {
    flags_after(world, keys, None)
}

/// [`flags_of`] with the key before the first cell.
pub(crate) fn flags_after(world: &World, keys: &CellSequence, key: Option<Vec<u8>>) -> Result<CellSequence> {
    world.backend().head_flags(world, keys, key)
}

pub(crate) fn flags_by_kernel(world: &World, keys: &CellSequence, mut key: Option<Vec<u8>>) -> Result<CellSequence> {
    let flags = new_flags(world, keys)?;
    mark(world, keys, &flags, &mut key)?;
    Ok(flags)
}

pub(crate) fn flags_on_host(world: &World, keys: &CellSequence, mut key: Option<Vec<u8>>) -> Result<CellSequence> {
    let flags = new_flags(world, keys)?;
    for slice in keys.slices(PORTION_BYTES, 1) {
        let found: Vec<u32> = read(Heads::Keys(keys), slice.clone(), &mut key)?.into_iter().map(u32::from).collect();
        flags.write(slice, bytemuck::cast_slice(&found))?;
    }
    Ok(flags)
}

fn new_flags(world: &World, keys: &CellSequence) -> Result<CellSequence> {
    world.scratch_cells("heads of segments", &u32::INFO, keys.len())
}
