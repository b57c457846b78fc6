//! Lines, keys, words and numbers of a text header, with their offsets.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use zippy_files::quoted;

use crate::IoError;

const MOST_KEYS: usize = 1000;

pub(crate) struct Keys<T> {
    values: HashMap<String, T>,
}

impl<T> Default for Keys<T> {
    fn default() -> Self {
        Self { values: HashMap::new() }
    }
}

impl<T> Keys<T> {
    pub(crate) fn get(&self, key: &str) -> Option<&T> {
        self.values.get(key)
    }

    /// Adds a value; a duplicate key, or too many keys, is an error.
    pub(crate) fn add(&mut self, key: &str, value: T) -> Result<(), String> {
        let full = self.values.len() == MOST_KEYS;
        match self.values.entry(key.to_string()) {
            Entry::Occupied(_) => Err("is given twice".into()),
            Entry::Vacant(_) if full => Err(format!("is one of more than {MOST_KEYS} keys")),
            Entry::Vacant(entry) => {
                entry.insert(value);
                Ok(())
            }
        }
    }
}

/// Line without its line ending.
pub(crate) struct Line<'a> {
    pub text: Cow<'a, str>,
    /// Offset of the first character.
    pub start: u64,
    /// Offset after the line ending.
    pub end: u64,
    /// True if a line feed ended the line.
    pub terminated: bool,
}

/// Iterator over lines, split at line feeds; a carriage return before a line feed belongs to the
/// line ending.
pub(crate) struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let (length, terminated) = match rest.iter().position(|&byte| byte == b'\n') {
            Some(length) => (length, true),
            None => (rest.len(), false),
        };
        let start = self.at as u64;
        self.at += length + usize::from(terminated);
        let text = rest[..length].strip_suffix(b"\r").unwrap_or(&rest[..length]);
        Some(Line { text: String::from_utf8_lossy(text), start, end: self.at as u64, terminated })
    }
}

pub(crate) fn check_count(path: &Path, at: u64, field: &str, values: usize, wanted: usize) -> Result<(), IoError> {
    if values == wanted {
        return Ok(());
    }
    Err(IoError::malformed(path, at, format!("field \"{field}\" has {values} values, {wanted} are needed")))
}

pub(crate) fn axis_words<'a>(
    path: &Path,
    at: u64,
    field: &str,
    value: &'a str,
    axes: usize,
) -> Result<Vec<&'a str>, IoError> {
    let words: Vec<&str> = value.split_whitespace().collect();
    check_count(path, at, field, words.len(), axes)?;
    Ok(words)
}

pub(crate) fn integers(path: &Path, at: u64, field: &str, value: &str, wanted: usize) -> Result<Vec<i64>, IoError> {
    let parse = |word: &&str| {
        word.parse::<i64>().map_err(|_| {
            IoError::malformed(path, at, format!("field \"{field}\": {} is not an integer of 64 bits", quoted(word)))
        })
    };
    axis_words(path, at, field, value, wanted)?.iter().map(parse).collect()
}

pub(crate) fn float(path: &Path, at: u64, field: &str, word: &str) -> Result<f64, IoError> {
    word.parse::<f64>()
        .map_err(|_| IoError::malformed(path, at, format!("field \"{field}\": {} is not a number", quoted(word))))
}

/// Parses floating-point numbers; "nan" stands for an unknown value.
pub(crate) fn floats(path: &Path, at: u64, field: &str, value: &str, axes: usize) -> Result<Vec<f64>, IoError> {
    axis_words(path, at, field, value, axes)?.iter().map(|word| float(path, at, field, word)).collect()
}
