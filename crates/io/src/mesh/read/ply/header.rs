use zippy_files::{FileError, quoted};

use crate::IoError;
use crate::mesh::read::source::{Line, MeshSource};
use crate::scalar::ScalarKind;

const MAX_HEADER_BYTES: u64 = 1 << 20;
/// Maximum number of elements, and of properties of an element.
const MAX_ENTRIES: usize = 1000;

pub(super) struct Element {
    pub name: String,
    /// Byte of the element in the header.
    pub at: u64,
    pub count: u64,
    pub properties: Vec<Property>,
}

pub(super) struct Property {
    pub name: String,
    pub at: u64,
    /// Type of the length of a list; `None` for a single number.
    pub count: Option<ScalarKind>,
    pub kind: ScalarKind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Encoding {
    Text,
    Binary { big_endian: bool },
}

/// Reads encoding and elements. The source is then at the end of the header.
pub(super) fn read(source: &mut MeshSource<'_>) -> Result<(Encoding, Vec<Element>), IoError> {
    match source.line() {
        Ok(Some(line)) if line.text.trim_end() == "ply" && line.closed => {}
        Err(error @ IoError::File(FileError::System { .. })) => return Err(error),
        _ => return source.malformed(0, "a PLY file begins with a line of \"ply\""),
    }
    let mut elements: Vec<Element> = Vec::new();
    let mut encoding = None;
    loop {
        let Some(line) = source.line()?.filter(|line| line.closed) else {
            return source.malformed(source.length, "the file ends inside the header, before a line of end_header");
        };
        if source.at > MAX_HEADER_BYTES {
            return source.malformed(line.at, format!("a header of more than {MAX_HEADER_BYTES} bytes"));
        }
        if !matches!(line.text.split_ascii_whitespace().next(), Some("comment" | "obj_info")) {
            source.demand_text(&line)?;
        }
        let words: Vec<&str> = line.text.split_ascii_whitespace().collect();
        match words[..] {
            [] | ["comment" | "obj_info", ..] => {}
            ["format", name, "1.0"] if encoding.is_none() && parse_encoding(name).is_some() => {
                encoding = parse_encoding(name)
            }
            ["format", ..] => {
                let message = format!(
                    "{}; version 1.0 of ascii, binary_little_endian or binary_big_endian is read, once",
                    quoted(&line.text)
                );
                return Err(IoError::unsupported(source.path, line.at, message));
            }
            ["element", name, count] => element(source, &line, &mut elements, name, count)?,
            ["property", "list", count, kind, name] => {
                property(source, &line, &mut elements, Some(count), kind, name)?;
            }
            ["property", kind, name] => property(source, &line, &mut elements, None, kind, name)?,
            ["end_header"] => match encoding {
                Some(encoding) => return Ok((encoding, elements)),
                None => return source.malformed(line.at, "the header has no line of format"),
            },
            _ => return source.malformed(line.at, format!("{} is no line of a header", quoted(&line.text))),
        }
    }
}

fn parse_encoding(name: &str) -> Option<Encoding> {
    match name {
        "ascii" => Some(Encoding::Text),
        "binary_little_endian" => Some(Encoding::Binary { big_endian: false }),
        "binary_big_endian" => Some(Encoding::Binary { big_endian: true }),
        _ => None,
    }
}

fn element(
    source: &MeshSource<'_>,
    line: &Line,
    elements: &mut Vec<Element>,
    name: &str,
    count: &str,
) -> Result<(), IoError> {
    let Ok(count) = count.parse() else {
        return source.malformed(line.at, format!("{} is no number of elements", quoted(count)));
    };
    if elements.iter().any(|element| element.name == name) || elements.len() == MAX_ENTRIES {
        return source.malformed(line.at, format!("the element {} is there twice, or one too many", quoted(name)));
    }
    elements.push(Element { name: name.to_string(), at: line.at, count, properties: Vec::new() });
    Ok(())
}

fn property(
    source: &MeshSource<'_>,
    line: &Line,
    elements: &mut [Element],
    count: Option<&str>,
    kind: &str,
    name: &str,
) -> Result<(), IoError> {
    let scalar_kind = |word: &str| match word {
        "char" | "int8" => Ok(ScalarKind::I8),
        "uchar" | "uint8" => Ok(ScalarKind::U8),
        "short" | "int16" => Ok(ScalarKind::I16),
        "ushort" | "uint16" => Ok(ScalarKind::U16),
        "int" | "int32" => Ok(ScalarKind::I32),
        "uint" | "uint32" => Ok(ScalarKind::U32),
        "float" | "float32" => Ok(ScalarKind::F32),
        "double" | "float64" => Ok(ScalarKind::F64),
        _ => source.malformed(line.at, format!("{} is no type; char to uint, float and double are", quoted(word))),
    };
    let (count, kind) = (count.map(scalar_kind).transpose()?, scalar_kind(kind)?);
    let Some(element) = elements.last_mut() else {
        return source.malformed(line.at, "a property before the first element");
    };
    let properties = &mut element.properties;
    if properties.iter().any(|property| property.name == name) || properties.len() == MAX_ENTRIES {
        return source.malformed(line.at, format!("the property {} is there twice, or one too many", quoted(name)));
    }
    properties.push(Property { name: name.to_string(), at: line.at, count, kind });
    Ok(())
}
