//! [`Lent`]: cells that the host reaches one by one.

use super::cells::Cells;
use crate::device::{ChunkBuffer, Device};
use crate::error::Result;

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
