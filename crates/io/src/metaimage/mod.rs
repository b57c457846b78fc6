//! MetaImage: lines of "Key = Value", with the voxels after them (.mha) or in other files (.mhd,
//! .raw).
//!
//! Format: <https://itk.org/Wiki/ITK/MetaIO/Documentation>. Open questions are resolved as in
//! MetaIO, except for a file without a byte order: it is little-endian here, and in the machine's
//! byte order in MetaIO.

mod fields;

use std::path::{Path, PathBuf};

use zippy_files::{open_regular, quoted, shown};

use super::grid::move_lengths_into_spacing;
use super::head::{Head, error_in_named_file, named_path, numbered_names};
use super::scalar::ScalarKind;
use super::voxels::{Claim, Description, Encoding, Segment, Stated, VoxelLayout, first_bytes};
use crate::IoError;
use fields::Fields;

const FORMAT: &str = "MetaImage";

/// True for a MetaImage, by its extension or its first line.
pub(crate) fn recognises(head: &Head) -> bool {
    let has_extension = head.path.extension().is_some_and(|has_extension| {
        has_extension.eq_ignore_ascii_case("mha") || has_extension.eq_ignore_ascii_case("mhd")
    });
    has_extension || head.bytes.starts_with(b"ObjectType") || head.bytes.starts_with(b"NDims")
}

pub(crate) fn open(head: &Head) -> Result<Description, IoError> {
    let (path, fields) = (&head.path, Fields::parse(head)?);
    let grid = grid(path, &fields)?;
    let storage = VoxelStorage::new(path, &fields)?;
    let Stated { value: name, at } = fields.need("ElementDataFile")?;
    let problem = |message: String| IoError::malformed(path, at, message);
    let words: Vec<&str> = name.split_whitespace().collect();
    let slices = *grid.shape.last().unwrap_or(&1);
    let names = match words[..] {
        [word] if word.eq_ignore_ascii_case("LOCAL") => {
            if storage.header_bytes > 0 {
                return Err(problem("HeaderSize goes with data in a file of their own".into()));
            }
            let segment = storage.segment(path, fields.end, &grid, grid.bytes())?;
            return Ok(Description::single(FORMAT, grid, segment));
        }
        ["LIST"] => fields.names.clone(),
        ["LIST", axes] => {
            let stated = axes.trim_end_matches(['D', 'd']).parse::<usize>().ok();
            if !stated.is_some_and(|stated| stated == grid.shape.axes() || stated + 1 == grid.shape.axes()) {
                let message = format!("files of {} axes; slices or slabs are read", quoted(axes));
                return Err(IoError::unsupported(path, at, message));
            }
            fields.names.clone()
        }
        [pattern, ref range @ ..] if pattern.contains('%') && range.len() < 4 => {
            let number =
                |word: &&str| word.parse::<i64>().map_err(|_| problem(format!("{} is not an integer", quoted(word))));
            let range = range.iter().map(number).collect::<Result<Vec<_>, _>>()?;
            let first = range.first().copied().unwrap_or(1);
            let last = range.get(1).copied().unwrap_or(first.saturating_add(slices - 1));
            numbered_names(path, at, pattern, [first, last, range.get(2).copied().unwrap_or(1)])?
        }
        [] => return Err(problem("ElementDataFile names no file".into())),
        _ => {
            let segment = storage.segment(&named_path(path, &name), 0, &grid, grid.bytes());
            let segment = segment.map_err(|error| error_in_named_file(path, at, &error))?;
            return Ok(Description::single(FORMAT, grid, segment));
        }
    };
    if storage.compressed {
        let message = "compressed data spread over several files are not read; join them into one";
        return Err(IoError::unsupported(path, at, message));
    }
    let segment = |name: &str, grid: &VoxelLayout, bytes| {
        storage.segment(&named_path(path, name), 0, grid, bytes).map_err(|error| error_in_named_file(path, at, &error))
    };
    Description::slabs(FORMAT, grid, &names, problem, segment)
}

fn grid(path: &Path, fields: &Fields<'_>) -> Result<VoxelLayout, IoError> {
    if let Some(kind) = fields.get("ObjectType").filter(|kind| kind.value != "Image") {
        return Err(IoError::unsupported(
            path,
            kind.at,
            format!("an object of type {}; Image is read", quoted(&kind.value)),
        ));
    }
    let axes = fields.integer("NDims")?.ok_or_else(|| fields.missing("NDims"))?;
    let count = usize::try_from(axes.value).ok().filter(|axes| (1..=3).contains(axes));
    let count = count.ok_or_else(|| {
        IoError::unsupported(path, axes.at, format!("{} axes; 1 to 3 axes of voxels are read", axes.value))
    })?;
    let sizes = fields.integers("DimSize", count)?.ok_or_else(|| fields.missing("DimSize"))?;
    let kind = kind(path, &fields.need("ElementType")?)?;
    let spacing = match fields.floats("ElementSpacing", count)? {
        None => fields.floats("ElementSize", count)?,
        spacing => spacing,
    };
    let origin = ["Offset", "Position", "Origin"].iter().find_map(|key| fields.floats(key, count).transpose());
    let text = fields.boolean("BinaryData")? == Some(false);
    let order = [fields.boolean("ElementByteOrderMSB")?, fields.boolean("BinaryDataByteOrderMSB")?];
    if let [Some(first), Some(second)] = order
        && first != second
    {
        let at = fields.need("ElementByteOrderMSB")?.at;
        let message = "ElementByteOrderMSB and BinaryDataByteOrderMSB contradict each other";
        return Err(IoError::malformed(path, at, message));
    }
    let big_endian = if text { cfg!(target_endian = "big") } else { order[0].or(order[1]).unwrap_or(false) };
    let components = fields.integer("ElementNumberOfChannels")?.unwrap_or(Stated::new(1, sizes.at));
    let origin = origin.transpose()?;
    let (spacing, directions) = move_lengths_into_spacing(spacing, directions(fields, count));
    Claim { components, spacing, origin, directions, ..Claim::plain(kind, big_endian, sizes) }.check(path)
}

