//! XML elements from a file, with a bound on the size of everything except numbers.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::ops::Range;
use std::path::Path;

use quick_xml::Reader;
use quick_xml::events::Event;
use zippy_files::{open_regular, quoted};

use crate::IoError;
use crate::head::Head;

pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

const MOST: u64 = 1 << 20;

/// Maximum nesting depth of elements; images use five levels.
const MAX_DEPTH: usize = 64;

struct BoundedReader {
    file: BufReader<File>,
    left: u64,
    most: u64,
}

impl Read for BoundedReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let got = self.fill_buf()?.read(out)?;
        self.consume(got);
        Ok(got)
    }
}

impl BufRead for BoundedReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let buffer = self.file.fill_buf()?;
        if self.left == 0 && !buffer.is_empty() {
            let message = format!("more than {} bytes of elements, numbers not counted", self.most);
            return Err(io::Error::new(ErrorKind::InvalidData, message));
        }
        Ok(&buffer[..buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX))])
    }

    fn consume(&mut self, count: usize) {
        self.file.consume(count);
        self.left -= count as u64;
    }
}

pub(crate) struct Xml<'a> {
    path: &'a Path,
    reader: Reader<BoundedReader>,
    buffer: Vec<u8>,
    /// Offset of the parser's start in the file.
    lead: u64,
    depth: usize,
}

impl<'a> Xml<'a> {
    pub(crate) fn open(head: &'a Head) -> Result<Self, IoError> {
        Self::bounded(head, MOST)
    }

    /// Opens a document with at most `most` bytes of elements.
    pub(crate) fn bounded(head: &'a Head, most: u64) -> Result<Self, IoError> {
        let path = &*head.path;
        let (file, _) = open_regular(path)?;
        let mut file = BufReader::with_capacity(1 << 16, file);
        let lead = if head.bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() as u64 } else { 0 };
        file.seek_relative(lead as i64).map_err(|error| IoError::system(path, "read", &error))?;
        let reader = Reader::from_reader(BoundedReader { file, left: most, most });
        Ok(Self { path, reader, buffer: Vec::new(), lead, depth: 0 })
    }

    /// Checks that all elements are closed at the end of the document.
    pub(crate) fn all_closed(&self, open: &[String]) -> Result<(), IoError> {
        let Some(name) = open.last() else { return Ok(()) };
        let message = format!("the file ends inside the element {}; it is truncated", quoted(name));
        Err(IoError::malformed(self.path, self.at(), message))
    }

    pub(crate) fn at(&self) -> u64 {
        self.lead + self.reader.buffer_position()
    }

    pub(crate) fn next(&mut self) -> Result<(u64, Event<'_>), IoError> {
        self.buffer.clear();
        let at = self.at();
        let event = self.reader.read_event_into(&mut self.buffer);
        match &event {
            Ok(Event::Start(_)) => self.depth += 1,
            Ok(Event::End(_)) => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        if self.depth > MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} elements inside each other");
            return Err(IoError::unsupported(self.path, at, message));
        }
        match event {
            // Entities of a document type can expand each other exponentially.
            Ok(Event::DocType(_)) => {
                Err(IoError::unsupported(self.path, at, "a document type declaration is not read"))
            }
            Ok(event) => Ok((at, event)),
            Err(quick_xml::Error::Io(error)) if error.kind() != ErrorKind::InvalidData => {
                Err(IoError::system(self.path, "read", &error))
            }
            Err(error) => Err(IoError::malformed(self.path, at, format!("malformed XML: {error}"))),
        }
    }

    /// Skips text of any length up to the next element or the end, and returns its range without
    /// surrounding white space.
    pub(crate) fn text(&mut self) -> Result<Option<Range<u64>>, IoError> {
        let bound = std::mem::replace(&mut self.reader.get_mut().left, u64::MAX);
        let before = self.reader.buffer_position();
        let found = self.skip_text();
        // Text does not count towards the limit.
        let passed = self.reader.buffer_position() - before;
        debug_assert_eq!(self.reader.get_ref().left, u64::MAX - passed);
        self.reader.get_mut().left = bound;
        let found = found.map_err(|error| IoError::system(self.path, "read", &error))?;
        Ok(found.map(|text| text.start + self.lead..text.end + self.lead))
    }

    fn skip_text(&mut self) -> io::Result<Option<Range<u64>>> {
        let mut stream = self.reader.stream();
        let mut found: Option<Range<u64>> = None;
        loop {
            let at = stream.offset();
            let buffer = stream.fill_buf()?;
            let end = buffer.iter().position(|&byte| byte == b'<');
            let piece = &buffer[..end.unwrap_or(buffer.len())];
            let is_visible = |byte: &u8| !byte.is_ascii_whitespace();
            if let (Some(first), Some(last)) = (piece.iter().position(is_visible), piece.iter().rposition(is_visible)) {
                let start = found.map_or(at + first as u64, |text| text.start);
                found = Some(start..at + last as u64 + 1);
            }
            let count = piece.len();
            stream.consume(count);
            if end.is_some() || count == 0 {
                return Ok(found);
            }
        }
    }

    /// Offset after the next underscore, which only white space may precede.
    pub(crate) fn underscore(&mut self) -> Result<u64, IoError> {
        let mut stream = self.reader.stream();
        let mut byte = [b' '];
        while byte[0].is_ascii_whitespace() {
            match stream.read_exact(&mut byte) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => break,
                Err(error) => return Err(IoError::system(self.path, "read", &error)),
            }
        }
        match byte[0] {
            b'_' => Ok(self.at()),
            _ => Err(IoError::malformed(self.path, self.at(), "appended data must begin with an underscore")),
        }
    }
}
