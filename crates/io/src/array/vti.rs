//! Arrays as VTK image data, with one point per cell.

use std::fmt::Write;
use std::path::Path;

use quick_xml::escape::escape;
use serde_json::{Map, Value};
use zippy_base::element::ElementInfo;
use zippy_plan::Grid;
use zippy_plan::extents::Index;
use zippy_plan::region::Region;

use super::leaves::{Leaf, leaves};
use super::metadata::Metadata;
use super::outline::Outline;
use crate::IoError;
use crate::head::Head;
use crate::mesh::xml::array;
use crate::scalar::ScalarKind;
use crate::vti::index;
use crate::vti::notes::{ZIPPY_TEXT, texts};

const MAX_XML_BYTES: usize = 1 << 20;

/// Array as VTK image data, with one point per cell.
pub struct VtkImage {
    /// Point data, one array per leaf of a cell.
    arrays: Vec<(String, Leaf)>,
    /// XML attributes: spacing, origin and directions.
    frame: String,
    /// Field data, as XML.
    notes: String,
}

impl VtkImage {
    /// Describes an array.
    ///
    /// # Errors
    /// Content that VTK cannot store: more than 3 axes, no cells, 16-bit floats, names with control
    /// characters.
    pub fn new(element: &ElementInfo, shape: &Index, metadata: &Metadata) -> Result<Self, String> {
        if shape.axes() > 3 {
            return Err(format!("cannot have an array of {} axes, only of 1 to 3; .nrrd and .npy can", shape.axes()));
        }
        let Some(grid) = metadata.grid() else {
            let dimensions = metadata.dimensions();
            return Err(format!("cannot have a space of {dimensions} dimensions, only of 1 to 3; .nrrd can"));
        };
        if shape.contains(&0) {
            return Err(format!("cannot have an array without cells, of {shape}; .npy can"));
        }
        let name = metadata.name.as_deref().unwrap_or("array");
        let leaves = leaves(element)?;
        let is_record = leaves.iter().any(|leaf| !leaf.name.is_empty());
        let called = |leaf: Leaf| (if is_record { leaf.name.clone() } else { name.to_string() }, leaf);
        let arrays: Vec<(String, Leaf)> = leaves.into_iter().map(called).collect();
        if metadata.attributes.contains_key(ZIPPY_TEXT) {
            return Err(format!("cannot have an attribute called {ZIPPY_TEXT:?}: Zippy uses the name"));
        }
        let texts = texts(metadata, is_record.then_some(name));
        arrays.iter().map(|(name, _)| name).chain(texts.keys()).try_for_each(|name| check_name(name))?;
        let image = Self { arrays, frame: frame(metadata, &grid), notes: notes(&texts) };
        let elements = image.frame.len() + 400 * texts.len() + texts.keys().map(String::len).sum::<usize>();
        match elements + image.arrays.iter().map(|(name, _)| 400 + 6 * name.len()).sum::<usize>() {
            ..MAX_XML_BYTES => Ok(image),
            _ => Err(format!("cannot have names of more than {MAX_XML_BYTES} bytes, of the array and of attributes")),
        }
    }

    /// Layout of a file with a box of the array.
    ///
    /// # Errors
    /// The file becomes too long.
    pub fn file(&self, region: &Region, with_notes: bool) -> Result<Outline, String> {
        let extent = extent(region);
        let mut text = document_start("ImageData");
        let notes = if with_notes { &*self.notes } else { "" };
        let _ = write!(
            text,
            "  <ImageData WholeExtent=\"{extent}\"{}>\n{notes}    <Piece Extent=\"{extent}\">\n      <PointData \
             Scalars=\"{}\">\n",
            self.frame,
            escape(&*self.arrays[0].0)
        );
        let (cells, mut offset) = (region.cells(), 0_u64);
        for (name, leaf) in &self.arrays {
            let attributes = array(kind(leaf.kind), name, leaf.components);
            let _ = writeln!(text, "        <DataArray {attributes} format=\"appended\" offset=\"{offset}\"/>");
            offset = offset.saturating_add((leaf.bytes() as u64).saturating_mul(cells)).saturating_add(8);
        }
        text.push_str("      </PointData>\n    </Piece>\n  </ImageData>\n  <AppendedData encoding=\"raw\">\n   _");
        let (mut outline, mut frame) = (Outline::default(), text.into_bytes());
        let mut fits = true;
        // Each array's length follows the preceding text in one block.
        for (_, leaf) in &self.arrays {
            frame.extend((leaf.bytes() as u64).saturating_mul(cells).to_ne_bytes());
            fits &= outline.put(std::mem::take(&mut frame)) && outline.leaf(leaf, cells);
        }
        fits &= outline.put(b"\n  </AppendedData>\n</VTKFile>\n".to_vec());
        if fits { Ok(outline) } else { Err("would have more bytes than fit 63 bits".into()) }
    }

