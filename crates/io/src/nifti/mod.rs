//! NIfTI-1 and NIfTI-2: a header of fixed fields, and the voxels after it (.nii) or in a file next
//! to it (.hdr, .img), optionally compressed by gzip. Errors in a compressed header name the byte
//! in the uncompressed header.

mod fields;

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::head::{Head, error_in_named_file};
use super::scalar::ScalarKind;
use super::voxels::{Claim, Description, Encoding, Segment, Stated, VoxelLayout, first_bytes};
use crate::IoError;
use fields::Fields;

const FORMAT: &str = "NIfTI";
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Length of the longest header and the four bytes after it.
const LONGEST_HEADER: u64 = 544;

/// Describes the volume; `None` if the file is no NIfTI file.
pub(crate) fn open(head: &Head) -> Result<Option<Description>, IoError> {
    let path = &head.path;
    let compressed = head.bytes.starts_with(&GZIP);
    let mut inflated = Vec::new();
    let bytes = if compressed {
        let read = MultiGzDecoder::new(&head.bytes[..]).take(LONGEST_HEADER).read_to_end(&mut inflated);
        // A short file can have other bytes after its data.
        if let Err(error) = read
            && !Fields::new(&inflated).is_some_and(|fields| fields.complete())
        {
            let offset = head.bytes.len() as u64;
            return Err(IoError::malformed(path, offset, format!("the gzip data are cut or corrupt: {error}")));
        }
        &inflated
    } else {
        &head.bytes
    };
    let Some(fields) = Fields::new(bytes) else { return Ok(None) };
    let length = fields.version.length as u64;
    if !fields.complete() {
        let message = format!("the file ends inside the header of {length} bytes");
        return Err(IoError::malformed(path, bytes.len() as u64, message));
    }
    let grid = grid(path, &fields)?;
    let (data, min_offset) = match fields.magic() {
        magic if magic == fields.version.single => (path.clone(), length + 4),
        magic if magic == fields.version.pair => (voxels_of_pair(path)?, 0),
        _ => {
            let message = "no NIfTI magic (n+1, ni1, n+2 or ni2); convert Analyze files to NIfTI";
            return Err(IoError::unsupported(path, fields.version.magic.start as u64, message));
        }
    };
    let start = offset(path, &fields, min_offset)?;
    let segment = || {
        let (encoding, start, lead) = match first_bytes(&data, 0)? {
            GZIP => (Encoding::Gzip, 0, start),
            _ => (Encoding::Raw, start, 0),
        };
        Segment::from_byte(&data, start, encoding, lead, grid.bytes(), grid.kind)
    };
    let names_header = |error| {
        if data == *path { error } else { error_in_named_file(path, fields.version.magic.start as u64, &error) }
    };
    let segment = segment().map_err(names_header)?;
    Ok(Some(Description::single(FORMAT, grid, segment)))
}

/// Header of a pair, for the file of its voxels.
pub(crate) fn header_of_pair(voxels: &Path) -> Option<PathBuf> {
    partner(voxels, "img", "hdr").filter(|path| path.is_file())
}

fn voxels_of_pair(header: &Path) -> Result<PathBuf, IoError> {
    let wrong = || IoError::request(header, "is the header of a pair, whose name must end in .hdr or .hdr.gz");
    partner(header, "hdr", "img").ok_or_else(wrong)
}

/// The other file of a pair; either may be compressed. Names need not be UTF-8.
fn partner(path: &Path, ending: &str, other: &str) -> Option<PathBuf> {
    let gz = path.extension()? == "gz";
    let plain = if gz { path.with_extension("") } else { path.to_path_buf() };
    let file = |gz: bool| {
        let mut name = plain.with_extension(other).into_os_string();
        name.push(if gz { ".gz" } else { "" });
        PathBuf::from(name)
    };
    if plain.extension()? != ending {
        return None;
    }
    let (same_compression, other_compression) = (file(gz), file(!gz));
    Some(if !same_compression.is_file() && other_compression.is_file() { other_compression } else { same_compression })
}

