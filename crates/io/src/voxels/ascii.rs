//! Decimal numbers in text, converted to the bytes of their type.

use std::io::{self, BufRead, ErrorKind};

use zippy_files::quoted;

use super::source::Bytes;
use crate::scalar::ScalarKind;

const MAX_WORD_BYTES: usize = 64;

pub(super) struct NumberParser {
    bytes: Box<dyn Bytes>,
    kind: ScalarKind,
}

impl NumberParser {
    pub(super) fn new(bytes: Box<dyn Bytes>, kind: ScalarKind) -> Self {
        Self { bytes, kind }
    }

    /// Offset of the next byte in the file.
    pub(super) fn position(&self) -> u64 {
        self.bytes.position()
    }

    /// Reads whole numbers in the machine's byte order, as many as fit; fewer only at the end of
    /// the text.
    pub(super) fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let width = self.kind.bytes() as usize;
        let mut word = [0; MAX_WORD_BYTES];
        for (number, target) in out.chunks_exact_mut(width).enumerate() {
            let length = self.word(&mut word)?;
            if length == 0 {
                return Ok(number * width);
            }
            let text = std::str::from_utf8(&word[..length]).ok();
            if text.and_then(|text| parse(self.kind, text, target)).is_none() {
                let word = String::from_utf8_lossy(&word[..length]);
                let message = format!("{} is not a number of type {}", quoted(&word), self.kind);
                return Err(io::Error::new(ErrorKind::InvalidData, message));
            }
        }
        Ok(out.len() / width * width)
    }

    /// Reads the next word; returns its length, 0 at the end.
    fn word(&mut self, word: &mut [u8; MAX_WORD_BYTES]) -> io::Result<usize> {
        let mut length = 0;
        loop {
            let buffer = self.bytes.fill_buf()?;
            if buffer.is_empty() {
                return Ok(length);
            }
            let mut used = 0;
            for &byte in buffer {
                let white = byte.is_ascii_whitespace();
                if white && length > 0 {
                    self.bytes.consume(used);
                    return Ok(length);
                }
                if !white {
                    if length == MAX_WORD_BYTES {
                        let message = format!("a word of more than {MAX_WORD_BYTES} characters is no number");
                        return Err(io::Error::new(ErrorKind::InvalidData, message));
                    }
                    word[length] = byte;
                    length += 1;
                }
                used += 1;
            }
            self.bytes.consume(used);
        }
    }
}

fn parse(kind: ScalarKind, text: &str, out: &mut [u8]) -> Option<()> {
    macro_rules! number {
        ($type:ty) => {
            out.copy_from_slice(&text.parse::<$type>().ok()?.to_ne_bytes())
        };
    }
    match kind {
        ScalarKind::U8 => number!(u8),
        ScalarKind::I8 => number!(i8),
        ScalarKind::U16 => number!(u16),
        ScalarKind::I16 => number!(i16),
        ScalarKind::U32 => number!(u32),
        ScalarKind::I32 => number!(i32),
        ScalarKind::U64 => number!(u64),
        ScalarKind::I64 => number!(i64),
        ScalarKind::F16 => number!(half::f16),
        ScalarKind::F32 => number!(f32),
        ScalarKind::F64 => number!(f64),
    }
    Some(())
}