    /// Text of an index of pieces. `whole` is the box of all points, starting at 0; each piece has
    /// a box of points and a file name.
    pub fn index(&self, whole: &Region, pieces: impl Iterator<Item = (Region, String)>) -> String {
        let mut text = document_start("PImageData");
        let scalars = escape(&*self.arrays[0].0);
        text += &format!(
            "  <PImageData WholeExtent=\"{}\" GhostLevel=\"0\"{}>\n{}    <PPointData Scalars=\"{scalars}\">\n",
            extent(whole),
            self.frame,
            self.notes
        );
        for (name, leaf) in &self.arrays {
            text += &format!("      <PDataArray {}/>\n", array(kind(leaf.kind), name, leaf.components));
        }
        text += "    </PPointData>\n";
        for (region, source) in pieces {
            let (extent, source) = (extent(&region), escape(source.as_str()));
            text += &format!("    <Piece Extent=\"{extent}\" Source=\"{source}\"/>\n");
        }
        text + "  </PImageData>\n</VTKFile>\n"
    }
}

/// File name of an index without its extension, which the names of its pieces contain.
///
/// # Errors
/// XML cannot hold the name.
pub fn index_stem(path: &Path) -> Result<&str, IoError> {
    let bad = |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
    path.file_stem().and_then(|stem| stem.to_str()).filter(|stem| !stem.contains(bad)).ok_or_else(|| {
        IoError::request(path, "has a name that XML cannot hold: Unicode without control characters is needed")
    })
}

/// Names of the piece files in an index.
///
/// # Errors
/// The index cannot be read or is malformed.
pub fn piece_sources(index: &Path) -> Result<Vec<String>, IoError> {
    let index = index::Index::read(&Head::read(index)?)?;
    Ok(index.pieces.into_iter().map(|piece| piece.source).collect())
}

pub(super) fn document_start(kind: &str) -> String {
    let order = if cfg!(target_endian = "big") { "BigEndian" } else { "LittleEndian" };
    format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"{kind}\" version=\"1.0\" byte_order=\"{order}\" \
         header_type=\"UInt64\">\n"
    )
}

/// First and last point along each of three axes.
fn extent(region: &Region) -> String {
    let axis = |axis: usize| {
        if axis < region.axes() { format!("{} {}", region.start[axis], region.end[axis] - 1) } else { "0 0".into() }
    };
    [0, 1, 2].map(axis).join(" ")
}

fn kind(kind: ScalarKind) -> &'static str {
    match kind {
        ScalarKind::U8 => "UInt8",
        ScalarKind::I8 => "Int8",
        ScalarKind::U16 => "UInt16",
        ScalarKind::I16 => "Int16",
        ScalarKind::U32 => "UInt32",
        ScalarKind::I32 => "Int32",
        ScalarKind::U64 => "UInt64",
        ScalarKind::I64 => "Int64",
        ScalarKind::F16 => "Float16",
        ScalarKind::F32 => "Float32",
        ScalarKind::F64 => "Float64",
    }
}

/// XML attributes of the positions of the points. Missing axes are perpendicular to the others.
fn frame(metadata: &Metadata, grid: &Grid) -> String {
    let numbers = |all: &[f64]| all.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
    let mut text = String::new();
    if !metadata.axes.is_empty() {
        let _ = write!(text, " Origin=\"{}\" Spacing=\"{}\"", numbers(&grid.origin), numbers(&grid.spacing));
    }
    if metadata.directions.is_some() {
        let rows = [0, 1, 2].map(|row| numbers(&grid.directions.map(|vector| vector[row])));
        let _ = write!(text, " Direction=\"{}\"", rows.join(" "));
    }
    text
}

/// Field data of the texts: UTF-8 bytes as decimal numbers, with a final zero.
fn notes(texts: &Map<String, Value>) -> String {
    if texts.is_empty() {
        return String::new();
    }
    let mut out = String::from("    <FieldData>\n");
    for (name, value) in texts {
        let name = escape(name.as_str());
        let _ = write!(out, "      <Array type=\"String\" Name=\"{name}\" NumberOfTuples=\"1\" format=\"ascii\">");
        value.to_string().bytes().for_each(|byte| {
            let _ = write!(out, "{byte} ");
        });
        out.push_str("0</Array>\n");
    }
    out + "    </FieldData>\n"
}

fn check_name(name: &str) -> Result<(), String> {
    let bad = |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
    if !name.is_empty() && !name.contains(bad) {
        return Ok(());
    }
    Err(format!("cannot have the name {}; it must be text without control characters", zippy_files::quoted(name)))
}
