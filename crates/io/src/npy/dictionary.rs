//! Parser for the Python literals in an array header.

use std::path::Path;

use zippy_files::quoted;

use crate::IoError;
use crate::text::Keys;
use crate::voxels::Stated;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Bool(bool),
    Tuple(Vec<i64>),
    /// List in its source text, for the types of records.
    List(String),
}

pub(super) struct Dictionary<'a> {
    path: &'a Path,
    at: u64,
    entries: Keys<Stated<Value>>,
}

impl<'a> Dictionary<'a> {
    /// Parses `text`, which begins at byte `at` of the file.
    pub(super) fn parse(path: &'a Path, at: u64, text: &[u8]) -> Result<Self, IoError> {
        let mut scan = Scanner { path, at, text, next: 0 };
        let mut entries = Keys::default();
        scan.expect(b'{')?;
        while !scan.accept(b'}') {
            let key = scan.string()?;
            scan.expect(b':')?;
            scan.skip_white_space();
            let here = scan.here();
            let value = scan.value()?;
            let added = entries.add(&key, Stated::new(value, here));
            added.map_err(|wrong| IoError::malformed(path, here, format!("{} {wrong}", quoted(&key))))?;
            if !scan.accept(b',') {
                scan.expect(b'}')?;
                break;
            }
        }
        scan.skip_white_space();
        if scan.next < text.len() {
            return Err(scan.wrong("nothing"));
        }
        Ok(Self { path, at, entries })
    }

    pub(super) fn get(&self, name: &str) -> Result<&Stated<Value>, IoError> {
        let missing = || IoError::malformed(self.path, self.at, format!("the header has no entry {name:?}"));
        self.entries.get(name).ok_or_else(missing)
    }
}

struct Scanner<'a> {
    path: &'a Path,
    at: u64,
    text: &'a [u8],
    next: usize,
}

impl Scanner<'_> {
    fn here(&self) -> u64 {
        self.at + self.next as u64
    }

    fn wrong(&self, wanted: &str) -> IoError {
        let rest = String::from_utf8_lossy(&self.text[self.next..]);
        let message = format!("the header should have {wanted} here, not {}", quoted(&rest));
        IoError::malformed(self.path, self.here(), message)
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.next).copied()
    }

    fn skip_white_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.next += 1;
        }
    }

    fn accept(&mut self, byte: u8) -> bool {
        self.skip_white_space();
        let found = self.peek() == Some(byte);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), IoError> {
        if self.accept(byte) { Ok(()) } else { Err(self.wrong(&format!("{:?}", char::from(byte)))) }
    }

    /// Text before the next byte that `ends` accepts.
    fn until(&mut self, ends: impl Fn(u8) -> bool) -> &str {
        let start = self.next;
        while self.peek().is_some_and(|byte| !ends(byte)) {
            self.next += 1;
        }
        std::str::from_utf8(&self.text[start..self.next]).unwrap_or("")
    }

    fn string(&mut self) -> Result<String, IoError> {
        self.skip_white_space();
        let quote = self.peek().filter(|byte| matches!(byte, b'\'' | b'"')).ok_or_else(|| self.wrong("a text"))?;
        self.next += 1;
        let text = self.until(|byte| byte == quote).to_string();
        self.expect(quote)?;
        Ok(text)
    }

    fn value(&mut self) -> Result<Value, IoError> {
        match self.peek() {
            Some(b'\'' | b'"') => Ok(Value::Text(self.string()?)),
            Some(b'(') => self.tuple(),
            Some(b'[') => self.list(),
            _ => match self.until(|byte| !byte.is_ascii_alphabetic()) {
                "True" => Ok(Value::Bool(true)),
                "False" => Ok(Value::Bool(false)),
                _ => Err(self.wrong("a text, True, False, a tuple or a list")),
            },
        }
    }

    fn tuple(&mut self) -> Result<Value, IoError> {
        self.expect(b'(')?;
        let mut values = Vec::new();
        while !self.accept(b')') {
            // Python 2 appends L to long integers.
            let word = self.until(|byte| !byte.is_ascii_digit() && byte != b'-').to_string();
            values.push(word.parse().map_err(|_| self.wrong("an integer of 64 bits"))?);
            self.next += usize::from(self.peek() == Some(b'L'));
            if !self.accept(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(Value::Tuple(values))
    }

    /// Text of a list, with nested brackets and strings.
    fn list(&mut self) -> Result<Value, IoError> {
        let (start, mut depth) = (self.next, 0_usize);
        loop {
            match self.peek() {
                Some(b'\'' | b'"') => {
                    self.string()?;
                    continue;
                }
                Some(b'[') => depth += 1,
                Some(b']') => depth -= 1,
                None => return Err(self.wrong("the end of a list")),
                _ => {}
            }
            self.next += 1;
            if depth == 0 {
                return Ok(Value::List(String::from_utf8_lossy(&self.text[start..self.next]).into()));
            }
        }
    }
}
