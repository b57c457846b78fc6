//! [`LentCells`]: random access of the host to the cells of a sequence.

use super::buffers::{BufferRange, LentBuffers, split_written};
use super::cell_sequence::CellSequence;
use crate::device::Device;
use crate::error::{ArrayError, CallSite, Result};

/// Cells of a sequence, lent to the host by [`CellSequence::lend`].
pub struct LentCells<'a> {
    buffers: Vec<&'a mut [u8]>,
    /// Start of each part: its first cell, the index of its buffer, and its first byte in the
    /// buffer.
    parts: &'a [(u64, usize, usize)],
    size: usize,
}

impl LentCells<'_> {
    /// Bytes of a cell; `cell` must be less than the length of the sequence.
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

impl CellSequence {
    /// Lends all cells to the host, on a device whose memory the host can access. Nothing else may
    /// use the cells during the call.
    ///
    /// # Errors
    /// A device failure.
    #[track_caller]
    pub fn lend<R>(&self, device: &Device, f: impl FnOnce(&mut LentCells<'_>) -> R) -> Result<R> {
        let _call = CallSite::enter();
        let mut buffers = LentBuffers::default();
        let found = buffers.byte_ranges(self, &(0..self.len()));
        let filled = self.parts().iter().filter(|part| part.cells() > 0);
        let parts: Vec<_> =
            filled.zip(found).map(|(part, (buffer, bytes))| (part.first, buffer, bytes.start)).collect();
        let size = self.element().bytes;
        Ok(device.lend_all(&buffers.all, |buffers| f(&mut LentCells { buffers, parts: &parts, size }))?)
    }
}

/// Lends all cells of several sequences to the host, on a device whose memory the host can access:
/// for each sequence the bytes of each of its parts. Nothing else may use the cells during the
/// call.
///
/// # Errors
/// Cells that are in the sequences more than once; a device failure.
#[track_caller]
pub fn lend_slices<R>(
    device: &Device,
    sequences: &[&CellSequence],
    f: impl FnOnce(Vec<Vec<&mut [u8]>>) -> R,
) -> Result<R> {
    let _call = CallSite::enter();
    let mut buffers = LentBuffers::default();
    let parts: Vec<_> = sequences.iter().map(|cells| buffers.byte_ranges(cells, &(0..cells.len()))).collect();
    let of_sequence = |(sequence, parts)| std::iter::repeat(sequence).zip(parts);
    let mut all: Vec<(usize, &BufferRange)> = parts.iter().enumerate().flat_map(of_sequence).collect();
    all.sort_unstable_by_key(|(_, (buffer, bytes))| (*buffer, bytes.start));
    let overlaps = |[(_, one), (_, next)]: &&[(usize, &BufferRange); 2]| one.0 == next.0 && one.1.end > next.1.start;
    if let Some([_, (sequence, _)]) = all.array_windows().find(overlaps) {
        let text = format!("{} has cells that are written to twice", sequences[*sequence].label());
        return Err(ArrayError::Other(text).into());
    }
    Ok(device.lend_all(&buffers.all, |bytes| {
        let (_, mut slices) = split_written(bytes, parts.iter().flatten());
        f(parts.iter().map(|parts| slices.by_ref().take(parts.len()).collect()).collect())
    })?)
}
