//! The text header: which fields there must be, and what they say together.

use std::path::Path;

use super::fields::{Line, Lines, axis_words, field_of, floats, integers, quoted, scalar_kind, shown, vectors};
use crate::error::IoError;
use crate::io::scalar::ScalarKind;

/// A header longer than this is refused.
pub(super) const HEADER_LIMIT: usize = 1 << 20;

/// How the voxels are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// As they are in memory.
    Raw,
    /// Compressed by gzip, one or several members.
    Gzip,
}

/// What an NRRD header says, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// Type of a voxel.
    pub kind: ScalarKind,
    /// Voxels along each axis, 1 to 3 axes, axis 0 fastest; every one at least 1, and the bytes of all fit 63 bits.
    pub sizes: Vec<u64>,
    /// Distance of neighbouring voxels along each axis; 1 where the header says nothing.
    pub spacings: Vec<f64>,
    /// How the voxels are stored.
    pub encoding: Encoding,
    /// Most significant byte first.
    pub big_endian: bool,
    /// The file that holds the voxels of a detached header.
    pub data_file: Option<String>,
    /// Lines of the data file to skip before decoding.
    pub line_skip: u64,
    /// Bytes to skip after decoding; -1: the data stand at the end of the file.
    pub byte_skip: i64,
    /// Bytes of the header with its closing empty line.
    pub bytes: u64,
}

impl Header {
    /// Bytes of all voxels, uncompressed.
    pub fn data_bytes(&self) -> u64 {
        self.sizes.iter().product::<u64>() * self.kind.bytes()
    }

    /// Reads a header from the first bytes of a file. `complete`: `bytes` is the whole file and not only its beginning.
    ///
    /// # Errors
    /// What breaks the format, with its byte.
    pub fn parse(path: &Path, bytes: &[u8], complete: bool) -> Result<Self, IoError> {
        let mut draft = Draft { path, seen: Vec::new(), dimension: None, found: Found::default() };
        let mut lines = Lines::new(bytes);
        let magic = lines.next().filter(|line| line.terminated || complete);
        match magic.as_ref().map(|line| line.text.as_bytes()) {
            Some([b'N', b'R', b'R', b'D', b'0', b'0', b'0', b'1'..=b'5']) => {}
            _ => return Err(IoError::malformed(path, 0, "not an NRRD file (it must begin with NRRD0001 to NRRD0005)")),
        }
        let mut end = None;
        for line in lines.by_ref() {
            let closed = line.terminated || complete && draft.found.data_file.is_some();
            if !closed {
                break;
            }
            if line.text.is_empty() {
                end = Some(line.end);
                break;
            }
            draft.line(&line)?;
        }
        let detached = draft.found.data_file.is_some();
        let end = match end {
            Some(end) => end,
            None if complete && detached => bytes.len() as u64,
            None if complete => {
                return Err(IoError::malformed(
                    path,
                    bytes.len() as u64,
                    "the file ends inside the header (no empty line closes it)",
                ));
            }
            None => {
                let message = format!("no empty line closes the header within {} bytes", bytes.len());
                return Err(IoError::malformed(path, bytes.len() as u64, message));
            }
        };
        draft.finish(end)
    }
}

/// What the fields have said so far.
#[derive(Default)]
struct Found {
    kind: Option<ScalarKind>,
    sizes: Option<Vec<u64>>,
    spacings: Option<(u64, Vec<f64>)>,
    encoding: Option<Encoding>,
    big_endian: Option<bool>,
    data_file: Option<String>,
    line_skip: u64,
    byte_skip: i64,
    byte_skip_at: u64,
}

struct Draft<'a> {
    path: &'a Path,
    /// Fields seen so far, by canonical name.
    seen: Vec<&'static str>,
    dimension: Option<usize>,
    found: Found,
}

