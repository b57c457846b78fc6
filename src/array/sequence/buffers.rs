//! [`LentBuffers`]: distinct buffers of sequences that are lent to the host.

use std::collections::HashMap;
use std::ops::Range;

use super::cell_sequence::CellSequence;
use super::sequence_part::SequencePart;
use crate::device::ChunkBuffer;

/// Index of a buffer in [`LentBuffers`], and a byte range in the buffer.
pub(super) type BufferRange = (usize, Range<usize>);

/// Distinct buffers, numbered in order of first use.
#[derive(Default)]
pub(super) struct LentBuffers<'c> {
    pub all: Vec<&'c ChunkBuffer>,
    numbers: HashMap<u64, usize>,
}

impl<'c> LentBuffers<'c> {
    /// Byte ranges of a range of cells, one per part of the sequence.
    pub(super) fn byte_ranges(&mut self, cells: &'c CellSequence, range: &Range<u64>) -> Vec<BufferRange> {
        let size = cells.element().bytes;
        let byte_range = |(part, within): (&'c SequencePart, Range<u64>)| {
            let number = *self.numbers.entry(part.memory()).or_insert_with(|| {
                self.all.push(&part.lease);
                self.all.len() - 1
            });
            let bytes = (within.end - within.start) as usize * size;
            let start = part.core.strided(part.chunk, &part.region_of(within)).offset as usize * size;
            (number, start..start + bytes)
        };
        cells.within(range.clone()).filter(|(_, within)| !within.is_empty()).map(byte_range).collect()
    }
}

/// Splits buffers at the written byte ranges. Returns the read-only buffers (empty slices in place
/// of written ones), and the slices of the written ranges in the order of `written`.
pub(super) fn split_written<'a, 'p>(
    buffers: Vec<&'a mut [u8]>,
    written: impl Iterator<Item = &'p BufferRange>,
) -> (Vec<&'a [u8]>, impl Iterator<Item = &'a mut [u8]>) {
    let mut by_position: Vec<(usize, &BufferRange)> = written.enumerate().collect();
    by_position.sort_unstable_by_key(|(_, (buffer, bytes))| (*buffer, bytes.start));
    let mut parts: Vec<Option<&mut [u8]>> = by_position.iter().map(|_| None).collect();
    let (mut shared, mut by_position) = (Vec::with_capacity(buffers.len()), by_position.into_iter().peekable());
    for (number, mut rest) in buffers.into_iter().enumerate() {
        let mut begin = 0;
        while let Some((part, (_, bytes))) = by_position.next_if(|(_, (buffer, _))| *buffer == number) {
            let behind = rest.split_at_mut(bytes.start - begin).1;
            let (cells, behind) = behind.split_at_mut(bytes.len());
            (parts[part], rest, begin) = (Some(cells), behind, bytes.end);
        }
        shared.push(if begin == 0 { &*rest } else { &[] });
    }
    (shared, parts.into_iter().flatten())
}