fn grid(path: &Path, fields: &Fields<'_>) -> Result<VoxelLayout, IoError> {
    let version = fields.version;
    let axes = fields.integer(version.dim, 0);
    let at = version.dim.at as u64;
    if !(1..=7).contains(&axes) {
        return Err(IoError::malformed(path, at, format!("{axes} axes in dim[0]; it must be 1 to 7")));
    }
    let mut notes = Vec::new();
    // As in the reference library.
    let mut size = |axis: usize| match fields.integer(version.dim, axis) {
        0 if axis > 2 => {
            notes.push(format!("dim[{axis}] is 0; 1 is taken"));
            1
        }
        size => size,
    };
    for axis in 4..=axes as usize {
        let size = size(axis);
        if size != 1 {
            let contents = if axis == 4 { "time steps" } else { "values, which lie apart from each other" };
            let message = format!("dim[{axis}] has {size} {contents}; one volume is read (split it into files)");
            return Err(IoError::unsupported(path, at, message));
        }
    }
    let axes = axes.min(3) as usize;
    let sizes: Vec<i64> = (1..=axes).map(size).collect();
    // As in nibabel.
    let distances: Vec<f64> = (1..=axes)
        .map(|axis| match fields.float(version.pixdim, axis) {
            0.0 => {
                // Writers put 0 for the distance along an axis of one voxel.
                if sizes[axis - 1] > 1 {
                    notes.push(format!("pixdim[{axis}] is 0; 1 is taken"));
                }
                1.0
            }
            distance if distance < 0.0 => {
                notes.push(format!("pixdim[{axis}] is {distance}; {} is taken", -distance));
                -distance
            }
            distance => distance,
        })
        .collect();
    let distance = |axis: usize| distances[axis - 1];
    let (transform, unusable) = NiftiTransform::choose(fields, axes);
    match unusable {
        Some(note) => notes.push(note),
        None => notes.extend(contradictions(fields, &distances)),
    }
    let directions = directions(fields, &transform, axes);
    let spacing = match (&transform, &directions) {
        // The lengths of the matrix's columns are also distances and may differ from `pixdim`.
        (NiftiTransform::Sform, Some(columns)) => {
            let length = |axis: usize| {
                let length = columns[axis - 1].iter().map(|part| part * part).sum::<f64>().sqrt();
                if length > 0.0 && length.is_finite() { length } else { distance(axis) }
            };
            Stated::new((1..=axes).map(length).collect(), version.srow.at as u64)
        }
        _ => Stated::new((1..=axes).map(distance).collect(), version.pixdim.at as u64),
    };
    let (kind, components) = kind(path, fields)?;
    let rgb = components > 1;
    let slope = fields.float(version.scl_slope, 0);
    if slope.is_infinite() && !rgb {
        notes.push(format!("scl_slope is {slope}; stored numbers are taken as values, as nibabel does"));
    }
    Claim {
        components: Stated::new(components, version.datatype.at as u64),
        spacing: Some(spacing),
        origin: origin(fields, &transform),
        directions,
        rescale: if rgb { None } else { rescale(path, fields)? },
        notes,
        ..Claim::plain(kind, fields.big_endian, Stated::new(sizes, at))
    }
    .check(path)
}

fn kind(path: &Path, fields: &Fields<'_>) -> Result<(ScalarKind, i64), IoError> {
    let version = fields.version;
    let code = fields.integer(version.datatype, 0);
    let (kind, components) = match code {
        2 => (ScalarKind::U8, 1),
        4 => (ScalarKind::I16, 1),
        8 => (ScalarKind::I32, 1),
        16 => (ScalarKind::F32, 1),
        64 => (ScalarKind::F64, 1),
        128 => (ScalarKind::U8, 3),
        256 => (ScalarKind::I8, 1),
        512 => (ScalarKind::U16, 1),
        768 => (ScalarKind::U32, 1),
        1024 => (ScalarKind::I64, 1),
        1280 => (ScalarKind::U64, 1),
        2304 => (ScalarKind::U8, 4),
        _ => {
            let message = format!(
                "datatype {code}; integers of 8 to 64 bits, floats of 32 and 64 bits, RGB24 and RGBA32 are read \
                 (convert others, complex numbers to their magnitude)"
            );
            return Err(IoError::unsupported(path, version.datatype.at as u64, message));
        }
    };
    let (stated, bits) = (fields.integer(version.bitpix, 0), kind.bytes() as i64 * components * 8);
    if stated != bits {
        let message = format!("bitpix {stated}; datatype {code} has {bits} bits");
        return Err(IoError::malformed(path, version.bitpix.at as u64, message));
    }
    Ok((kind, components))
}

