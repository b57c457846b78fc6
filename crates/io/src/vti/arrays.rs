//! Location of an array's numbers: parses the lengths before binary data and checks the end of the
//! data.

use std::collections::BTreeSet;
use std::sync::Arc;

use zippy_files::{FileError, quoted};

use super::document::{Document, NumbersAt, VtiArray};
use crate::IoError;
use crate::head::Head;
use crate::scalar::ScalarKind;
use crate::voxels::{CompressedBlocks, Encoding, Segment, prefix, tail};

fn base64_length(bytes: u64) -> u64 {
    bytes.div_ceil(3).saturating_mul(4)
}

pub(crate) struct ArrayLocator<'a> {
    head: &'a Head,
    document: &'a Document,
    end: u64,
    /// Possible starts of appended arrays: the sorted offsets of all arrays.
    starts: Vec<u64>,
    /// Starts of the arrays that have been located.
    located: BTreeSet<u64>,
}

/// Byte range that begins with the length of an array.
struct BinaryRange {
    start: u64,
    /// Start of the next item in the file.
    end: u64,
    base64: bool,
    /// True if only white space may follow the data before `end`.
    must_fill: bool,
}

impl<'a> ArrayLocator<'a> {
    /// Locates the end of the appended data; an error if the file does not end after them.
    pub(crate) fn new(head: &'a Head, document: &'a Document) -> Result<Self, IoError> {
        let mut arrays = Self { head, document, end: 0, starts: Vec::new(), located: BTreeSet::new() };
        let Some(appended) = &document.appended else { return Ok(arrays) };
        let text = tail(&head.path)?;
        let tag = b"</AppendedData>";
        let found = text.windows(tag.len()).rposition(|window| window == tag);
        let is_followed_by_end = |at: usize| text[at + tag.len()..].trim_ascii_start().starts_with(b"</VTKFile>");
        let found = found.filter(|&at| is_followed_by_end(at)).map(|at| head.length - (text.len() - at) as u64);
        let Some(end) = found.filter(|&end| end >= appended.start) else {
            let message = "the file does not end with </AppendedData> and </VTKFile>; it is truncated";
            return Err(IoError::malformed(&head.path, head.length, message));
        };
        arrays.end = end;
        let all = document.pieces.iter().flat_map(|piece| piece.points.iter().chain(&piece.cells));
        let offsets = all.filter_map(|array| match array.numbers {
            NumbersAt::Appended(offset) => Some(appended.start.saturating_add(offset)),
            _ => None,
        });
        arrays.starts = offsets.collect();
        arrays.starts.sort_unstable();
        Ok(arrays)
    }

    fn malformed<T>(&self, at: u64, message: String) -> Result<T, IoError> {
        Err(IoError::malformed(&self.head.path, at, message))
    }

    pub(crate) fn segment(&mut self, array: &VtiArray, kind: ScalarKind, bytes: u64) -> Result<Segment, IoError> {
        let binary = match (&array.numbers, &self.document.appended) {
            (NumbersAt::Text(text), _) => {
                return self.segment_of(text.start, text.end, false, Encoding::Ascii, bytes).checked(kind);
            }
            (NumbersAt::Binary(text), _) => {
                BinaryRange { start: text.start, end: text.end, base64: true, must_fill: true }
            }
            (NumbersAt::Appended(_), None) => return self.malformed(array.at, "there is no AppendedData".into()),
            (NumbersAt::Appended(offset), Some(appended)) => {
                let start = appended.start.saturating_add(*offset);
                // With a separate block table per array, all tables together are no longer than the
                // file.
                if !self.located.insert(start) {
                    let message = format!("array {} begins where that of another piece does", quoted(&array.name));
                    return self.malformed(array.at, message);
                }
                let next_index = self.starts.partition_point(|&other| other <= start);
                let next = self.starts.get(next_index).copied().filter(|&other| other <= self.end);
                let (base64, must_fill) = (appended.base64, appended.base64 || next.is_none());
                BinaryRange { start, end: next.unwrap_or(self.end), base64, must_fill }
            }
        };
        if binary.start >= binary.end {
            let message = format!("the offset of array {} is after the end of the appended data", quoted(&array.name));
            return self.malformed(array.at, message);
        }
        let segment = match &self.document.compressor {
            None => self.plain(array, &binary, bytes)?,
            Some(name) if name.value == "vtkZLibDataCompressor" => {
                self.blocks(array, &binary, bytes, Encoding::Zlib)?
            }
            Some(name) if name.value == "vtkLZ4DataCompressor" => self.blocks(array, &binary, bytes, Encoding::Lz4)?,
            Some(name) => {
                let message = format!(
                    "compressor {} is not read; write the file with vtkZLibDataCompressor, vtkLZ4DataCompressor or without \
                     one (vtkXMLWriter: SetCompressorTypeToZLib, SetCompressorTypeToLZ4 or SetCompressorTypeToNone)",
                    quoted(&name.value)
                );
                return Err(IoError::unsupported(&self.head.path, name.at, message));
            }
        };
        self.check_end(&segment, &binary)?;
        segment.checked(kind)
    }

