//! [`MeshSource`]: sequential reader of a mesh file.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use zippy_files::{FileError, open_regular, quoted};

use crate::IoError;

const MAX_LINE_BYTES: u64 = 1 << 16;

const MAX_WORD_BYTES: usize = 256;

const BLOCK_BYTES: u64 = 1 << 20;

pub(super) struct MeshSource<'a> {
    pub path: &'a Path,
    file: BufReader<File>,
    /// Offset of the next byte.
    pub at: u64,
    pub length: u64,
}

/// Line without its line ending.
pub(super) struct Line {
    pub text: String,
    /// Offset of the first byte.
    pub at: u64,
    /// True if a line feed ended the line.
    pub closed: bool,
    /// First byte that is not UTF-8, as in names and comments of older programs.
    pub strange: Option<u64>,
}

/// Word between white space.
pub(super) struct Word {
    pub text: String,
    /// Offset of the first byte.
    pub at: u64,
}

impl Word {
    /// Compares without regard to case.
    pub(super) fn is(&self, wanted: &str) -> bool {
        self.text.eq_ignore_ascii_case(wanted)
    }

    /// Error message if `wanted` is expected.
    pub(super) fn wrong(&self, wanted: &str) -> String {
        format!("{} stands where {wanted} is expected", quoted(&self.text))
    }

    /// The word without the byte order mark that some editors put at the beginning of a file.
    pub(super) fn without_mark(mut self) -> Self {
        if let Some(text) = self.text.strip_prefix('\u{feff}') {
            self.text = text.to_string();
        }
        self
    }
}

impl<'a> MeshSource<'a> {
    pub(super) fn open(path: &'a Path) -> Result<Self, IoError> {
        let (file, length) = open_regular(path)?;
        Ok(Self { path, file: BufReader::with_capacity(1 << 16, file), at: 0, length })
    }

    pub(super) fn malformed<T>(&self, at: u64, message: impl Into<String>) -> Result<T, IoError> {
        Err(IoError::malformed(self.path, at, message))
    }

    pub(super) fn left(&self) -> u64 {
        self.length.saturating_sub(self.at)
    }

    pub(super) fn need(&self, bytes: Option<u64>) -> Result<u64, IoError> {
        let (found, expected) = (self.left(), bytes.unwrap_or(u64::MAX));
        if found < expected {
            let path = self.path.to_path_buf();
            return Err(FileError::Truncated { path, offset: self.length, found, expected }.into());
        }
        Ok(expected)
    }

    /// Checks that the file ends here, after `expected` bytes in all.
    pub(super) fn end(&self, expected: u64) -> Result<(), IoError> {
        if self.left() == 0 {
            return Ok(());
        }
        Err(FileError::Oversized { path: self.path.to_path_buf(), offset: self.at, expected }.into())
    }

    pub(super) fn fill(&mut self, out: &mut [u8]) -> Result<(), IoError> {
        self.need(Some(out.len() as u64))?;
        self.file.read_exact(out).map_err(|error| match error.kind() {
            // Another program has truncated the file since it was opened.
            ErrorKind::UnexpectedEof => IoError::malformed(self.path, self.at, "the file ends here; it was longer"),
            _ => IoError::system(self.path, "read", &error),
        })?;
        self.at += out.len() as u64;
        Ok(())
    }

    /// Calls `take` for `count` rows of `width` bytes, each with its offset.
    pub(super) fn rows(
        &mut self,
        count: u64,
        width: u64,
        mut take: impl FnMut(u64, &[u8]) -> Result<(), IoError>,
    ) -> Result<(), IoError> {
        self.need(count.checked_mul(width))?;
        if width == 0 {
            return Ok(());
        }
        let most = (BLOCK_BYTES / width).max(1).min(count);
        let mut block = vec![0; (most * width) as usize];
        let mut left = count;
        while left > 0 {
            let rows = left.min(most);
            let (start, block) = (self.at, &mut block[..(rows * width) as usize]);
            self.fill(block)?;
            for (row, bytes) in block.chunks_exact(width as usize).enumerate() {
                take(start + row as u64 * width, bytes)?;
            }
            left -= rows;
        }
        Ok(())
    }

