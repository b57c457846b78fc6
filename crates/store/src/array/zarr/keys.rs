//! [`ChunkKeys`]: file names of chunks.

use std::fs;
use std::path::Path;

use serde_json::Value;
use zarrs::metadata::v3::MetadataV3;

use super::values::{literal, wrong};

const MOST_ENTRIES: usize = 10_000;

pub(super) struct ChunkKeys {
    is_prefixed: bool,
    separator: char,
}

impl ChunkKeys {
    pub(super) fn new(encoding: &MetadataV3) -> Result<Self, String> {
        let separator = encoding.configuration().and_then(|all| all.get("separator")).unwrap_or(&Value::Null);
        let (is_prefixed, usual) = match encoding.name() {
            "default" => (true, '/'),
            "v2" => (false, '.'),
            name => {
                let name = Value::from(name);
                return Err(wrong("chunk_key_encoding", &name, "\"default\" and \"v2\" are read"));
            }
        };
        let separator = match separator.as_str() {
            None if separator.is_null() => usual,
            Some("/") => '/',
            Some(".") => '.',
            _ => {
                return Err(format!("the \"separator\" of chunks is {}; \"/\" and \".\" are read", literal(separator)));
            }
        };
        Ok(Self { is_prefixed, separator })
    }

    /// File name of a chunk with indices in Zarr's order.
    pub(super) fn encode(&self, numbers: &[u64]) -> String {
        let mut parts: Vec<String> = self.is_prefixed.then(|| "c".into()).into_iter().collect();
        parts.extend(numbers.iter().map(u64::to_string));
        parts.join(&String::from(self.separator))
    }

    /// True for the name of a chunk with indices up to `most`.
    fn is_key(&self, name: &str, most: &[u64]) -> bool {
        let numbers = if self.is_prefixed { name.strip_prefix('c').unwrap_or_default() } else { name };
        let numbers: Option<Vec<u64>> = numbers
            .split(self.separator)
            .skip(usize::from(self.is_prefixed))
            .map(|number| number.parse().ok())
            .collect();
        let is_in_range = |numbers: &Vec<u64>| {
            numbers.len() == most.len() && numbers.iter().zip(most).all(|(number, most)| number <= most)
        };
        numbers.filter(is_in_range).is_some_and(|numbers| self.encode(&numbers) == name)
    }

    /// Name of a file in the directory of an array without chunks: a sign of a wrong key encoding.
    /// `None` if a chunk exists, there is no file, or there are too many entries.
    pub(super) fn foreign_file(&self, directory: &Path, most: &[u64]) -> Option<String> {
        let (mut directories, mut entries, mut foreign_file) = (vec![directory.to_path_buf()], 0, None);
        while let Some(at) = directories.pop() {
            for entry in fs::read_dir(at).ok()? {
                let entry = entry.ok()?;
                entries += 1;
                if entries > MOST_ENTRIES {
                    return None;
                }
                let (path, kind) = (entry.path(), entry.file_type().ok()?);
                let name = path.strip_prefix(directory).ok()?.to_string_lossy().replace('\\', "/");
                let is_document = name == "zarr.json" || name.split('/').any(|part| part.starts_with('.'));
                if kind.is_dir() {
                    directories.push(path);
                } else if self.is_key(&name, most) {
                    return None;
                } else if !is_document {
                    foreign_file.get_or_insert(name);
                }
            }
        }
        foreign_file
    }
}
