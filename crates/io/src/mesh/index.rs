//! VTK's parallel PolyData and UnstructuredGrid: an index of piece files, each with its own
//! vertices.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use quick_xml::escape::escape;

use super::{Format, Part, layout, write, xml};
use crate::IoError;

/// Format and extension of the pieces, and document type, from the extension of the index.
fn kind(index: &Path) -> Option<(Format, &'static str, &'static str)> {
    match &*super::format::ending(index) {
        "pvtp" => Some((Format::Vtp, "vtp", "PPolyData")),
        "pvtu" => Some((Format::Vtu, "vtu", "PUnstructuredGrid")),
        _ => None,
    }
}

fn checked_kind(index: &Path) -> Result<(Format, &'static str, &'static str), IoError> {
    kind(index).ok_or_else(|| {
        IoError::request(
            index,
            "is no name of an index of pieces, which ends with .pvtp, or .pvtu for cells of a volume",
        )
    })
}

/// True for the name of an index: extension `.pvtp` or `.pvtu`, without regard to case.
pub fn is_index(path: impl AsRef<Path>) -> bool {
    kind(path.as_ref()).is_some()
}

/// Path of piece `number`, from 0, next to the index: `mesh_3.vtp` for `mesh.pvtp` and `mesh_3.vtu`
/// for `mesh.pvtu`.
///
/// # Errors
/// The name of the index does not end with `.pvtp` or `.pvtu`, is not Unicode, or has control
/// characters, which XML cannot hold.
pub fn piece_path(index: impl AsRef<Path>, number: u64) -> Result<PathBuf, IoError> {
    let index = index.as_ref();
    let (_, ending, _) = checked_kind(index)?;
    let stem = index.file_stem().and_then(|stem| stem.to_str());
    match stem.filter(|stem| !stem.contains(|c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'))) {
        Some(stem) => Ok(index.with_file_name(format!("{stem}_{number}.{ending}"))),
        None => Err(IoError::request(
            index,
            "has a name that XML cannot hold: Unicode without control characters is needed",
        )),
    }
}

/// Format of the pieces of an index.
///
/// # Errors
/// As [`piece_path`].
pub fn piece_format(index: impl AsRef<Path>) -> Result<Format, IoError> {
    checked_kind(index.as_ref()).map(|(format, ..)| format)
}

/// Writes one piece of the mesh `index` to the file [`piece_path`], atomically
/// ([`write_whole`](zippy_files::write_whole)). Local.
///
/// The triangles and cells of `part` are vertex indices **in this part**, from 0; a vertex that
/// several ranks need is in each of their parts.
///
/// # Errors
/// As [`piece_path`] and [`write`](super::write()).
pub fn write_piece(index: impl AsRef<Path>, number: u64, part: &Part<'_>) -> Result<(), IoError> {
    write::write_as(&piece_path(&index, number)?, piece_format(&index)?, part)
}

/// Arrays of every piece of an index.
#[derive(Debug, Clone, Copy, Default)]
pub struct PieceArrays<'a> {
    /// True if pieces have normals.
    pub normals: bool,
    /// Names of the fields.
    pub fields: &'a [&'a str],
    /// True if positions are doubles.
    pub doubles: bool,
}

/// Writes the index of the pieces 0 to `pieces - 1`, atomically
/// ([`write_whole`](zippy_files::write_whole)): a VTK document of type PPolyData or
/// PUnstructuredGrid with the names of the pieces and their arrays. All pieces must have these
/// normals and fields. Called by one rank after all pieces have been written.
///
/// # Errors
/// As [`piece_path`]; a name that XML cannot hold or that occurs twice; the file cannot be written.
pub fn write_index(index: impl AsRef<Path>, pieces: u64, normals: bool, fields: &[&str]) -> Result<(), IoError> {
    write_index_of(index, pieces, PieceArrays { normals, fields, doubles: false })
}

/// [`write_index`] with the arrays as a struct.
///
/// # Errors
/// As [`write_index`].
pub fn write_index_of(index: impl AsRef<Path>, pieces: u64, arrays: PieceArrays<'_>) -> Result<(), IoError> {
    let PieceArrays { normals, fields, doubles } = arrays;
    let index = index.as_ref();
    let names: Vec<String> = fields.iter().map(ToString::to_string).collect();
    let checked_names = layout::check_distinct(fields).and_then(|()| xml::check_names(&names, normals));
    checked_names.map_err(|error| write::with_path(index, error))?;
    let (_, _, kind) = checked_kind(index)?;
    let mut text = xml::document_start(kind);
    let array = |attributes: &str| format!("      <PDataArray {attributes}/>\n");
    let points = array(&xml::points(doubles));
    let mut data: Vec<String> = names.iter().map(|name| array(&xml::array("Float32", name, 1))).collect();
    if normals {
        data.insert(0, array(&xml::array("Float32", xml::NORMALS, 3)));
    }
    let _ = write!(
        text,
        "  <{kind} GhostLevel=\"0\">\n    <PPointData{}>\n{}    </PPointData>\n    <PPoints>\n{points}    </PPoints>\n",
        xml::normals_attribute(normals),
        data.concat()
    );
    for number in 0..pieces {
        let piece = piece_path(index, number)?;
        let name = piece.file_name().unwrap_or_default().to_string_lossy();
        let _ = writeln!(text, "    <Piece Source=\"{}\"/>", escape(name.as_ref()));
    }
    let _ = write!(text, "  </{kind}>\n</VTKFile>");
    Ok(zippy_files::write_whole(index, text.as_bytes())?)
}
