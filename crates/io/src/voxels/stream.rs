//! [`Stream`]: sequential reader of the decoded bytes of a segment.

use std::io::{self, ErrorKind, Read};

use zippy_files::memory::zeros;
use zippy_files::{FileError, open_regular, shown};

use super::ascii::NumberParser;
use super::gzip::Gunzip;
use super::inflate::Inflate;
use super::lz4::Lz4;
use super::segment::{Encoding, Segment};
use super::source::{Bytes, bytes};
use crate::IoError;
use crate::scalar::ScalarKind;

/// Growth of memory for decoded data, in bytes; a multiple of the size of every number.
const GROWTH: u64 = 1 << 20;

pub(super) struct Stream<'a> {
    segment: &'a Segment,
    source: StreamSource,
    /// Index of the next decoded byte, with the skipped leading ones.
    at: u64,
    scratch: Vec<u8>,
}

enum StreamSource {
    Raw(Box<dyn Bytes>),
    Gzip(Box<Gunzip>),
    Zlib(Box<Inflate>),
    Lz4(Box<Lz4>),
    Ascii(NumberParser),
}

impl StreamSource {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Raw(file) => file.read(out),
            Self::Gzip(stream) => stream.read(out),
            Self::Zlib(blocks) => blocks.read(out),
            Self::Lz4(blocks) => blocks.read(out),
            Self::Ascii(numbers) => numbers.read(out),
        }
    }

    fn position(&self) -> u64 {
        match self {
            Self::Raw(file) => file.position(),
            Self::Gzip(stream) => stream.position(),
            Self::Zlib(blocks) => blocks.position(),
            Self::Lz4(blocks) => blocks.position(),
            Self::Ascii(numbers) => numbers.position(),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Raw(_) => "data",
            Self::Gzip(_) => "gzip data",
            Self::Zlib(_) => "zlib data",
            Self::Lz4(_) => "LZ4 data",
            Self::Ascii(_) => "numbers",
        }
    }
}

/// Counts the decoded bytes of a segment, at least up to `most`, with little memory.
pub(crate) fn decoded_length(segment: &Segment, most: u64) -> Result<u64, IoError> {
    let mut stream = Stream::open(segment, ScalarKind::U8)?;
    let mut scratch = vec![0; 1 << 16];
    while stream.at <= most {
        match stream.source.read(&mut scratch) {
            Ok(0) => break,
            Ok(got) => stream.at += got as u64,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(stream.failed(&error)),
        }
    }
    Ok(stream.at)
}

/// Reads all bytes of a raw segment that is known to be in the file.
pub(crate) fn prefix(segment: &Segment) -> Result<Vec<u8>, IoError> {
    let mut bytes = zeros(segment.bytes).map_err(|none| IoError::request(&segment.path, none))?;
    Stream::open(segment, ScalarKind::U8)?.read(0, &mut bytes)?;
    Ok(bytes)
}

/// Reads all decoded bytes of a segment; numbers from text have the machine's byte order. Memory
/// grows with the available data, because compressed data may declare a thousand times their
/// length.
pub(crate) fn decoded(segment: &Segment, kind: ScalarKind) -> Result<Vec<u8>, IoError> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut stream = Stream::open(segment, kind)?;
    while (bytes.len() as u64) < segment.bytes {
        let (start, remaining) = (bytes.len(), segment.bytes - bytes.len() as u64);
        let end = start + remaining.min(GROWTH) as usize;
        let refused = |_| IoError::request(&segment.path, format!("no memory for {} bytes", segment.bytes));
        bytes.try_reserve(end - start).map_err(refused)?;
        bytes.resize(end, 0);
        stream.read(start as u64, &mut bytes[start..])?;
    }
    stream.finish()?;
    Ok(bytes)
}

impl<'a> Stream<'a> {
    pub(super) fn open(segment: &'a Segment, kind: ScalarKind) -> Result<Self, IoError> {
        let (file, _) = open_regular(&segment.path)?;
        let system = |error| IoError::system(&segment.path, "read", &error);
        let bytes = bytes(segment, file).map_err(system)?;
        let source = match &segment.encoding {
            Encoding::Raw => StreamSource::Raw(bytes),
            Encoding::Gzip => StreamSource::Gzip(Box::new(Gunzip::new(bytes, segment.open_ended))),
            Encoding::Zlib(blocks) => {
                let stream = Inflate::new(bytes, blocks.clone(), segment.bytes, segment.open_ended);
                StreamSource::Zlib(Box::new(stream.map_err(system)?))
            }
            Encoding::Lz4(blocks) => StreamSource::Lz4(Box::new(Lz4::new(bytes, blocks.clone(), segment.bytes))),
            Encoding::Ascii => StreamSource::Ascii(NumberParser::new(bytes, kind)),
        };
        Ok(Self { segment, source, at: 0, scratch: Vec::new() })
    }

