//! Decompression of zlib blocks: only the required blocks, each only as far as needed.

use std::io::{self, BufRead, ErrorKind};
use std::sync::Arc;

use flate2::{Decompress, FlushDecompress, Status};

use super::segment::CompressedBlocks;
use super::source::Bytes;

/// Decompressor of the blocks. No block is in memory as a whole, so its declared size cannot cause
/// a large allocation.
pub(super) struct Inflate {
    bytes: Box<dyn Bytes>,
    blocks: Arc<CompressedBlocks>,
    total: u64,
    stream: Decompress,
    block: usize,
    /// Processed bytes of the block: uncompressed and compressed.
    written: u64,
    consumed: u64,
    /// True if other bytes may follow the stream of the last block.
    open_ended: bool,
    /// Number of bytes after the stream.
    pub surplus: u64,
}

fn corrupt(message: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, message)
}

impl Inflate {
    pub(super) fn new(
        bytes: Box<dyn Bytes>,
        blocks: Arc<CompressedBlocks>,
        total: u64,
        open_ended: bool,
    ) -> io::Result<Self> {
        let stream = Decompress::new(true);
        let mut new = Self { bytes, blocks, total, stream, block: 0, written: 0, consumed: 0, open_ended, surplus: 0 };
        new.begin(0)?;
        Ok(new)
    }

    /// Offset of the next byte in the file.
    pub(super) fn position(&self) -> u64 {
        self.bytes.position()
    }

    /// Index of the next decoded byte.
    pub(super) fn at(&self) -> u64 {
        self.block as u64 * self.blocks.size + self.written
    }

    /// Skips to the block of uncompressed byte `to`, if it is a later block.
    pub(super) fn skip_to_block(&mut self, to: u64) -> io::Result<()> {
        let block = (to / self.blocks.size) as usize;
        if block > self.block && to < self.total { self.begin(block) } else { Ok(()) }
    }

    fn begin(&mut self, block: usize) -> io::Result<()> {
        self.bytes.seek(self.blocks.starts[block])?;
        self.stream.reset(true);
        (self.block, self.written, self.consumed) = (block, 0, 0);
        Ok(())
    }

    fn block_bytes(&self) -> u64 {
        self.blocks.size.min(self.total - self.block as u64 * self.blocks.size)
    }

    /// Reads some of the next bytes of the block; none at the end of the last block.
    pub(super) fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.written == self.block_bytes() {
            if self.at() == self.total {
                return Ok(0);
            }
            self.begin(self.block + 1)?;
        }
        let most = (self.block_bytes() - self.written).min(out.len() as u64) as usize;
        loop {
            let (status, got, is_input_empty) = self.step(&mut out[..most])?;
            self.written += got as u64;
            if got > 0 {
                if self.written == self.block_bytes() {
                    self.check_end()?;
                }
                return Ok(got);
            }
            let (block, written, wanted) = (self.block, self.written, self.block_bytes());
            match status {
                Status::StreamEnd => {
                    return Err(corrupt(format!("block {block} ends after {written} of {wanted} bytes")));
                }
                _ if is_input_empty => return Err(ErrorKind::UnexpectedEof.into()),
                _ => {}
            }
        }
    }

    /// Checks that the block ends after its last byte, with its checksum.
    fn check_end(&mut self) -> io::Result<()> {
        let block = self.block;
        loop {
            let (status, got, is_input_empty) = self.step(&mut [0])?;
            if got > 0 {
                return Err(corrupt(format!(
                    "block {block} goes on after the {} bytes that are declared",
                    self.written
                )));
            }
            if status == Status::StreamEnd {
                break;
            }
            if is_input_empty {
                return Err(corrupt(format!("block {block} ends before its checksum; the file is truncated")));
            }
        }
        let left = self.blocks.starts[block + 1] - self.blocks.starts[block] - self.consumed;
        if left > 0 && self.open_ended && block + 2 == self.blocks.starts.len() {
            self.surplus = left;
        } else if left > 0 {
            return Err(corrupt(format!("data go on for {left} bytes after the stream of block {block}")));
        }
        Ok(())
    }

    /// One step of the decompressor: status, bytes written, and true if the input was empty.
    fn step(&mut self, out: &mut [u8]) -> io::Result<(Status, usize, bool)> {
        let left = self.blocks.starts[self.block + 1] - self.blocks.starts[self.block] - self.consumed;
        let input = self.bytes.fill_buf()?;
        let input = &input[..input.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
        let is_input_empty = input.is_empty();
        let before = (self.stream.total_in(), self.stream.total_out());
        let status = self.stream.decompress(input, out, FlushDecompress::None);
        let status = status.map_err(|error| corrupt(format!("block {}: {error}", self.block)))?;
        let taken = self.stream.total_in() - before.0;
        self.bytes.consume(taken as usize);
        self.consumed += taken;
        Ok((status, (self.stream.total_out() - before.1) as usize, is_input_empty))
    }
}
