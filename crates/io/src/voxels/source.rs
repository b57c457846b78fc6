//! Random access to a byte range of a file, raw or decoded from base64.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::segment::Segment;

/// Characters of base64 text that are decoded at once; whole groups of four.
const TEXT: usize = 1 << 14;

/// Buffered bytes with random access.
pub(super) trait Bytes: BufRead {
    /// Seeks to byte `to`.
    fn seek(&mut self, to: u64) -> io::Result<()>;
    /// Offset of the next byte in the file.
    fn position(&self) -> u64;
}

/// Bytes of a segment before decompression.
pub(super) fn bytes(segment: &Segment, file: File) -> io::Result<Box<dyn Bytes>> {
    let span = Span::new(file, segment.start, segment.end)?;
    Ok(if segment.base64 {
        Box::new(Base64 { text: span, decoded: Vec::new(), used: 0, first: 0 })
    } else {
        Box::new(span)
    })
}

/// Bytes `start..end` of a file.
pub(super) struct Span {
    file: BufReader<File>,
    start: u64,
    at: u64,
    end: u64,
}

impl Span {
    pub(super) fn new(mut file: File, start: u64, end: u64) -> io::Result<Self> {
        file.seek(SeekFrom::Start(start))?;
        Ok(Self { file: BufReader::with_capacity(1 << 16, file), start, at: start, end })
    }

    fn left(&self, wanted: usize) -> usize {
        (self.end - self.at).min(wanted as u64) as usize
    }
}

impl Read for Span {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let most = self.left(out.len());
        let got = self.file.read(&mut out[..most])?;
        self.at += got as u64;
        Ok(got)
    }
}

impl BufRead for Span {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let most = self.left(usize::MAX);
        let buffer = if most == 0 { &[] } else { self.file.fill_buf()? };
        Ok(&buffer[..buffer.len().min(most)])
    }

    fn consume(&mut self, count: usize) {
        self.file.consume(count);
        self.at += count as u64;
    }
}

impl Bytes for Span {
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

/// Bytes decoded from base64 text without white space, so that the position of a group can be
/// computed. The creator of a [`Segment`] compares the lengths of text and data, which excludes
/// text with white space.
struct Base64 {
    text: Span,
    decoded: Vec<u8>,
    /// Number of consumed bytes of `decoded`.
    used: usize,
    /// Index of the first byte in `decoded`.
    first: u64,
}

impl Base64 {
    fn decode(&mut self) -> io::Result<()> {
        self.first += self.decoded.len() as u64;
        (self.used, self.decoded) = (0, Vec::new());
        let mut text = Vec::with_capacity(TEXT.min(self.text.left(TEXT)));
        (&mut self.text).take(TEXT as u64).read_to_end(&mut text)?;
        let bad = |message: String| io::Error::new(ErrorKind::InvalidData, message);
        self.decoded = STANDARD.decode(&text).map_err(|error| bad(format!("the text is not base64: {error}")))?;
        if self.decoded.len() < text.len() / 4 * 3 && self.text.left(1) > 0 {
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
        if self.used == self.decoded.len() && self.text.left(1) > 0 {
            self.decode()?;
        }
        Ok(&self.decoded[self.used..])
    }

    fn consume(&mut self, count: usize) {
        self.used += count;
    }
}

impl Bytes for Base64 {
    fn seek(&mut self, to: u64) -> io::Result<()> {
        let here = to.checked_sub(self.first).filter(|&here| here < self.decoded.len() as u64);
        if let Some(here) = here {
            self.used = here as usize;
            return Ok(());
        }
        self.text.seek(to / 3 * 4)?;
        (self.first, self.decoded) = (to / 3 * 3, Vec::new());
        self.decode()?;
        self.used = ((to % 3) as usize).min(self.decoded.len());
        Ok(())
    }

    fn position(&self) -> u64 {
        self.text.position()
    }
}
