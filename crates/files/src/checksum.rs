//! Files with a checksum per block, to detect damage.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::FileError;
use crate::atomic::start_writing;
use crate::regular::open_regular;

/// Length and checksums of a file: one CRC-32 (as in zlib) per block.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Checksums {
    /// Length of the file in bytes.
    pub bytes: u64,
    /// Checksum of each block.
    pub checksums: Vec<u32>,
}

impl Checksums {
    /// Number of blocks of `block_bytes` bytes.
    pub fn blocks(&self, block_bytes: u64) -> u64 {
        self.bytes.div_ceil(block_bytes)
    }
}

/// Sequential writer of a new file that computes a checksum per block.
pub struct ChecksumWriter {
    path: PathBuf,
    file: File,
    sums: Checksums,
    block_bytes: u64,
    /// Checksum of the incomplete last block.
    hasher: crc32fast::Hasher,
}

impl ChecksumWriter {
    /// Creates the file.
    ///
    /// # Errors
    /// An operating system error; the file exists already.
    pub fn create(path: &Path, block_bytes: u64) -> Result<Self, FileError> {
        let file = File::create_new(path).map_err(|error| FileError::system(path, "write", &error))?;
        let (sums, hasher) = (Checksums::default(), crc32fast::Hasher::new());
        Ok(Self { path: path.to_path_buf(), file, sums, block_bytes, hasher })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// An operating system error.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.file.write_all(bytes).map_err(|error| FileError::system(&self.path, "write", &error))?;
        start_writing(&self.file, self.sums.bytes, bytes.len());
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = self.block_bytes - self.sums.bytes % self.block_bytes;
            let (now, later) = rest.split_at(rest.len().min(room as usize));
            self.hasher.update(now);
            self.sums.bytes += now.len() as u64;
            if now.len() as u64 == room {
                self.sums.checksums.push(std::mem::take(&mut self.hasher).finalize());
            }
            rest = later;
        }
        Ok(())
    }

    /// Waits until the file is on the disk.
    ///
    /// # Errors
    /// An operating system error. Some file systems report a full disk only here.
    pub fn finish(mut self) -> Result<Checksums, FileError> {
        self.file.sync_all().map_err(|error| FileError::system(&self.path, "write", &error))?;
        if !self.sums.bytes.is_multiple_of(self.block_bytes) {
            self.sums.checksums.push(self.hasher.finalize());
        }
        Ok(self.sums)
    }
}

/// Reader that checks the checksum of a block before it returns bytes of the block.
pub struct ChecksumReader<'a> {
    path: PathBuf,
    file: File,
    sums: &'a Checksums,
    block_bytes: u64,
    block: Vec<u8>,
    number: Option<u64>,
}

impl<'a> ChecksumReader<'a> {
    /// Opens a file and checks its length.
    ///
    /// # Errors
    /// The file is missing, not regular, or has another length.
    pub fn open(path: PathBuf, sums: &'a Checksums, block_bytes: u64) -> Result<Self, FileError> {
        let (file, length) = open_regular(&path)?;
        match length.cmp(&sums.bytes) {
            std::cmp::Ordering::Less => {
                Err(FileError::Truncated { path, offset: length, found: length, expected: sums.bytes })
            }
            std::cmp::Ordering::Greater => Err(FileError::Oversized { path, offset: sums.bytes, expected: sums.bytes }),
            std::cmp::Ordering::Equal => Ok(Self { path, file, sums, block_bytes, block: Vec::new(), number: None }),
        }
    }

    /// Reads a block and compares its checksum.
    ///
    /// # Errors
    /// Another checksum; an operating system error.
    pub fn check(&mut self, number: u64) -> Result<(), FileError> {
        let (start, end) = (number * self.block_bytes, ((number + 1) * self.block_bytes).min(self.sums.bytes));
        self.number = None;
        self.block.resize((end - start) as usize, 0);
        let read = self.file.seek(SeekFrom::Start(start)).and_then(|_| self.file.read_exact(&mut self.block));
        read.map_err(|error| FileError::system(&self.path, "read", &error))?;
        let (found, saved) = (crc32fast::hash(&self.block), self.sums.checksums[number as usize]);
        if found != saved {
            let message = format!(
                "bytes {start} to {} are damaged: their checksum is {found:08x}, and {saved:08x} was saved",
                end - 1
            );
            return Err(FileError::malformed(&self.path, start, message));
        }
        self.number = Some(number);
        Ok(())
    }

    /// Reads bytes at `offset`, within the file. With ascending offsets, each block is read once.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), FileError> {
        let mut done = 0;
        while done < into.len() {
            let at = offset + done as u64;
            let (number, inside) = (at / self.block_bytes, (at % self.block_bytes) as usize);
            if self.number != Some(number) {
                self.check(number)?;
            }
            let count = (self.block.len() - inside).min(into.len() - done);
            into[done..done + count].copy_from_slice(&self.block[inside..inside + count]);
            done += count;
        }
        Ok(())
    }
}