/// Transform that gives the position and the directions of a volume.
enum NiftiTransform {
    /// Affine matrix: three rows of four numbers.
    Sform,
    /// Rotation as a quaternion, and an offset.
    Qform,
    /// No transform: the header gives distances only.
    None,
}

impl NiftiTransform {
    /// Chooses the transform of a header: the matrix if its code is above 0, else the quaternion if
    /// its code is above 0. The returned note reports a singular matrix.
    ///
    /// nibabel (`get_best_affine`) and FSL choose in the same order, because programs that register
    /// a volume to another space write the matrix and keep the scanner's quaternion. As in ITK, the
    /// quaternion replaces a singular matrix.
    fn choose(fields: &Fields<'_>, axes: usize) -> (Self, Option<String>) {
        let code = |code| fields.integer(code, 0);
        let (sform, qform) = (code(fields.version.sform), code(fields.version.qform));
        let is_sound = || {
            let origin = origin(fields, &Self::Sform).is_some_and(|at| at.value.iter().all(|part| part.is_finite()));
            origin && directions(fields, &Self::Sform, axes).is_some_and(|columns| are_independent(&columns))
        };
        let fallback = if qform > 0 { Self::Qform } else { Self::None };
        if sform <= 0 {
            return (fallback, None);
        }
        if is_sound() {
            return (Self::Sform, None);
        }
        let taken = if qform > 0 { "qform" } else { "the distances of pixdim" };
        let note = format!(
            "sform (code {sform}) is singular or has numbers that are not finite: positions follow {taken} instead"
        );
        (fallback, Some(note))
    }
}

/// True for columns that are finite and linearly independent.
fn are_independent(columns: &[Vec<f64>]) -> bool {
    const ROUNDED: f64 = 1e-6;
    let mut units: Vec<Vec<f64>> = Vec::new();
    for column in columns {
        let length = |vector: &[f64]| vector.iter().map(|part| part * part).sum::<f64>().sqrt();
        let size = length(column);
        if !(size > 0.0 && size.is_finite()) {
            return false;
        }
        let mut rest: Vec<f64> = column.iter().map(|part| part / size).collect();
        for unit in &units {
            let along: f64 = unit.iter().zip(&rest).map(|(a, b)| a * b).sum();
            rest.iter_mut().zip(unit).for_each(|(part, unit)| *part -= along * unit);
        }
        let size = length(&rest);
        if size < ROUNDED {
            return false;
        }
        units.push(rest.into_iter().map(|part| part / size).collect());
    }
    true
}

/// Maximum relative difference of two transforms that rounding explains.
const TOLERANCE: f64 = 1e-3;

/// Notes about a matrix that contradicts the quaternion or the distances. The positions of voxels
/// follow the matrix.
fn contradictions(fields: &Fields<'_>, distances: &[f64]) -> Vec<String> {
    let (version, axes) = (fields.version, distances.len());
    let code = |field| fields.integer(field, 0);
    let (sform, qform) = (code(version.sform), code(version.qform));
    let Some(columns) = directions(fields, &NiftiTransform::Sform, axes).filter(|_| sform > 0) else {
        return Vec::new();
    };
    let differs = |a: f64, b: f64, size: f64| (a - b).abs() > TOLERANCE * size.abs();
    let mut notes = Vec::new();
    let lengths = columns.iter().map(|column| column.iter().map(|part| part * part).sum::<f64>().sqrt());
    let lengths: Vec<f64> = lengths.collect();
    if lengths.iter().zip(distances).any(|(&length, &distance)| length > 0.0 && differs(length, distance, length)) {
        notes.push(format!(
            "the distances of sform, {lengths:?}, and of pixdim, {distances:?}, differ: positions follow sform, as nibabel \
             reads them"
        ));
    }
    let quaternion = directions(fields, &NiftiTransform::Qform, axes).filter(|_| qform > 0);
    let origins = [NiftiTransform::Sform, NiftiTransform::Qform].map(|transform| origin(fields, &transform));
    if let (Some(unit), [Some(matrix), Some(offset)]) = (quaternion, origins) {
        let size = lengths.iter().fold(0.0_f64, |most, &length| most.max(length));
        let directions_differ = (0..axes)
            .any(|axis| (0..3).any(|row| differs(columns[axis][row], unit[axis][row] * distances[axis], size)));
        let origins_differ = (0..3).any(|row| differs(matrix.value[row], offset.value[row], size));
        if directions_differ || origins_differ {
            notes.push(format!(
                "the header has two transforms that differ, sform (code {sform}) and qform (code {qform}): positions \
                 follow sform, as nibabel reads them"
            ));
        }
    }
    notes
}

