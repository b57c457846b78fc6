//! [`Lent`]: cells that the host reaches one by one.

use super::cells::Cells;
use crate::device::{ChunkBuffer, Device};
use crate::error::{ArrayError, Result};

/// All cells of a sequence, lent to the host.
pub(crate) struct Lent<'a> {
    buffers: Vec<&'a mut [u8]>,
    /// Where each part begins: its first cell, its buffer, its first byte there.
    parts: &'a [(u64, usize, usize)],
    size: usize,
}

impl Lent<'_> {
    /// The bytes of a cell, which must be one of the sequence.
    pub fn cell(&mut self, cell: u64) -> &mut [u8] {
        let part = match self.parts {
            [only] => only,
            parts => &parts[parts.partition_point(|(first, ..)| *first <= cell) - 1],
        };
        let (first, buffer, start) = *part;
        let begin = start + (cell - first) as usize * self.size;
        &mut self.buffers[buffer][begin..begin + self.size]
    }
}

impl Cells {
    /// Lends all cells to the host, on a device that is the host. Nothing else may touch them meanwhile.
    pub fn lent<R>(&self, device: &Device, f: impl FnOnce(&mut Lent) -> R) -> Result<R> {
        let mut chunks: Vec<&ChunkBuffer> = Vec::new();
        let mut parts = Vec::with_capacity(self.parts().len());
        for strip in self.parts() {
            let known = chunks.iter().position(|one| one.same_as(&strip.lease));
            let offset = strip.core.strided(strip.chunk, &strip.region).offset as usize;
            parts.push((strip.first, known.unwrap_or(chunks.len()), offset * self.element().bytes));
            if known.is_none() {
                chunks.push(&strip.lease);
            }
        }
        let size = self.element().bytes;
        Ok(device.lend_all(&chunks, |buffers| f(&mut Lent { buffers, parts: &parts, size }))?)
    }
}

/// Lends all cells of several sequences to the host, on a device that is the host: for each sequence the bytes of each of its
/// parts. Nothing else may touch them meanwhile.
///
/// # Errors
/// Cells that are in the sequences twice; a failing device.
pub(crate) fn lend_slices<R>(
    device: &Device,
    sequences: &[&Cells],
    f: impl FnOnce(Vec<Vec<&mut [u8]>>) -> R,
) -> Result<R> {
    let mut chunks: Vec<&ChunkBuffer> = Vec::new();
    let mut ranges = Vec::new();
    for (sequence, cells) in sequences.iter().enumerate() {
        let size = cells.element().bytes;
        for strip in cells.parts().iter().filter(|strip| strip.cells() > 0) {
            let known = chunks.iter().position(|one| one.same_as(&strip.lease));
            let begin = strip.core.strided(strip.chunk, &strip.region).offset as usize * size;
            let chunk = known.unwrap_or(chunks.len());
            ranges.push(SliceRange {
                chunk,
                begin,
                bytes: strip.cells() as usize * size,
                sequence,
                first: strip.first,
            });
            if known.is_none() {
                chunks.push(&strip.lease);
            }
        }
    }
    ranges.sort_unstable_by_key(|range| (range.chunk, range.begin));
    if let Some([_, twice]) = ranges.array_windows().find(|[one, next]| one.overlaps(next)) {
        let text = format!("{} has cells that are written to twice", sequences[twice.sequence].label());
        return Err(ArrayError::Other(text).into());
    }
    Ok(device.lend_all(&chunks, |mut buffers| {
        let mut starts = vec![0; buffers.len()];
        let mut slices = Vec::with_capacity(ranges.len());
        for SliceRange { chunk, begin, bytes, sequence, first } in ranges {
            let rest = std::mem::take(&mut buffers[chunk]);
            let (slice, rest) = rest[begin - starts[chunk]..].split_at_mut(bytes);
            (buffers[chunk], starts[chunk]) = (rest, begin + bytes);
            slices.push((sequence, first, slice));
        }
        slices.sort_unstable_by_key(|(sequence, first, _)| (*sequence, *first));
        let mut lent: Vec<Vec<&mut [u8]>> = sequences.iter().map(|_| Vec::new()).collect();
        slices.into_iter().for_each(|(sequence, _, slice)| lent[sequence].push(slice));
        f(lent)
    })?)
}

/// The bytes of a part of a sequence.
struct SliceRange {
    /// Index of its chunk.
    chunk: usize,
    begin: usize,
    bytes: usize,
    /// Index of its sequence.
    sequence: usize,
    /// Number of cells of the sequence before it.
    first: u64,
}

impl SliceRange {
    /// Whether the bytes overlap those of a range that begins no earlier.
    fn overlaps(&self, next: &Self) -> bool {
        self.chunk == next.chunk && self.begin + self.bytes > next.begin
    }
}
