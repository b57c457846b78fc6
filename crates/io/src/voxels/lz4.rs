//! Decompression of LZ4 blocks; one whole block is in memory at a time.

use std::io::{self, ErrorKind, Read};
use std::sync::Arc;

use zippy_files::memory::{reserved, zeros};

use super::segment::{CompressedBlocks, LZ4_LIMIT};
use super::source::Bytes;

pub(super) struct Lz4 {
    bytes: Box<dyn Bytes>,
    blocks: Arc<CompressedBlocks>,
    total: u64,
    block: usize,
    /// Uncompressed bytes of the block; empty before it is read.
    decoded: Vec<u8>,
    /// Number of returned bytes of the block.
    returned: usize,
}

impl Lz4 {
    pub(super) fn new(bytes: Box<dyn Bytes>, blocks: Arc<CompressedBlocks>, total: u64) -> Self {
        Self { bytes, blocks, total, block: 0, decoded: Vec::new(), returned: 0 }
    }

    /// Offset of the next byte in the file.
    pub(super) fn position(&self) -> u64 {
        self.bytes.position()
    }

    /// Index of the next uncompressed byte.
    pub(super) fn at(&self) -> u64 {
        (self.block as u64).saturating_mul(self.blocks.size).min(self.total) + self.returned as u64
    }

    /// Skips to the block of uncompressed byte `to`, if it is later.
    pub(super) fn skip_to_block(&mut self, to: u64) -> io::Result<()> {
        let block = (to / self.blocks.size) as usize;
        if block > self.block && to < self.total {
            (self.block, self.returned) = (block, 0);
            self.decoded.clear();
        }
        Ok(())
    }

    /// Reads some of the next bytes of the block; none at the end of the last block.
    pub(super) fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.returned == self.decoded.len() {
            if !self.decoded.is_empty() {
                self.block += 1;
            }
            (self.decoded, self.returned) = (Vec::new(), 0);
            if self.at() == self.total || self.block + 1 >= self.blocks.starts.len() {
                return Ok(0);
            }
            self.decoded = self.decompress_block()?;
        }
        let count = out.len().min(self.decoded.len() - self.returned);
        out[..count].copy_from_slice(&self.decoded[self.returned..self.returned + count]);
        self.returned += count;
        Ok(count)
    }

    fn decompress_block(&mut self) -> io::Result<Vec<u8>> {
        let block = self.block;
        let corrupt = |message: String| io::Error::new(ErrorKind::InvalidData, format!("block {block} {message}"));
        let length = self.blocks.starts[block + 1] - self.blocks.starts[block];
        let wanted = self.blocks.size.min(self.total - block as u64 * self.blocks.size);
        // The length of the file bounds the memory, not the declared size.
        if length.saturating_mul(LZ4_LIMIT) < wanted {
            return Err(corrupt(format!("has {length} bytes, which cannot become {wanted}")));
        }
        self.bytes.seek(self.blocks.starts[block])?;
        let mut packed = reserved(length).map_err(corrupt)?;
        (&mut self.bytes).take(length).read_to_end(&mut packed)?;
        if (packed.len() as u64) < length {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let mut decoded = zeros(wanted).map_err(corrupt)?;
        let got =
            lz4_flex::block::decompress_into(&packed, &mut decoded).map_err(|error| corrupt(error.to_string()))?;
        if got as u64 == wanted { Ok(decoded) } else { Err(corrupt(format!("ends after {got} of {wanted} bytes"))) }
    }
}