    /// A line that is too long is an error.
    pub(super) fn line(&mut self) -> Result<Option<Line>, IoError> {
        let (at, mut bytes) = (self.at, Vec::new());
        let read = (&mut self.file).take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut bytes);
        self.at += read.map_err(|error| IoError::system(self.path, "read", &error))? as u64;
        if bytes.is_empty() {
            return Ok(None);
        }
        let closed = bytes.last() == Some(&b'\n');
        if !closed && bytes.len() as u64 > MAX_LINE_BYTES {
            return self.malformed(at, format!("a line of more than {MAX_LINE_BYTES} bytes"));
        }
        let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let strange = std::str::from_utf8(text).err().map(|error| at + error.valid_up_to() as u64);
        Ok(Some(Line { text: String::from_utf8_lossy(text).into_owned(), at, closed, strange }))
    }

    pub(super) fn demand_text(&self, line: &Line) -> Result<(), IoError> {
        line.strange.map_or(Ok(()), |at| self.malformed(at, "the line is not text in UTF-8"))
    }

    /// Reads up to `count` bytes without consuming them.
    pub(super) fn peek(&mut self, count: usize) -> Result<&[u8], IoError> {
        let buffer = self.file.fill_buf().map_err(|error| IoError::system(self.path, "read", &error))?;
        Ok(&buffer[..buffer.len().min(count)])
    }

    /// Reads the next word; `None` at the end of the file. A word that is too long is an error.
    pub(super) fn word(&mut self) -> Result<Option<Word>, IoError> {
        let (mut bytes, mut start) = (Vec::new(), self.at);
        loop {
            let buffer = self.file.fill_buf().map_err(|error| IoError::system(self.path, "read", &error))?;
            if buffer.is_empty() {
                break;
            }
            let skipped = if bytes.is_empty() {
                buffer.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(buffer.len())
            } else {
                0
            };
            let rest = &buffer[skipped..];
            let length = rest.iter().position(u8::is_ascii_whitespace);
            start += skipped as u64;
            bytes.extend(&rest[..length.unwrap_or(rest.len()).min(MAX_WORD_BYTES + 1)]);
            if bytes.len() > MAX_WORD_BYTES {
                return self.malformed(start, format!("a word of more than {MAX_WORD_BYTES} bytes"));
            }
            let used = skipped + length.unwrap_or(rest.len());
            self.file.consume(used);
            self.at += used as u64;
            if length.is_some() {
                break;
            }
        }
        let word = || Word { text: String::from_utf8_lossy(&bytes).into_owned(), at: start };
        Ok((!bytes.is_empty()).then(word))
    }

    /// Reads the next word of the line; `None` at the end of the line (a line feed or a carriage
    /// return). Longer words are cut to [`MAX_WORD_BYTES`] bytes.
    pub(super) fn word_of_line(&mut self) -> Result<Option<Word>, IoError> {
        let (mut bytes, mut start) = (Vec::new(), self.at);
        loop {
            let buffer = self.file.fill_buf().map_err(|error| IoError::system(self.path, "read", &error))?;
            let Some(&byte) = buffer.first() else { break };
            match byte {
                b'\n' | b'\r' if !bytes.is_empty() => break,
                b'\n' | b'\r' => {
                    self.file.consume(1);
                    self.at += 1;
                    return Ok(None);
                }
                _ if !byte.is_ascii_whitespace() => {
                    let length = buffer.iter().position(u8::is_ascii_whitespace).unwrap_or(buffer.len());
                    let room = MAX_WORD_BYTES.saturating_sub(bytes.len());
                    bytes.extend(&buffer[..length.min(room)]);
                    self.file.consume(length);
                    self.at += length as u64;
                }
                _ if !bytes.is_empty() => break,
                _ => {
                    self.file.consume(1);
                    self.at += 1;
                    start = self.at;
                }
            }
        }
        let word = || Word { text: String::from_utf8_lossy(&bytes).into_owned(), at: start };
        Ok((!bytes.is_empty()).then(word))
    }

    /// Checks that only white space follows the `expected` bytes of data.
    pub(super) fn end_of_data(&mut self, expected: u64) -> Result<(), IoError> {
        match self.word() {
            Ok(None) => Ok(()),
            Err(error @ IoError::File(FileError::System { .. })) => Err(error),
            Ok(Some(Word { at: offset, .. })) | Err(IoError::File(FileError::Malformed { offset, .. })) => {
                Err(FileError::Oversized { path: self.path.to_path_buf(), offset, expected }.into())
            }
            Err(error) => Err(error),
        }
    }
}

/// Three little-endian floats from byte `at` of a row.
pub(super) fn vector(row: &[u8], at: usize) -> [f32; 3] {
    [0, 4, 8].map(|part| f32::from_le_bytes([0, 1, 2, 3].map(|byte| row[at + part + byte])))
}
