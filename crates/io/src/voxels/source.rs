//! Random access to a byte range of a file, raw or decoded from base64.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::segment::Segment;

/// Characters of base64 text per decoding step; whole groups of four.
const TEXT_BYTES: usize = 1 << 14;

pub(super) trait Bytes: BufRead {
    fn seek(&mut self, to: u64) -> io::Result<()>;
    /// Offset of the next byte in the file.
    fn position(&self) -> u64;
}

/// Opens the bytes of a segment before decompression.
pub(super) fn bytes(segment: &Segment, file: File) -> io::Result<Box<dyn Bytes>> {
    let range = FileRange::new(file, segment.start, segment.end)?;
    Ok(if segment.base64 {
        Box::new(Base64 { text: range, decoded: Vec::new(), consumed: 0, first: 0 })
    } else {
        Box::new(range)
    })
}

pub(super) struct FileRange {
    file: BufReader<File>,
    start: u64,
    at: u64,
    end: u64,
}

impl FileRange {
    pub(super) fn new(mut file: File, start: u64, end: u64) -> io::Result<Self> {
        file.seek(SeekFrom::Start(start))?;
        Ok(Self { file: BufReader::with_capacity(1 << 16, file), start, at: start, end })
    }

    fn remaining(&self, wanted: usize) -> usize {
        (self.end - self.at).min(wanted as u64) as usize
    }
}

impl Read for FileRange {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let most = self.remaining(out.len());
        let got = self.file.read(&mut out[..most])?;
        self.at += got as u64;
        Ok(got)
    }
}

impl BufRead for FileRange {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let most = self.remaining(usize::MAX);
        let buffer = if most == 0 { &[] } else { self.file.fill_buf()? };
        Ok(&buffer[..buffer.len().min(most)])
    }

    fn consume(&mut self, count: usize) {
        self.file.consume(count);
        self.at += count as u64;
    }
}

impl Bytes for FileRange {
    fn seek(&mut self, to: u64) -> io::Result<()> {
        let target = (self.start + to).min(self.end);
        self.file.seek_relative(target as i64 - self.at as i64)?;
        self.at = target;
        Ok(())
    }

    fn position(&self) -> u64 {
        self.at
    }
}

/// Bytes decoded from base64 text without white space, so that the offset of a group can be
/// computed. The creator of a [`Segment`] compares the lengths of text and data, which excludes
/// white space.
struct Base64 {
    text: FileRange,
    decoded: Vec<u8>,
    /// Number of consumed bytes of `decoded`.
    consumed: usize,
    /// Index of the first byte in `decoded`.
    first: u64,
}

impl Base64 {
    fn decode(&mut self) -> io::Result<()> {
        self.first += self.decoded.len() as u64;
        (self.consumed, self.decoded) = (0, Vec::new());
        let mut text = Vec::with_capacity(TEXT_BYTES.min(self.text.remaining(TEXT_BYTES)));
        (&mut self.text).take(TEXT_BYTES as u64).read_to_end(&mut text)?;
        let bad = |message: String| io::Error::new(ErrorKind::InvalidData, message);
        self.decoded = STANDARD.decode(&text).map_err(|error| bad(format!("the text is not base64: {error}")))?;
        if self.decoded.len() < text.len() / 4 * 3 && self.text.remaining(1) > 0 {
            return Err(bad("the base64 text is padded before its end".into()));
        }
        Ok(())
    }
}

impl Read for Base64 {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let got = self.fill_buf()?.read(out)?;
        self.consume(got);
        Ok(got)
    }
}

impl BufRead for Base64 {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.consumed == self.decoded.len() && self.text.remaining(1) > 0 {
            self.decode()?;
        }
        Ok(&self.decoded[self.consumed..])
    }

    fn consume(&mut self, count: usize) {
        self.consumed += count;
    }
}

impl Bytes for Base64 {
    fn seek(&mut self, to: u64) -> io::Result<()> {
        let here = to.checked_sub(self.first).filter(|&here| here < self.decoded.len() as u64);
        if let Some(here) = here {
            self.consumed = here as usize;
            return Ok(());
        }
        self.text.seek(to / 3 * 4)?;
        (self.first, self.decoded) = (to / 3 * 3, Vec::new());
        self.decode()?;
        self.consumed = ((to % 3) as usize).min(self.decoded.len());
        Ok(())
    }

    fn position(&self) -> u64 {
        self.text.position()
    }
}
