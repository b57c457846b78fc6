//! Lines of a MetaImage header.

use std::path::Path;

use zippy_files::quoted;

use crate::IoError;
use crate::head::Head;
use crate::text::{Keys, Lines, floats, integers};
use crate::voxels::Stated;

/// Keys and values up to the key that locates the data.
pub(super) struct Fields<'a> {
    path: &'a Path,
    values: Keys<Stated<String>>,
    /// Lines of a list of files.
    pub names: Vec<String>,
    /// Bytes of the header.
    pub end: u64,
}

impl<'a> Fields<'a> {
    pub(super) fn parse(head: &'a Head) -> Result<Self, IoError> {
        let path = &head.path;
        let mut fields = Self { path, values: Keys::default(), names: Vec::new(), end: 0 };
        let mut lines = Lines::new(&head.bytes);
        while fields.get("ElementDataFile").is_none() {
            let Some(line) = lines.next().filter(|line| line.terminated || head.complete()) else {
                let message = "the header ends without the line \"ElementDataFile = ...\"";
                return Err(IoError::malformed(path, head.bytes.len() as u64, message));
            };
            fields.end = line.end;
            if line.text.trim().is_empty() {
                continue;
            }
            let Some((key, value)) = line.text.split_once('=') else {
                let message = format!("{} is not \"Key = Value\"", quoted(&line.text));
                return Err(IoError::malformed(path, line.start, message));
            };
            let at = line.start + (line.text.len() - value.trim_start().len()) as u64;
            fields.add(key.trim(), Stated::new(value.trim().to_string(), at), line.start)?;
        }
        if fields.need("ElementDataFile")?.value.starts_with("LIST") {
            let names = lines.map(|line| line.text.trim().to_string());
            fields.names = names.filter(|name| !name.is_empty()).collect();
        }
        Ok(fields)
    }

    fn add(&mut self, key: &str, value: Stated<String>, at: u64) -> Result<(), IoError> {
        // Comments may be repeated.
        if key.eq_ignore_ascii_case("Comment") {
            return Ok(());
        }
        let added = self.values.add(&key.to_ascii_lowercase(), value);
        added.map_err(|wrong| IoError::malformed(self.path, at, format!("{} {wrong}", quoted(key))))
    }

    pub(super) fn get(&self, key: &str) -> Option<&Stated<String>> {
        self.values.get(&key.to_ascii_lowercase())
    }

    pub(super) fn missing(&self, key: &str) -> IoError {
        IoError::malformed(self.path, self.end, format!("the header has no line \"{key} = ...\""))
    }

    pub(super) fn need(&self, key: &str) -> Result<Stated<String>, IoError> {
        self.get(key).cloned().ok_or_else(|| self.missing(key))
    }

    pub(super) fn integers(&self, key: &str, count: usize) -> Result<Option<Stated<Vec<i64>>>, IoError> {
        let parse = |values: &Stated<String>| {
            Ok(Stated::new(integers(self.path, values.at, key, &values.value, count)?, values.at))
        };
        self.get(key).map(parse).transpose()
    }

    pub(super) fn integer(&self, key: &str) -> Result<Option<Stated<i64>>, IoError> {
        Ok(self.integers(key, 1)?.map(|all| Stated::new(all.value[0], all.at)))
    }

    /// Parses `count` numbers. Further ones are ignored as in MetaIO: writers put three for two
    /// axes.
    pub(super) fn floats(&self, key: &str, count: usize) -> Result<Option<Stated<Vec<f64>>>, IoError> {
        let parse = |stated: &Stated<String>| {
            let words = stated.value.split_whitespace().count();
            let mut values = floats(self.path, stated.at, key, &stated.value, words.max(count))?;
            values.truncate(count);
            Ok(Stated::new(values, stated.at))
        };
        self.get(key).map(parse).transpose()
    }

    pub(super) fn boolean(&self, key: &str) -> Result<Option<bool>, IoError> {
        let Some(values) = self.get(key) else { return Ok(None) };
        match values.value.to_ascii_lowercase().as_str() {
            "true" | "t" | "1" => Ok(Some(true)),
            "false" | "f" | "0" => Ok(Some(false)),
            _ => {
                let message = format!("{key} is {}; it must be True or False", quoted(&values.value));
                Err(IoError::malformed(self.path, values.at, message))
            }
        }
    }
}
