//! [`Segment`]: bytes of a box in a file, with their encoding and a check of their length.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zippy_files::{FileError, open_regular, shown};

use crate::IoError;
use crate::scalar::ScalarKind;

const DEFLATE_LIMIT: u64 = 1032;

pub(super) const LZ4_LIMIT: u64 = 255;

#[derive(Debug, Clone)]
pub(crate) enum Encoding {
    /// Memory layout.
    Raw,
    /// gzip, with one or several members.
    Gzip,
    /// Blocks, each a zlib stream.
    Zlib(Arc<CompressedBlocks>),
    /// Blocks, each compressed by LZ4 without a frame.
    Lz4(Arc<CompressedBlocks>),
    /// Decimal numbers between white space.
    Ascii,
}

/// Offsets of compressed blocks, all with the same decoded size.
#[derive(Debug)]
pub(crate) struct CompressedBlocks {
    /// First compressed byte of each block, relative to the segment, and the end of the last block.
    pub starts: Vec<u64>,
    /// Uncompressed bytes of each block; the last one can be shorter.
    pub size: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Segment {
    pub path: PathBuf,
    /// Bytes `start..end` of the file contain the segment.
    pub start: u64,
    pub end: u64,
    pub base64: bool,
    pub encoding: Encoding,
    /// Decoded bytes to skip.
    pub lead: u64,
    /// Decoded bytes after `lead`.
    pub bytes: u64,
    /// True if bytes after the data are ignored with a note; else they are an error.
    pub open_ended: bool,
    /// Number of ignored bytes after the data, as far as the length of the file shows.
    pub surplus: u64,
}

/// Two bytes of a file; zeros beyond its end.
pub(crate) fn first_bytes(path: &Path, at: u64) -> Result<[u8; 2], IoError> {
    let mut bytes = read(path, at, 2)?;
    bytes.resize(2, 0);
    Ok([bytes[0], bytes[1]])
}

/// Last bytes of a file, at most 4 KiB.
pub(crate) fn tail(path: &Path) -> Result<Vec<u8>, IoError> {
    let most = 1 << 12;
    read(path, open_regular(path)?.1.saturating_sub(most), most)
}

fn read(path: &Path, at: u64, most: u64) -> Result<Vec<u8>, IoError> {
    let (mut file, _) = open_regular(path)?;
    let mut bytes = Vec::new();
    let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.take(most).read_to_end(&mut bytes));
    read.map_err(|error| IoError::system(path, "read", &error))?;
    Ok(bytes)
}

impl Segment {
    /// Segment from byte `start` to the end of a file; another length is an error.
    pub(crate) fn to_the_end(
        path: &Path,
        start: u64,
        encoding: Encoding,
        lead: u64,
        bytes: u64,
        kind: ScalarKind,
    ) -> Result<Self, IoError> {
        Self::unchecked(path, start, encoding, lead, bytes)?.checked(kind)
    }

    /// Like [`Self::to_the_end`], but bytes after the data are ignored with a note, as in ITK,
    /// nibabel and Teem.
    pub(crate) fn from_byte(
        path: &Path,
        start: u64,
        encoding: Encoding,
        lead: u64,
        bytes: u64,
        kind: ScalarKind,
    ) -> Result<Self, IoError> {
        Self { open_ended: true, ..Self::unchecked(path, start, encoding, lead, bytes)? }.checked(kind)
    }

    /// Zlib stream in the bytes `start..end` of a file; bytes after the stream are ignored.
    pub(crate) fn zlib(path: &Path, [start, end]: [u64; 2], bytes: u64, kind: ScalarKind) -> Result<Self, IoError> {
        let blocks = CompressedBlocks { starts: vec![0, end.saturating_sub(start)], size: bytes };
        let whole = Self::unchecked(path, start, Encoding::Zlib(Arc::new(blocks)), 0, bytes)?;
        Self { end: end.min(whole.end), open_ended: true, ..whole }.checked(kind)
    }

    fn unchecked(path: &Path, start: u64, encoding: Encoding, lead: u64, bytes: u64) -> Result<Self, IoError> {
        let (_, end) = open_regular(path)?;
        let (path, start) = (path.to_path_buf(), start.min(end));
        Ok(Self { path, start, end, base64: false, encoding, lead, bytes, open_ended: false, surplus: 0 })
    }

    pub(crate) fn note(&self) -> Option<String> {
        (self.surplus > 0).then(|| {
            let (count, name) = (self.surplus, shown(&self.path));
            format!("{count} bytes follow the data in {name}; they are left out")
        })
    }

    /// Checks the length of the segment: raw data must fit exactly; for other encodings the maximum
    /// expansion is a bound.
    pub(crate) fn checked(self, kind: ScalarKind) -> Result<Self, IoError> {
        let (length, bytes) = (self.end - self.start, self.bytes);
        let length_error = |what: &str, declared: String| {
            let message = format!(
                "{length} bytes of {what} cannot hold the {declared} of its sizes; \
                 the file is truncated or they are wrong"
            );
            Err(IoError::malformed(&self.path, self.start, message))
        };
        match self.encoding {
            Encoding::Raw => return self.checked_raw(),
            Encoding::Ascii if length.div_ceil(2) < bytes / kind.bytes() => {
                return length_error("text", format!("{} numbers", bytes / kind.bytes()));
            }
            Encoding::Gzip if length.saturating_mul(DEFLATE_LIMIT) < bytes.saturating_add(self.lead) => {
                return length_error("gzip data", format!("{bytes} bytes"));
            }
            Encoding::Zlib(_) if length.saturating_mul(DEFLATE_LIMIT) < bytes => {
                return length_error("zlib data", format!("{bytes} bytes"));
            }
            Encoding::Lz4(_) if length.saturating_mul(LZ4_LIMIT) < bytes => {
                return length_error("LZ4 data", format!("{bytes} bytes"));
            }
            _ => {}
        }
        Ok(self)
    }

    fn checked_raw(mut self) -> Result<Self, IoError> {
        let length = self.end - self.start;
        // Decoded bytes, including the padding of the last base64 group.
        let available = if self.base64 { length / 4 * 3 } else { length };
        let wanted = self.lead.saturating_add(self.bytes);
        let expected = self.bytes;
        if available < wanted {
            let found = available.saturating_sub(self.lead);
            return Err(FileError::Truncated { path: self.path, offset: self.end, found, expected }.into());
        }
        let used = if self.base64 { wanted.div_ceil(3) * 4 } else { wanted };
        if length > used && self.open_ended {
            (self.surplus, self.end) = (length - used, self.start + used);
        } else if length > used {
            return Err(FileError::Oversized { path: self.path, offset: self.start + used, expected }.into());
        }
        Ok(self)
    }
}