/// Directions of the axes; `None` without a matrix, or with one of another size.
fn directions(fields: &Fields<'_>, axes: usize) -> Option<Stated<Vec<Vec<f64>>>> {
    let stated = ["TransformMatrix", "Rotation", "Orientation"].iter().find_map(|key| fields.get(key))?;
    let parts: Vec<f64> = stated.value.split_whitespace().map_while(|word| word.parse().ok()).collect();
    (parts.len() == axes * axes).then(|| Stated::new(parts.chunks(axes).map(<[f64]>::to_vec).collect(), stated.at))
}

fn kind(path: &Path, stated: &Stated<String>) -> Result<ScalarKind, IoError> {
    let name = stated.value.strip_suffix("_ARRAY").unwrap_or(&stated.value);
    Ok(match name {
        "MET_CHAR" => ScalarKind::I8,
        "MET_UCHAR" => ScalarKind::U8,
        "MET_SHORT" => ScalarKind::I16,
        "MET_USHORT" => ScalarKind::U16,
        // A long has 4 bytes in MetaIO on every machine.
        "MET_INT" | "MET_LONG" => ScalarKind::I32,
        "MET_UINT" | "MET_ULONG" => ScalarKind::U32,
        "MET_LONG_LONG" => ScalarKind::I64,
        "MET_ULONG_LONG" => ScalarKind::U64,
        "MET_FLOAT" => ScalarKind::F32,
        "MET_DOUBLE" => ScalarKind::F64,
        _ => {
            let message =
                format!("ElementType {}; MET_UCHAR, MET_SHORT, MET_FLOAT and their like are read", quoted(name));
            return Err(IoError::unsupported(path, stated.at, message));
        }
    })
}

/// Encoding of the voxels in a data file.
struct VoxelStorage {
    text: bool,
    compressed: bool,
    /// Compressed size from the header, if present, and the path of the header.
    stated: Option<(PathBuf, Stated<i64>)>,
    /// Bytes before the data; -1: the data are at the end of the file.
    header_bytes: i64,
}

impl VoxelStorage {
    fn new(path: &Path, fields: &Fields<'_>) -> Result<Self, IoError> {
        let text = fields.boolean("BinaryData")? == Some(false);
        let compressed = fields.boolean("CompressedData")? == Some(true);
        let stated = fields.integer("CompressedDataSize")?.map(|size| (path.to_path_buf(), size));
        let header_bytes = fields.integer("HeaderSize")?.unwrap_or(Stated::new(0, 0));
        if header_bytes.value < -1 || header_bytes.value == -1 && (text || compressed) {
            let message =
                format!("HeaderSize {}; it must be at least 0, or -1 with plain binary data", header_bytes.value);
            return Err(IoError::malformed(path, header_bytes.at, message));
        }
        if text && compressed {
            return Err(IoError::unsupported(path, header_bytes.at, "compressed text is not read; write binary data"));
        }
        Ok(Self { text, compressed, stated, header_bytes: header_bytes.value })
    }

    fn segment(&self, file: &Path, start: u64, grid: &VoxelLayout, bytes: u64) -> Result<Segment, IoError> {
        let (_, length) = open_regular(file)?;
        let start = match u64::try_from(self.header_bytes) {
            Ok(header_bytes) => start.saturating_add(header_bytes),
            Err(_) => length.saturating_sub(bytes).max(start),
        };
        if !self.compressed {
            let encoding = if self.text { Encoding::Ascii } else { Encoding::Raw };
            return Segment::from_byte(file, start, encoding, 0, bytes, grid.kind);
        }
        let found = length.saturating_sub(start);
        let stated = match &self.stated {
            None => found,
            Some((path, stated)) => {
                let size = u64::try_from(stated.value).ok().filter(|&size| size <= found);
                size.ok_or_else(|| {
                    let message =
                        format!("CompressedDataSize {}; there are {found} bytes in {}", stated.value, shown(file));
                    IoError::malformed(path, stated.at, message)
                })?
            }
        };
        // MetaIO writes zlib streams, and reads zlib and gzip.
        let segment = match first_bytes(file, start)? {
            [0x1f, 0x8b] => Segment::from_byte(file, start, Encoding::Gzip, 0, bytes, grid.kind)?,
            _ => Segment::zlib(file, [start, start.saturating_add(stated)], bytes, grid.kind)?,
        };
        Ok(Segment { surplus: found - stated, ..segment })
    }
}