fn origin(fields: &Fields<'_>, transform: &NiftiTransform) -> Option<Stated<Vec<f64>>> {
    let version = fields.version;
    let (field, step, first) = match transform {
        NiftiTransform::Sform => (version.srow, 4, 3),
        NiftiTransform::Qform => (version.qoffset, 1, 0),
        NiftiTransform::None => return None,
    };
    Some(Stated::new((0..3).map(|axis| fields.float(field, first + step * axis)).collect(), field.at as u64))
}

/// Directions of the axes: columns of the matrix with distances as their lengths, or unit vectors
/// of the quaternion.
fn directions(fields: &Fields<'_>, transform: &NiftiTransform, axes: usize) -> Option<Vec<Vec<f64>>> {
    let version = fields.version;
    match transform {
        NiftiTransform::Sform => {
            let column = |axis: usize| (0..3).map(|row| fields.float(version.srow, 4 * row + axis)).collect();
            Some((0..axes).map(column).collect())
        }
        NiftiTransform::Qform => {
            let [b, c, d] = [0, 1, 2].map(|number| fields.float(version.quatern, number));
            let a = (1.0 - (b * b + c * c + d * d)).max(0.0).sqrt();
            // In a left-handed volume the third axis is negated.
            let handed = if fields.float(version.pixdim, 0) < 0.0 { -1.0 } else { 1.0 };
            let columns = [
                [a * a + b * b - c * c - d * d, 2.0 * (b * c + a * d), 2.0 * (b * d - a * c)],
                [2.0 * (b * c - a * d), a * a + c * c - b * b - d * d, 2.0 * (c * d + a * b)],
                [2.0 * (b * d + a * c), 2.0 * (c * d - a * b), a * a + d * d - b * b - c * c].map(|part| part * handed),
            ];
            Some(columns[..axes].iter().map(|column| column.to_vec()).collect())
        }
        NiftiTransform::None => None,
    }
}

/// Slope and intercept; `None` for a slope of 0, NaN or infinity.
fn rescale(path: &Path, fields: &Fields<'_>) -> Result<Option<(f64, f64)>, IoError> {
    let version = fields.version;
    let (slope, inter) = (fields.float(version.scl_slope, 0), fields.float(version.scl_inter, 0));
    if slope == 0.0 || !slope.is_finite() {
        return Ok(None);
    }
    if !inter.is_finite() {
        let message = format!("scl_slope {slope} and scl_inter {inter}; they must be finite");
        return Err(IoError::malformed(path, version.scl_slope.at as u64, message));
    }
    Ok(Some((slope, inter)).filter(|&scale| scale != (1.0, 0.0)))
}

/// Offset of the first voxel; 0 stands for the first byte after the header.
fn offset(path: &Path, fields: &Fields<'_>, min_offset: u64) -> Result<u64, IoError> {
    let field = fields.version.vox_offset;
    let value = fields.float(field, 0);
    if value == 0.0 {
        return Ok(min_offset);
    }
    // NIfTI-1 stores the offset as a float.
    if value.fract() != 0.0 || !(min_offset as f64..9.0e18).contains(&value) {
        let message = format!("vox_offset {value}; it must be a whole number and at least {min_offset}");
        return Err(IoError::malformed(path, field.at as u64, message));
    }
    Ok(fields.integer(field, 0) as u64)
}
