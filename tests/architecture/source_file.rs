//! [`SourceFile`]: a source file as text, and as code without comments and string contents.

use std::path::{Path, PathBuf};

/// File of the project.
#[derive(Clone)]
pub(crate) struct SourceFile {
    /// Path relative to the project's root, with forward slashes.
    pub name: String,
    pub text: String,
    /// Text with comments, strings and character literals replaced by spaces. Byte offsets and line
    /// breaks are the same as in `text`.
    pub code: String,
}

impl SourceFile {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        SourceFile { name: name.into(), text: text.into(), code: blank(text) }
    }

    /// Line number of a byte offset, from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        1 + self.text.as_bytes()[..offset].iter().filter(|byte| **byte == b'\n').count()
    }

    pub(crate) fn lines(&self) -> usize {
        self.text.lines().count()
    }

    pub(crate) fn first_comment(&self) -> String {
        let lines = self.text.lines().skip_while(|line| line.trim().is_empty());
        lines.take_while(|line| line.trim_start().starts_with("//")).collect::<Vec<_>>().join(" ")
    }
}

/// Replaces comments, strings and character literals by spaces, byte for byte.
fn blank(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => line_end(bytes, at),
            b'/' if bytes[at..].starts_with(b"/*") => block_end(bytes, at),
            b'"' => string_end(bytes, at),
            b'r' if !follows_word(bytes, at) && raw_hashes(bytes, at).is_some() => {
                raw_end(bytes, at, raw_hashes(bytes, at).unwrap_or(0))
            }
            b'\'' => char_end(bytes, at),
            _ => {
                at += 1;
                continue;
            }
        };
        for byte in &mut code[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    String::from_utf8(code).expect("whole characters are blanked")
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| at + length)
}

fn block_end(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if bytes[at..].starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                break;
            }
        } else {
            at += 1;
        }
    }
    at
}

fn string_end(bytes: &[u8], mut at: usize) -> usize {
    at += 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// True if the letter at `at` continues a word. The `r` of the prefixes `br` and `cr` starts a raw
/// string and continues no word.
fn follows_word(bytes: &[u8], at: usize) -> bool {
    let word = |at: usize| bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_';
    let prefixed = at >= 1 && matches!(bytes[at - 1], b'b' | b'c') && (at < 2 || !word(at - 2));
    at >= 1 && word(at - 1) && !prefixed
}

/// Number of `#` of the raw string with its `r` at `at`; `None` if no raw string starts there.
fn raw_hashes(bytes: &[u8], at: usize) -> Option<usize> {
    let hashes = bytes[at + 1..].iter().take_while(|byte| **byte == b'#').count();
    (bytes.get(at + 1 + hashes) == Some(&b'"')).then_some(hashes)
}

fn raw_end(bytes: &[u8], at: usize, hashes: usize) -> usize {
    let close = [b"\"".to_vec(), vec![b'#'; hashes]].concat();
    let start = at + hashes + 2;
    let found = bytes[start..].windows(close.len()).position(|window| window == close);
    found.map_or(bytes.len(), |length| start + length + close.len())
}

/// End of the character literal at `at`. For the quote of a lifetime, the end of the quote.
fn char_end(bytes: &[u8], at: usize) -> usize {
    if bytes.get(at + 1) == Some(&b'\\') {
        let close = bytes[(at + 3).min(bytes.len())..].iter().position(|byte| *byte == b'\'');
        return close.map_or(bytes.len(), |length| at + 4 + length);
    }
    // One character of one to four bytes, then the quote.
    let first = bytes.get(at + 1).copied().unwrap_or(0);
    let length = 1 + [0xc0, 0xe0, 0xf0].iter().filter(|lead| first >= **lead).count();
    if bytes.get(at + 1 + length) == Some(&b'\'') { at + 2 + length } else { at + 1 }
}

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Files below a directory whose names end in `ending`, sorted; without hidden directories and
/// build directories.
fn files(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                open.push(path);
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Files of the workspace with names that end in `ending`, without the directory `shared`.
pub(crate) fn sources(ending: &str) -> Vec<SourceFile> {
    let root = root();
    let read = |path: PathBuf| {
        let name = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        let text = std::fs::read_to_string(&path).unwrap();
        SourceFile::new(&name, &text)
    };
    files(&root, ending).into_iter().map(read).filter(|source| !source.name.starts_with("shared/")).collect()
}
