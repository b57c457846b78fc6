//! [`Header`]: parsing and consistency checks of the text header.

use std::path::Path;

use zippy_files::quoted;

use super::data_files::{DataFileField, DataFiles};
use super::fields::{
    AxisKind, axis_kind, canonical_name, directions, left_handed, length, scalar_kind, strings, vector,
};
use super::notes::OtherFields;
use crate::IoError;
use crate::array::Metadata;
use crate::scalar::ScalarKind;
use crate::text::{Line, Lines, axis_words, floats, integers};
use crate::voxels::{Claim, Encoding, Stated, VoxelLayout, make_spacings_positive};

pub(super) struct Header {
    pub grid: VoxelLayout,
    pub metadata: Metadata,
    pub encoding: Encoding,
    pub files: DataFiles,
    /// Byte of the field that names the data files.
    pub files_at: u64,
    /// Lines of a data file to skip before decoding.
    pub line_skip: u64,
    /// Bytes to skip after decoding; -1: the data are at the end of the file.
    pub byte_skip: i64,
    /// Bytes of the header with its closing empty line.
    pub end: u64,
}

impl Header {
    /// Parses a header with at most `most_axes` axes of voxels from the first bytes of a file.
    /// `complete` is true if `bytes` is the whole file.
    pub(super) fn parse(path: &Path, bytes: &[u8], complete: bool, most_axes: usize) -> Result<Self, IoError> {
        let (values, notes) = (ParsedFields::default(), OtherFields::default());
        let mut draft = HeaderParser { path, most_axes, parsed: Vec::new(), dimension: None, values, notes };
        let mut lines = Lines::new(bytes);
        let magic = lines.next().filter(|line| line.terminated || complete);
        match magic.as_ref().map(|line| line.text.as_bytes()) {
            Some([b'N', b'R', b'R', b'D', b'0', b'0', b'0', b'1'..=b'5']) => {}
            _ => return Err(IoError::malformed(path, 0, "not an NRRD file (it must begin with NRRD0001 to NRRD0005)")),
        }
        let mut end = None;
        for line in lines.by_ref() {
            if draft.is_in_list() {
                draft.name(&line);
                continue;
            }
            if !(line.terminated || complete && draft.detached()) {
                break;
            }
            if line.text.is_empty() {
                end = Some(line.end);
                break;
            }
            draft.line(&line)?;
        }
        let end = match end {
            Some(end) => end,
            None if complete && draft.detached() => bytes.len() as u64,
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

#[derive(Default)]
struct ParsedFields {
    kind: Option<ScalarKind>,
    sizes: Option<Stated<Vec<i64>>>,
    /// NaN for an axis without a spacing.
    spacings: Option<Stated<Vec<f64>>>,
    /// Axes without a direction, which hold components.
    directionless: Vec<usize>,
    /// Directions of the other axes.
    directions: Option<Vec<Vec<f64>>>,
    kinds: Option<Stated<Vec<ComponentAxis>>>,
    origin: Option<Stated<Vec<f64>>>,
    left_handed: bool,
    encoding: Option<Encoding>,
    big_endian: Option<bool>,
    files: DataFiles,
    files_at: u64,
    /// True if the rest of the header is a list of file names.
    is_list: bool,
    line_skip: u64,
    byte_skip: i64,
    byte_skip_at: u64,
}

/// Axis whose kind marks it as components.
#[derive(Clone)]
struct ComponentAxis {
    axis: usize,
    kind: String,
    /// Number of components, if the kind defines it.
    count: Option<i64>,
}

struct HeaderParser<'a> {
    path: &'a Path,
    most_axes: usize,
    /// Canonical names of the parsed fields.
    parsed: Vec<&'static str>,
    dimension: Option<usize>,
    values: ParsedFields,
    /// Fields that do not affect the positions of voxels.
    notes: OtherFields,
}

impl HeaderParser<'_> {
    fn malformed(&self, at: u64, message: impl Into<String>) -> IoError {
        IoError::malformed(self.path, at, message)
    }

    fn line(&mut self, line: &Line<'_>) -> Result<(), IoError> {
        if line.text.starts_with('#') {
            return Ok(());
        }
        let colon = line.text.find(':').ok_or_else(|| {
            self.malformed(line.start, format!("{} is neither \"field: value\" nor a comment", quoted(&line.text)))
        })?;
        let (name, rest) = line.text.split_at(colon);
        if let Some(value) = rest.strip_prefix(":=") {
            self.notes.add_pair(name, value);
            return Ok(());
        }
        let Some(value) = rest.strip_prefix(": ") else {
            return Err(self.malformed(line.start + colon as u64, "a field's colon must be followed by a space"));
        };
        let field = canonical_name(name)
            .ok_or_else(|| self.malformed(line.start, format!("unknown field {}", quoted(name))))?;
        if self.parsed.contains(&field) {
            return Err(self.malformed(line.start, format!("field \"{field}\" is given twice")));
        }
        self.parsed.push(field);
        let lead = value.len() - value.trim_start().len();
        self.field(field, value.trim(), line.start + colon as u64 + 2 + lead as u64)
    }

    fn dimension(&self, field: &str, at: u64) -> Result<usize, IoError> {
        self.dimension.ok_or_else(|| self.malformed(at, format!("field \"{field}\" stands before \"dimension\"")))
    }

    fn field(&mut self, field: &'static str, value: &str, at: u64) -> Result<(), IoError> {
        let path = self.path;
        let integer = |value: &str| -> Result<i64, IoError> { Ok(integers(path, at, field, value, 1)?[0]) };
        match field {
            "dimension" => {
                let dimension = integer(value)?;
                match usize::try_from(dimension) {
                    Ok(1..=16) if dimension > self.most_axes as i64 + 1 => {
                        return Err(self.too_many_axes(at, dimension));
                    }
                    Ok(dimension @ 1..=16) => self.dimension = Some(dimension),
                    _ => return Err(self.malformed(at, format!("dimension {dimension}; it must be 1 to 16"))),
                }
            }
            "type" => self.values.kind = Some(scalar_kind(path, at, value)?),
            "sizes" => {
                let sizes = integers(path, at, field, value, self.dimension(field, at)?)?;
                self.values.sizes = Some(Stated::new(sizes, at));
            }
            "spacings" => {
                let values = floats(path, at, field, value, self.dimension(field, at)?)?;
                self.values.spacings = Some(Stated::new(values, at));
            }
            "space directions" => {
                let values = directions(path, at, value, self.dimension(field, at)?)?;
                let empty = values.iter().enumerate().filter(|(_, vector)| vector.is_none());
                self.values.directionless = empty.map(|(axis, _)| axis).collect();
                let length = |vector: &Option<Vec<f64>>| vector.as_ref().map_or(f64::NAN, |vector| length(vector));
                let lengths = values.iter().map(length).collect();
                self.values.spacings = Some(Stated::new(lengths, at));
                self.values.directions = Some(values.into_iter().flatten().collect());
            }
            "space" => self.values.left_handed = left_handed(value),
            "space origin" => {
                let (values, _) = vector(path, at, field, value)?;
                self.values.origin = Some(Stated::new(values, at));
            }
            "encoding" => {
                self.values.encoding = Some(match value.to_ascii_lowercase().as_str() {
                    "raw" => Encoding::Raw,
                    "gz" | "gzip" => Encoding::Gzip,
                    "txt" | "text" | "ascii" => Encoding::Ascii,
                    "hex" | "bz2" | "bzip2" => {
                        let message = format!("encoding {value} is not read; convert the file to raw or gzip");
                        return Err(IoError::unsupported(path, at, message));
                    }
                    _ => return Err(self.malformed(at, format!("unknown encoding {}", quoted(value)))),
                });
            }
            "endian" => {
                self.values.big_endian = Some(match value.to_ascii_lowercase().as_str() {
                    "little" => false,
                    "big" => true,
                    _ => return Err(self.malformed(at, format!("endian {}; it must be little or big", quoted(value)))),
                });
            }
            "data file" => {
                let DataFileField { files, is_list } = DataFileField::parse(path, at, value, self.dimension)?;
                (self.values.files, self.values.is_list, self.values.files_at) = (files, is_list, at);
            }
            "line skip" => {
                let lines = integer(value)?;
                self.values.line_skip =
                    u64::try_from(lines).map_err(|_| self.malformed(at, format!("line skip {lines} is negative")))?;
            }
            "byte skip" => {
                self.values.byte_skip = integer(value)?;
                self.values.byte_skip_at = at;
                if self.values.byte_skip < -1 {
                    return Err(self.malformed(at, format!("byte skip {value}; it must be at least -1")));
                }
            }
            "kinds" => self.kinds(value, at)?,
            "axis mins" => self.notes.mins = floats(path, at, field, value, self.dimension(field, at)?)?,
            "axis maxs" => self.notes.maxs = floats(path, at, field, value, self.dimension(field, at)?)?,
            "thicknesses" => drop(floats(path, at, field, value, self.dimension(field, at)?)?),
            "centers" => {
                let words = axis_words(path, at, field, value, self.dimension(field, at)?)?;
                self.notes.centers = words.into_iter().map(str::to_lowercase).collect();
            }
            "labels" => self.notes.labels = strings(path, at, field, value, Some(self.dimension(field, at)?))?,
            "units" => self.notes.units = strings(path, at, field, value, Some(self.dimension(field, at)?))?,
            // One unit per dimension of space. Malformed lists occur and are ignored.
            "space units" => self.notes.space_units = strings(path, at, field, value, None).unwrap_or_default(),
            "content" => self.notes.content = value.to_string(),
            _ => {}
        }
        Ok(())
    }

    fn detached(&self) -> bool {
        self.values.files != DataFiles::Attached
    }

    fn is_in_list(&self) -> bool {
        self.values.is_list
    }

    fn name(&mut self, line: &Line<'_>) {
        if let DataFiles::Several(names) = &mut self.values.files
            && !line.text.trim().is_empty()
        {
            names.push(line.text.trim().to_string());
        }
    }

    fn too_many_axes(&self, at: u64, axes: i64) -> IoError {
        let message = format!(
            "{axes} axes; 1 to {} axes of voxels are read, and components on an axis 0 whose kind says so \
             (split time steps into files)",
            self.most_axes
        );
        IoError::unsupported(self.path, at, message)
    }

    fn kinds(&mut self, value: &str, at: u64) -> Result<(), IoError> {
        let words = axis_words(self.path, at, "kinds", value, self.dimension("kinds", at)?)?;
        let mut values = Vec::new();
        for (axis, word) in words.iter().enumerate() {
            match axis_kind(word) {
                Some(AxisKind::Positions) => {}
                Some(AxisKind::Components(count)) => values.push(ComponentAxis { axis, kind: word.to_string(), count }),
                None => return Err(self.malformed(at, format!("unknown kind {} of axis {axis}", quoted(word)))),
            }
        }
        self.values.kinds = Some(Stated::new(values, at));
        Ok(())
    }

    fn components(&self, sizes: &Stated<Vec<i64>>) -> Result<bool, IoError> {
        let refuse = |axis: usize, what: String, at| {
            let message = format!("axis {axis} {what}: it holds components, which are read on axis 0 only");
            Err(IoError::unsupported(self.path, at, message))
        };
        if let Some(axis) = self.values.directionless.iter().find(|&&axis| axis > 0) {
            return refuse(*axis, "has no direction".into(), self.values.spacings.as_ref().map_or(0, |s| s.at));
        }
        let mut components = !self.values.directionless.is_empty();
        if let Some(Stated { value, at }) = &self.values.kinds {
            for ComponentAxis { axis, kind, count } in value {
                if *axis > 0 && *count != Some(1) {
                    return refuse(*axis, format!("is of kind {kind}"), *at);
                }
                if let Some(count) = count.filter(|count| *count != sizes.value[*axis]) {
                    let message = format!("kind {kind} has {count} samples, axis {axis} has {}", sizes.value[*axis]);
                    return Err(self.malformed(*at, message));
                }
                components |= *axis == 0;
            }
        }
        Ok(components)
    }

    fn finish(mut self, end: u64) -> Result<Header, IoError> {
        let missing = |field: &str| self.malformed(end, format!("the header ends without the field \"{field}\""));
        let kind = self.values.kind.ok_or_else(|| missing("type"))?;
        self.dimension.ok_or_else(|| missing("dimension"))?;
        let mut sizes = self.values.sizes.clone().ok_or_else(|| missing("sizes"))?;
        let encoding = self.values.encoding.clone().ok_or_else(|| missing("encoding"))?;
        let big_endian = match (&encoding, self.values.big_endian) {
            (Encoding::Ascii, _) => cfg!(target_endian = "big"),
            (_, Some(big)) => big,
            (_, None) if kind.bytes() == 1 => false,
            (_, None) => return Err(missing("endian")),
        };
        if self.parsed.contains(&"spacings") && self.parsed.contains(&"space directions") {
            return Err(self.malformed(end, "the header gives both \"spacings\" and \"space directions\""));
        }
        if self.values.byte_skip == -1 && matches!(encoding, Encoding::Ascii) {
            return Err(self.malformed(self.values.byte_skip_at, "byte skip -1 goes with encoding raw or gzip"));
        }
        let mut components = Stated::new(1, sizes.at);
        let mut component_axes = 0;
        let mut spacing = self.values.spacings.take();
        if self.components(&sizes)? && sizes.value.len() > 1 {
            components.value = sizes.value.remove(0);
            component_axes = 1;
            spacing.iter_mut().for_each(|spacing| spacing.value.rotate_left(1));
            spacing.iter_mut().for_each(|spacing| spacing.value.truncate(sizes.value.len()));
        }
        if sizes.value.len() > self.most_axes {
            return Err(self.too_many_axes(sizes.at, sizes.value.len() as i64));
        }
        // Negating the first axis makes the space right-handed.
        if self.values.left_handed {
            let vectors = self.values.origin.iter_mut().map(|origin| &mut origin.value);
            let vectors = vectors.chain(self.values.directions.iter_mut().flatten());
            vectors.filter_map(|vector| vector.first_mut()).for_each(|first| *first = -*first);
        }
        // A slice can be in a space with more dimensions than it has axes.
        let origin = self.values.origin.filter(|origin| {
            origin.value.len() >= sizes.value.len() && !origin.value.iter().any(|value| value.is_nan())
        });
        let directions = self.values.directions.filter(|directions| directions.len() == sizes.value.len());
        let most_axes = self.most_axes;
        let mut claim =
            Claim { components, spacing, origin, directions, most_axes, ..Claim::plain(kind, big_endian, sizes) };
        make_spacing_positive(self.path, &mut claim)?;
        // `axis mins` and `axis maxs` are positions on the axes of space, without a meaning for
        // axes with directions.
        if !self.parsed.contains(&"space directions") {
            self.notes.complete_positions(&mut claim, component_axes);
        }
        // NaN marks an unknown spacing.
        claim.spacing.iter_mut().flat_map(|s| &mut s.value).filter(|s| s.is_nan()).for_each(|s| *s = 1.0);
        let stated = claim.spacing.is_some() || claim.origin.is_some();
        let grid = claim.check(self.path)?;
        let metadata = self.notes.metadata(&grid, stated, component_axes);
        let ParsedFields { files, files_at, line_skip, byte_skip, .. } = self.values;
        Ok(Header { grid, metadata, encoding, files, files_at, line_skip, byte_skip, end })
    }
}

/// Reverses axes with a negative spacing. As in Teem, a spacing of 0 is an error.
fn make_spacing_positive(path: &Path, claim: &mut Claim) -> Result<(), IoError> {
    let Some(Stated { value, at }) = &mut claim.spacing else { return Ok(()) };
    if let Some(axis) = value.iter().position(|&spacing| spacing == 0.0) {
        let message = format!("a spacing of 0 on axis {axis}; it must be a number other than 0");
        return Err(IoError::malformed(path, *at, message));
    }
    if let Some(mut directions) = make_spacings_positive(value, claim.directions.as_deref(), &mut claim.notes) {
        // Directions in NRRD have the spacing as their length.
        let known = value.iter().map(|spacing| if spacing.is_nan() { 1.0 } else { *spacing });
        let scale = |(vector, spacing): (&mut Vec<f64>, f64)| vector.iter_mut().for_each(|part| *part *= spacing);
        directions.iter_mut().zip(known).for_each(scale);
        claim.directions = Some(directions);
    }
    Ok(())
}
