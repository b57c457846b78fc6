//! [`Numbers`]: numbers after the header of a PLY file.

use zippy_files::quoted;

use super::super::source::MeshSource;
use super::header::{Element, Encoding, Property};
use crate::IoError;
use crate::scalar::ScalarKind;

pub(super) struct NumberReader<'a> {
    pub source: MeshSource<'a>,
    encoding: Encoding,
}

impl<'a> NumberReader<'a> {
    pub(super) fn new(source: MeshSource<'a>, encoding: Encoding) -> Self {
        Self { source, encoding }
    }

    /// Checks that the rest of the file can hold the rows of an element with the shortest lists.
    pub(super) fn need(&self, element: &Element) -> Result<(), IoError> {
        // A number in text needs a digit and white space.
        let min_bytes = |property: &Property| match self.encoding {
            Encoding::Text => 2,
            Encoding::Binary { .. } => property.count.unwrap_or(property.kind).bytes(),
        };
        let width: u64 = element.properties.iter().map(min_bytes).sum();
        let bytes = element.count.checked_mul(width);
        let unterminated = u64::from(self.encoding == Encoding::Text);
        self.source.need(bytes.map(|bytes| bytes.saturating_sub(unterminated))).map(drop)
    }

    /// Reads the next number, without loss: every type fits f64.
    pub(super) fn number(&mut self, kind: ScalarKind) -> Result<f64, IoError> {
        let Encoding::Binary { big_endian } = self.encoding else { return self.word(kind) };
        let mut bytes = [0; 8];
        let bytes = &mut bytes[..kind.bytes() as usize];
        self.source.fill(bytes)?;
        if big_endian {
            bytes.reverse();
        }
        Ok(little_endian(kind, bytes))
    }

    fn word(&mut self, kind: ScalarKind) -> Result<f64, IoError> {
        let Some(word) = self.source.word()? else {
            let message = "the file ends before the numbers of its elements; it is truncated";
            return self.source.malformed(self.source.length, message);
        };
        let range = kind.range();
        let number = word.text.parse::<f64>().ok();
        // Some writers write 3.0 for an integer.
        let fits =
            |number: f64| range.is_none_or(|(low, high)| number >= low && number <= high && number.fract() == 0.0);
        number.filter(|&number| fits(number)).ok_or_else(|| {
            let message = format!("{} is not a number of type {kind}", quoted(&word.text));
            IoError::malformed(self.source.path, word.at, message)
        })
    }

    /// Reads the length of a list; an error if it is negative or more than the file holds.
    pub(super) fn length(&mut self, list: &Property, count: ScalarKind) -> Result<u64, IoError> {
        let at = self.source.at;
        let length = self.number(count)?;
        if !(length >= 0.0 && length.fract() == 0.0) {
            return self.source.malformed(at, format!("a list of {length} entries"));
        }
        let length = length as u64;
        let width = if self.encoding == Encoding::Text { 1 } else { list.kind.bytes() };
        self.source.need(length.checked_mul(width))?;
        Ok(length)
    }

    pub(super) fn drop_property(&mut self, property: &Property) -> Result<(), IoError> {
        let Some(count) = property.count else { return self.number(property.kind).map(drop) };
        for _ in 0..self.length(property, count)? {
            self.number(property.kind)?;
        }
        Ok(())
    }
}

fn little_endian(kind: ScalarKind, bytes: &[u8]) -> f64 {
    fn read<const N: usize>(bytes: &[u8]) -> [u8; N] {
        std::array::from_fn(|byte| bytes[byte])
    }
    match kind {
        ScalarKind::I8 => i8::from_le_bytes(read(bytes)).into(),
        ScalarKind::U8 => u8::from_le_bytes(read(bytes)).into(),
        ScalarKind::I16 => i16::from_le_bytes(read(bytes)).into(),
        ScalarKind::U16 => u16::from_le_bytes(read(bytes)).into(),
        ScalarKind::I32 => i32::from_le_bytes(read(bytes)).into(),
        ScalarKind::U32 => u32::from_le_bytes(read(bytes)).into(),
        ScalarKind::I64 => i64::from_le_bytes(read(bytes)) as f64,
        ScalarKind::U64 => u64::from_le_bytes(read(bytes)) as f64,
        ScalarKind::F16 => half::f16::from_le_bytes(read(bytes)).into(),
        ScalarKind::F32 => f32::from_le_bytes(read(bytes)).into(),
        ScalarKind::F64 => f64::from_le_bytes(read(bytes)),
    }
}
