//! Decompression of LZ4 blocks; one whole block is in memory at a time.

use std::io::{self, ErrorKind, Read};
use std::sync::Arc;

use zippy_files::memory::{reserved, zeros};

use super::segment::{CompressedBlocks, LZ4_LIMIT};
use super::source::Bytes;

/// Position in the blocks.
pub(super) struct Lz4 {
    bytes: Box<dyn Bytes>,
    blocks: Arc<CompressedBlocks>,
    /// Uncompressed bytes of all blocks.
    total: u64,
    block: usize,
    /// Uncompressed bytes of the block; empty before it is read.
    made: Vec<u8>,
    /// Number of bytes of the block that have been returned.
    used: usize,
}

impl Lz4 {
    pub(super) fn new(bytes: Box<dyn Bytes>, blocks: Arc<CompressedBlocks>, total: u64) -> Self {
        Self { bytes, blocks, total, block: 0, made: Vec::new(), used: 0 }
    }

    /// Offset of the next byte in the file.
    pub(super) fn position(&self) -> u64 {
        self.bytes.position()
    }

    /// Index of the next uncompressed byte.
    pub(super) fn at(&self) -> u64 {
        (self.block as u64).saturating_mul(self.blocks.size).min(self.total) + self.used as u64
    }

    /// Skips to the block of uncompressed byte `to`, if it is a later block.
    pub(super) fn approach(&mut self, to: u64) -> io::Result<()> {
        let block = (to / self.blocks.size) as usize;
        if block > self.block && to < self.total {
            (self.block, self.used) = (block, 0);
            self.made.clear();
        }
        Ok(())
    }

    /// Reads some of the next bytes of the block; none at the end of the last block.
    pub(super) fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.used == self.made.len() {
            if !self.made.is_empty() {
                self.block += 1;
            }
            (self.made, self.used) = (Vec::new(), 0);
            if self.at() == self.total || self.block + 1 >= self.blocks.starts.len() {
                return Ok(0);
            }
            self.made = self.decompressed()?;
        }
        let count = out.len().min(self.made.len() - self.used);
        out[..count].copy_from_slice(&self.made[self.used..self.used + count]);
        self.used += count;
        Ok(count)
    }

    fn decompressed(&mut self) -> io::Result<Vec<u8>> {
        let block = self.block;
        let corrupt = |message: String| io::Error::new(ErrorKind::InvalidData, format!("block {block} {message}"));
        let length = self.blocks.starts[block + 1] - self.blocks.starts[block];
        let wanted = self.blocks.size.min(self.total - block as u64 * self.blocks.size);
        // Bound the memory by the length of the file, not by the declared size.
        if length.saturating_mul(LZ4_LIMIT) < wanted {
            return Err(corrupt(format!("has {length} bytes, which cannot become {wanted}")));
        }
        self.bytes.seek(self.blocks.starts[block])?;
        let mut packed = reserved(length).map_err(corrupt)?;
        (&mut self.bytes).take(length).read_to_end(&mut packed)?;
        if (packed.len() as u64) < length {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let mut made = zeros(wanted).map_err(corrupt)?;
        let got = lz4_flex::block::decompress_into(&packed, &mut made).map_err(|error| corrupt(error.to_string()))?;
        if got as u64 == wanted { Ok(made) } else { Err(corrupt(format!("ends after {got} of {wanted} bytes"))) }
    }
}
