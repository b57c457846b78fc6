//! Words and numbers of a header, each with the byte where it stands.

use std::borrow::Cow;
use std::path::Path;

use crate::error::IoError;
use crate::io::scalar::ScalarKind;

/// The beginning of a text, as an error shows it.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}

/// One line without its ending.
pub(super) struct Line<'a> {
    pub text: Cow<'a, str>,
    /// Byte of its first character.
    pub start: u64,
    /// Byte after its ending.
    pub end: u64,
    /// Whether a line feed closed it.
    pub terminated: bool,
}

/// Splits at line feeds; a carriage return before one belongs to the ending.
pub(super) struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Lines<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
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

/// The canonical name of a field, any spelling the format allows.
pub(super) fn field_of(name: &str) -> Option<&'static str> {
    Some(match name.trim().to_ascii_lowercase().as_str() {
        "dimension" => "dimension",
        "type" => "type",
        "block size" | "blocksize" => "block size",
        "encoding" => "encoding",
        "endian" => "endian",
        "content" => "content",
        "old min" | "oldmin" => "old min",
        "old max" | "oldmax" => "old max",
        "min" => "min",
        "max" => "max",
        "data file" | "datafile" => "data file",
        "line skip" | "lineskip" => "line skip",
        "byte skip" | "byteskip" => "byte skip",
        "number" => "number",
        "sample units" | "sampleunits" => "sample units",
        "sizes" => "sizes",
        "spacings" => "spacings",
        "thicknesses" => "thicknesses",
        "axis mins" | "axismins" => "axis mins",
        "axis maxs" | "axismaxs" => "axis maxs",
        "centers" | "centerings" => "centers",
        "labels" => "labels",
        "units" => "units",
        "kinds" => "kinds",
        "space" => "space",
        "space dimension" => "space dimension",
        "space units" => "space units",
        "space origin" => "space origin",
        "space directions" => "space directions",
        "measurement frame" => "measurement frame",
        _ => return None,
    })
}

/// The type named by the field "type".
pub(super) fn scalar_kind(path: &Path, at: u64, value: &str) -> Result<ScalarKind, IoError> {
    Ok(match value.to_ascii_lowercase().as_str() {
        "signed char" | "int8" | "int8_t" => ScalarKind::I8,
        "uchar" | "unsigned char" | "uint8" | "uint8_t" => ScalarKind::U8,
        "short" | "short int" | "signed short" | "signed short int" | "int16" | "int16_t" => ScalarKind::I16,
        "ushort" | "unsigned short" | "unsigned short int" | "uint16" | "uint16_t" => ScalarKind::U16,
        "int" | "signed int" | "int32" | "int32_t" => ScalarKind::I32,
        "uint" | "unsigned int" | "uint32" | "uint32_t" => ScalarKind::U32,
        "longlong"
        | "long long"
        | "long long int"
        | "signed long long"
        | "signed long long int"
        | "int64"
        | "int64_t" => ScalarKind::I64,
        "ulonglong" | "unsigned long long" | "unsigned long long int" | "uint64" | "uint64_t" => ScalarKind::U64,
        "float" => ScalarKind::F32,
        "double" => ScalarKind::F64,
        "block" => return Err(IoError::unsupported(path, at, "type block (opaque records) is not read")),
        _ => return Err(IoError::malformed(path, at, format!("unknown type {:?}", shown(value)))),
    })
}

fn count(path: &Path, at: u64, field: &str, given: usize, wanted: usize) -> Result<(), IoError> {
    if given == wanted {
        return Ok(());
    }
    Err(IoError::malformed(path, at, format!("field \"{field}\" has {given} values, {wanted} are needed")))
}

/// One word per axis.
pub(super) fn axis_words<'a>(
    path: &Path,
    at: u64,
    field: &str,
    value: &'a str,
    axes: usize,
) -> Result<Vec<&'a str>, IoError> {
    let words: Vec<&str> = value.split_whitespace().collect();
    count(path, at, field, words.len(), axes)?;
    Ok(words)
}

/// Decimal integers that fit 64 bits.
pub(super) fn integers(path: &Path, at: u64, field: &str, value: &str, wanted: usize) -> Result<Vec<i64>, IoError> {
    let parse = |word: &&str| {
        word.parse::<i64>().map_err(|_| {
            IoError::malformed(path, at, format!("field \"{field}\": {:?} is not an integer of 64 bits", shown(word)))
        })
    };
    axis_words(path, at, field, value, wanted)?.iter().map(parse).collect()
}

fn float(path: &Path, at: u64, field: &str, word: &str) -> Result<f64, IoError> {
    word.parse::<f64>()
        .map_err(|_| IoError::malformed(path, at, format!("field \"{field}\": {:?} is not a number", shown(word))))
}

/// Floating-point numbers; "nan" stands for "says nothing".
pub(super) fn floats(path: &Path, at: u64, field: &str, value: &str, axes: usize) -> Result<Vec<f64>, IoError> {
    axis_words(path, at, field, value, axes)?.iter().map(|word| float(path, at, field, word)).collect()
}

/// Strings in double quotes, one per axis; `\"` inside is a quote.
pub(super) fn quoted(path: &Path, at: u64, field: &str, value: &str, axes: usize) -> Result<(), IoError> {
    let (mut strings, mut inside, mut escaped) = (0, false, false);
    for letter in value.chars() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if inside => escaped = true,
            '"' => {
                strings += usize::from(!inside);
                inside = !inside;
            }
            _ if inside || letter.is_whitespace() => {}
            _ => {
                let message = format!("field \"{field}\": {letter:?} stands outside double quotes");
                return Err(IoError::malformed(path, at, message));
            }
        }
    }
    if inside {
        return Err(IoError::malformed(path, at, format!("field \"{field}\": a double quote is not closed")));
    }
    count(path, at, field, strings, axes)
}

/// The lengths of the vectors of "space directions"; "none" marks an axis of components, which is refused.
pub(super) fn vectors(path: &Path, at: u64, value: &str, axes: usize) -> Result<Vec<f64>, IoError> {
    let bad = |message: String| IoError::malformed(path, at, format!("field \"space directions\": {message}"));
    let mut lengths = Vec::new();
    let mut rest = value.trim_start();
    while !rest.is_empty() && lengths.len() <= axes {
        if rest.starts_with("none") {
            let message = format!(
                "axis {} has no direction: it holds components; only one number per voxel is read",
                lengths.len()
            );
            return Err(IoError::unsupported(path, at, message));
        }
        let inner = rest.strip_prefix('(').ok_or_else(|| bad("a vector must begin with \"(\"".into()))?;
        let (inner, after) = inner.split_once(')').ok_or_else(|| bad("a vector must end with \")\"".into()))?;
        let parts = inner.split(',').map(|word| float(path, at, "space directions", word.trim()));
        let sum = parts.map(|part| part.map(|v| v * v)).sum::<Result<f64, IoError>>()?;
        lengths.push(sum.sqrt());
        rest = after.trim_start();
    }
    count(path, at, "space directions", lengths.len(), axes)?;
    Ok(lengths)
}