    fn segment_of(&self, start: u64, end: u64, base64: bool, encoding: Encoding, bytes: u64) -> Segment {
        let path = self.head.path.clone();
        Segment { path, start, end, base64, encoding, lead: 0, bytes, open_ended: false, surplus: 0 }
    }

    /// Reads the first `count` bytes, in whole groups for base64.
    fn read_first(&self, binary: &BinaryRange, count: u64) -> Result<Vec<u8>, IoError> {
        let length = if binary.base64 { base64_length(count) } else { count };
        let end = binary.start.saturating_add(length).min(binary.end);
        prefix(&self.segment_of(binary.start, end, binary.base64, Encoding::Raw, count))
    }

    fn number(&self, bytes: &[u8]) -> u64 {
        let value = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
        if self.document.big_endian == Some(true) { value.swap_bytes() >> (64 - 8 * bytes.len()) } else { value }
    }

    /// Numbers after a length.
    fn plain(&self, array: &VtiArray, binary: &BinaryRange, bytes: u64) -> Result<Segment, IoError> {
        let word = self.document.header_bytes;
        let first = self.read_first(binary, word)?;
        let length = self.number(&first);
        if length != bytes {
            let name = quoted(&array.name);
            return self.malformed(binary.start, format!("array {name} has {length} bytes; its extent needs {bytes}"));
        }
        if !binary.base64 {
            let start = binary.start + word;
            return Ok(self.segment_of(start, start.saturating_add(bytes), false, Encoding::Raw, bytes));
        }
        // Some writers encode the length separately, with padding.
        let separate_start = binary.start + base64_length(word);
        if prefix(&self.segment_of(separate_start - 1, separate_start, false, Encoding::Raw, 1))? == b"=" {
            return Ok(self.segment_of(
                separate_start,
                separate_start.saturating_add(base64_length(bytes)),
                true,
                Encoding::Raw,
                bytes,
            ));
        }
        let end = binary.start.saturating_add(base64_length(word.saturating_add(bytes)));
        Ok(Segment { lead: word, ..self.segment_of(binary.start, end, true, Encoding::Raw, bytes) })
    }

    /// Compressed blocks after their table: number of blocks, bytes of each block and of the last
    /// one, compressed bytes of each block.
    fn blocks(
        &self,
        array: &VtiArray,
        binary: &BinaryRange,
        bytes: u64,
        encoding: fn(Arc<CompressedBlocks>) -> Encoding,
    ) -> Result<Segment, IoError> {
        let word = self.document.header_bytes;
        let numbers = |count: u64| -> Result<Vec<u64>, IoError> {
            Ok(self
                .read_first(binary, count * word)?
                .chunks_exact(word as usize)
                .map(|bytes| self.number(bytes))
                .collect())
        };
        let head = numbers(3)?;
        let [count, size, last] = [head[0], head[1], head[2]];
        let table_error = |what: String| self.malformed(binary.start, format!("array {}: {what}", quoted(&array.name)));
        if count.saturating_add(3).saturating_mul(word) > binary.end - binary.start {
            return table_error(format!("a table of {count} blocks does not fit the file"));
        }
        if size == 0 {
            return table_error("its header declares blocks of 0 bytes".into());
        }
        let whole = if last == 0 { count } else { count.saturating_sub(1) };
        let total = whole.checked_mul(size).and_then(|total| total.checked_add(last));
        if total != Some(bytes) || last > size {
            return table_error(format!(
                "{count} blocks of {size} bytes, the last of {last}; its extent needs {bytes} bytes"
            ));
        }
        let table = numbers(count + 3)?;
        let table_length = if binary.base64 { base64_length((count + 3) * word) } else { (count + 3) * word };
        let mut starts = vec![0_u64];
        for length in &table[3..] {
            let end = starts[starts.len() - 1].saturating_add(*length);
            starts.push(end);
        }
        let packed = starts[starts.len() - 1];
        let start = binary.start + table_length;
        let end = start.saturating_add(if binary.base64 { base64_length(packed) } else { packed });
        let blocks = encoding(Arc::new(CompressedBlocks { starts, size }));
        Ok(self.segment_of(start, end, binary.base64, blocks, bytes))
    }

    fn check_end(&self, segment: &Segment, binary: &BinaryRange) -> Result<(), IoError> {
        let expected = segment.bytes;
        let Some(left) = binary.end.checked_sub(segment.end) else {
            let path = self.head.path.clone();
            let found = expected.saturating_sub(segment.end - binary.end);
            return Err(FileError::Truncated { path, offset: binary.end, found, expected }.into());
        };
        if !binary.must_fill {
            return Ok(());
        }
        let checked = left.min(1 << 12);
        let rest = prefix(&self.segment_of(segment.end, segment.end + checked, false, Encoding::Raw, checked))?;
        if left > checked || !rest.iter().all(u8::is_ascii_whitespace) {
            return Err(FileError::Oversized { path: self.head.path.clone(), offset: segment.end, expected }.into());
        }
        Ok(())
    }
}