impl Draft<'_> {
    fn malformed(&self, at: u64, message: impl Into<String>) -> IoError {
        IoError::malformed(self.path, at, message)
    }

    fn line(&mut self, line: &Line) -> Result<(), IoError> {
        // A comment, or a key/value pair, which carries no meaning for the data.
        if line.text.starts_with('#') {
            return Ok(());
        }
        let colon = line.text.find(':').ok_or_else(|| {
            self.malformed(line.start, format!("{:?} is neither \"field: value\" nor a comment", shown(&line.text)))
        })?;
        let (name, rest) = line.text.split_at(colon);
        if rest.starts_with(":=") {
            return Ok(());
        }
        let Some(value) = rest.strip_prefix(": ") else {
            return Err(self.malformed(line.start + colon as u64, "a field's colon must be followed by a space"));
        };
        let field =
            field_of(name).ok_or_else(|| self.malformed(line.start, format!("unknown field {:?}", shown(name))))?;
        if self.seen.contains(&field) {
            return Err(self.malformed(line.start, format!("field \"{field}\" is given twice")));
        }
        self.seen.push(field);
        let lead = value.len() - value.trim_start().len();
        self.field(field, value.trim(), line.start + colon as u64 + 2 + lead as u64)
    }

    fn dimension(&self, field: &str, at: u64) -> Result<usize, IoError> {
        self.dimension.ok_or_else(|| self.malformed(at, format!("field \"{field}\" stands before \"dimension\"")))
    }

    fn field(&mut self, field: &'static str, value: &str, at: u64) -> Result<(), IoError> {
        let path = self.path;
        let one = |value: &str| -> Result<i64, IoError> { Ok(integers(path, at, field, value, 1)?[0]) };
        match field {
            "dimension" => {
                let dimension = one(value)?;
                match dimension {
                    1..=3 => self.dimension = Some(dimension as usize),
                    4..=16 => {
                        return Err(IoError::unsupported(
                            path,
                            at,
                            format!(
                                "{dimension} axes; 1 to 3 axes of one number per voxel are read (split components or time steps into files)"
                            ),
                        ));
                    }
                    _ => return Err(self.malformed(at, format!("dimension {dimension}; it must be 1 to 16"))),
                }
            }
            "type" => self.found.kind = Some(scalar_kind(path, at, value)?),
            "sizes" => {
                let sizes = integers(path, at, field, value, self.dimension(field, at)?)?;
                if let Some(bad) = sizes.iter().find(|&&size| size < 1) {
                    return Err(self.malformed(at, format!("a size of {bad}; every axis must have at least 1 voxel")));
                }
                self.found.sizes = Some(sizes.iter().map(|&size| size as u64).collect());
            }
            "spacings" => {
                let values = floats(path, at, field, value, self.dimension(field, at)?)?;
                self.found.spacings = Some((at, values));
            }
            "space directions" => {
                let values = vectors(path, at, value, self.dimension(field, at)?)?;
                self.found.spacings = Some((at, values));
            }
            "encoding" => {
                self.found.encoding = Some(match value.to_ascii_lowercase().as_str() {
                    "raw" => Encoding::Raw,
                    "gz" | "gzip" => Encoding::Gzip,
                    "txt" | "text" | "ascii" | "hex" | "bz2" | "bzip2" => {
                        let message = format!("encoding {value} is not read; convert the file to raw or gzip");
                        return Err(IoError::unsupported(path, at, message));
                    }
                    _ => return Err(self.malformed(at, format!("unknown encoding {:?}", shown(value)))),
                });
            }
            "endian" => {
                self.found.big_endian = Some(match value.to_ascii_lowercase().as_str() {
                    "little" => false,
                    "big" => true,
                    _ => return Err(self.malformed(at, format!("endian {:?}; it must be little or big", shown(value)))),
                });
            }
            "data file" => self.data_file(value, at)?,
            "line skip" => {
                let lines = one(value)?;
                self.found.line_skip =
                    u64::try_from(lines).map_err(|_| self.malformed(at, format!("line skip {lines} is negative")))?;
            }
            "byte skip" => {
                self.found.byte_skip = one(value)?;
                self.found.byte_skip_at = at;
                if self.found.byte_skip < -1 {
                    return Err(self.malformed(at, format!("byte skip {value}; it must be at least -1")));
                }
            }
            "kinds" => self.kinds(value, at)?,
            "thicknesses" | "axis mins" | "axis maxs" => {
                floats(path, at, field, value, self.dimension(field, at)?)?;
            }
            "centers" => {
                axis_words(path, at, field, value, self.dimension(field, at)?)?;
            }
            "labels" | "units" => quoted(path, at, field, value, self.dimension(field, at)?)?,
            // Free text or numbers that do not concern where the voxels are or how far apart.
            _ => {}
        }
        Ok(())
    }

    fn data_file(&mut self, value: &str, at: u64) -> Result<(), IoError> {
        let several = value.starts_with("LIST") || (value.contains('%') && value.split_whitespace().count() > 1);
        if several {
            let message = "data spread over several files are not read; join them into one";
            return Err(IoError::unsupported(self.path, at, message));
        }
        if value.is_empty() {
            return Err(self.malformed(at, "field \"data file\" names no file"));
        }
        self.found.data_file = Some(value.to_string());
        Ok(())
    }

    fn kinds(&self, value: &str, at: u64) -> Result<(), IoError> {
        let words = axis_words(self.path, at, "kinds", value, self.dimension("kinds", at)?)?;
        for (axis, word) in words.iter().enumerate() {
            match word.to_ascii_lowercase().as_str() {
                "domain" | "space" | "time" | "none" | "???" => {}
                _ => {
                    let message =
                        format!("axis {axis} holds components ({}); only one number per voxel is read", shown(word));
                    return Err(IoError::unsupported(self.path, at, message));
                }
            }
        }
        Ok(())
    }

    fn finish(self, end: u64) -> Result<Header, IoError> {
        let missing = |field: &str| self.malformed(end, format!("the header ends without the field \"{field}\""));
        let kind = self.found.kind.ok_or_else(|| missing("type"))?;
        let dimension = self.dimension.ok_or_else(|| missing("dimension"))?;
        let sizes = self.found.sizes.clone().ok_or_else(|| missing("sizes"))?;
        let encoding = self.found.encoding.ok_or_else(|| missing("encoding"))?;
        let big_endian = match self.found.big_endian {
            Some(big) => big,
            None if kind.bytes() == 1 => false,
            None => return Err(missing("endian")),
        };
        if self.seen.contains(&"spacings") && self.seen.contains(&"space directions") {
            return Err(self.malformed(end, "the header gives both \"spacings\" and \"space directions\""));
        }
        let (at, mut spacings) = self.found.spacings.clone().unwrap_or((end, vec![1.0; dimension]));
        for (axis, spacing) in spacings.iter_mut().enumerate() {
            if spacing.is_nan() {
                *spacing = 1.0;
            }
            if !(spacing.is_finite() && *spacing > 0.0) {
                let message = format!("a spacing of {spacing} on axis {axis}; it must be a positive number");
                return Err(self.malformed(at, message));
            }
        }
        let bytes = sizes.iter().try_fold(kind.bytes(), |product, &size| product.checked_mul(size));
        if bytes.is_none_or(|bytes| bytes > i64::MAX as u64) {
            return Err(self.malformed(end, format!("sizes {sizes:?} of {kind} are more bytes than fit 63 bits")));
        }
        if self.found.byte_skip == -1 && encoding != Encoding::Raw {
            return Err(self.malformed(self.found.byte_skip_at, "byte skip -1 goes with encoding raw only"));
        }
        let Found { data_file, line_skip, byte_skip, .. } = self.found;
        Ok(Header { kind, sizes, spacings, encoding, big_endian, data_file, line_skip, byte_skip, bytes: end })
    }
}