    /// Reads `out.len()` decoded bytes from byte `first`, and never more.
    pub(super) fn read(&mut self, first: u64, out: &mut [u8]) -> Result<(), IoError> {
        let from = self.segment.lead + first;
        let position = match &mut self.source {
            StreamSource::Raw(file) if self.at != from => file.seek(from).map(|()| from),
            StreamSource::Zlib(blocks) => blocks.skip_to_block(from).map(|()| blocks.at()),
            StreamSource::Lz4(blocks) => blocks.skip_to_block(from).map(|()| blocks.at()),
            _ => Ok(self.at),
        };
        self.at = position.map_err(|error| self.failed(&error))?;
        while self.at < from {
            let mut scratch = std::mem::take(&mut self.scratch);
            scratch.resize(1 << 15, 0);
            let piece = (from - self.at).min(scratch.len() as u64) as usize;
            let read = self.read_exactly(&mut scratch[..piece]);
            self.scratch = scratch;
            read?;
        }
        self.read_exactly(out)
    }

    /// Checks, after the last voxel, that no more data follow; for gzip also the checksum. (The
    /// length of raw data is checked on opening; blocks have known ends.) Returns a note about
    /// ignored data.
    pub(super) fn finish(mut self) -> Result<Option<String>, IoError> {
        let expected = self.segment.bytes;
        let note = |what: &str| format!("{what} in {}; they are left out", shown(&self.segment.path));
        if let StreamSource::Zlib(blocks) = &self.source
            && blocks.surplus > 0
        {
            return Ok(Some(note(&format!("{} bytes follow the compressed data", blocks.surplus))));
        }
        let unmeasured = matches!(self.source, StreamSource::Gzip(_) | StreamSource::Ascii(_));
        if !unmeasured || self.at != self.segment.lead + expected {
            return Ok(None);
        }
        match self.source.read(&mut [0; 8]) {
            Ok(0) => Ok(match &self.source {
                StreamSource::Gzip(stream) if stream.is_followed => Some(note("other bytes follow the gzip data")),
                StreamSource::Gzip(stream) if stream.zeros > 0 && self.segment.open_ended => {
                    Some(note(&format!("{} zeros follow the gzip data", stream.zeros)))
                }
                _ => None,
            }),
            // Text other than numbers may follow the numbers.
            Ok(_) if self.segment.open_ended => Ok(Some(note("more data follow than the header declares"))),
            Err(error)
                if self.segment.open_ended
                    && error.kind() == ErrorKind::InvalidData
                    && matches!(self.source, StreamSource::Ascii(_)) =>
            {
                Ok(Some(note("other text follows the numbers")))
            }
            Ok(_) => {
                let (path, offset) = (self.segment.path.clone(), self.source.position());
                Err(FileError::Oversized { path, offset, expected }.into())
            }
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                let message =
                    "the gzip stream does not end with its checksum: the file is truncated, or bytes were added";
                Err(IoError::malformed(&self.segment.path, self.source.position(), message))
            }
            Err(error) => Err(self.failed(&error)),
        }
    }

    fn read_exactly(&mut self, mut out: &mut [u8]) -> Result<(), IoError> {
        while !out.is_empty() {
            match self.source.read(out) {
                Ok(0) => return Err(self.failed(&ErrorKind::UnexpectedEof.into())),
                Ok(got) => {
                    self.at += got as u64;
                    out = &mut out[got..];
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(&error)),
            }
        }
        Ok(())
    }

    fn failed(&self, error: &io::Error) -> IoError {
        let (path, offset) = (&self.segment.path, self.source.position());
        match error.kind() {
            // The length was checked on opening, so another program has truncated the file.
            ErrorKind::UnexpectedEof => {
                let found = self.at.saturating_sub(self.segment.lead);
                FileError::Truncated { path: path.clone(), offset, found, expected: self.segment.bytes }.into()
            }
            ErrorKind::InvalidData | ErrorKind::InvalidInput => {
                let name = self.source.name();
                let message = format!("the {name} are corrupt, after {} bytes decoded: {error}", self.at);
                IoError::malformed(path, offset, message)
            }
            _ => IoError::system(path, "read", error),
        }
    }
}
