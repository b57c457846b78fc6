//! VTK XML image data (.vti): elements that describe arrays, and their numbers as text, base64, or
//! raw appended data.
//!
//! Format: <https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html>.

pub(crate) mod arrays;
pub(crate) mod document;
pub(crate) mod elements;
pub(crate) mod frame;
pub(crate) mod index;
pub(crate) mod notes;
pub(crate) mod xml;

use std::collections::BTreeSet;

use zippy_files::quoted;
use zippy_plan::extents::Index;
use zippy_plan::region::Region;

use super::head::Head;
use super::scalar::ScalarKind;
use super::voxels::{Claim, Description, Subvolume, VoxelLayout};
use crate::IoError;
use arrays::ArrayLocator;
use document::{Document, VtiArray, VtiPiece};

pub(crate) const FORMAT: &str = "VTI";

/// True for the beginning of an XML document.
pub(crate) fn recognises(head: &Head) -> bool {
    let text = head.bytes.strip_prefix(xml::BYTE_ORDER_MARK).unwrap_or(&head.bytes).trim_ascii_start();
    text.starts_with(b"<?xml") || text.starts_with(b"<VTKFile")
}

/// Describes the point data array `name`; `None` selects the active scalars, else the first array.
pub(crate) fn open(head: &Head, name: Option<&str>) -> Result<Description, IoError> {
    describe_array(head, &Document::read(head)?, name)
}

/// [`open`] for a parsed document.
pub(crate) fn describe_array(head: &Head, document: &Document, name: Option<&str>) -> Result<Description, IoError> {
    let chosen = choose_array(head, document, name)?;
    let mut arrays = ArrayLocator::new(head, document)?;
    let mut grid: Option<VoxelLayout> = None;
    let mut uncovered = Vec::new();
    let mut subvolumes = Vec::new();
    for piece in document.pieces.iter().filter(|piece| piece.extent.value.iter().all(|&(first, last)| first <= last)) {
        let array = array_of_piece(head, piece, &chosen)?;
        let found = claim(head, document, array)?.check(&head.path)?;
        if grid.as_ref().is_some_and(|grid| *grid != found) {
            let message = format!("array {} is of another type than in the first piece", quoted(&chosen));
            return Err(IoError::malformed(&head.path, array.at, message));
        }
        if grid.is_none() {
            uncovered.push(found.whole());
        }
        let grid = &*grid.insert(found);
        let stored = stored(head, document, piece, grid)?;
        let segment = arrays.segment(array, grid.kind, stored.cells() * grid.voxel_bytes())?;
        // Neighbouring pieces share points; a point is read from the first piece that has it.
        let new_points: Vec<Region> = uncovered.iter().filter_map(|open| open.intersect(&stored)).collect();
        uncovered = uncovered.iter().flat_map(|open| open.subtract(&stored)).collect();
        if uncovered.len() > document::MOST_PIECES {
            let message = "the pieces leave out too many boxes between each other";
            return Err(IoError::unsupported(&head.path, piece.extent.at, message));
        }
        subvolumes.extend(new_points.into_iter().map(|used| Subvolume { stored, used, segment: segment.clone() }));
    }
    let grid = grid.ok_or_else(|| IoError::malformed(&head.path, document.frame.whole.at, "the image has no piece"))?;
    if let Some(open) = uncovered.first() {
        let message = format!("no piece holds the points {open} (counted from the lower corner of WholeExtent)");
        return Err(IoError::malformed(&head.path, document.frame.whole.at, message));
    }
    let arrays = document.pieces.first().into_iter().flat_map(|piece| &piece.points);
    let arrays = arrays.map(|array| array.name.clone()).collect();
    Ok(Description { arrays, ..Description::new(FORMAT, grid, subvolumes) })
}

/// Selects the array to read; an unknown name is an error.
pub(crate) fn choose_array(head: &Head, document: &Document, name: Option<&str>) -> Result<String, IoError> {
    let all = || document.pieces.iter().flat_map(|piece| &piece.points);
    let names: BTreeSet<&str> = all().map(|array| &*array.name).collect();
    if names.is_empty() {
        let at = document.frame.whole.at;
        let message = match document.pieces.iter().find_map(|piece| piece.cells.first()) {
            Some(cells) => format!(
                "there are cell data only (array {}); point data are read (VTK's filter Cell Data to Point Data converts)",
                quoted(&cells.name)
            ),
            None => "the image has no array of point data".into(),
        };
        return Err(IoError::unsupported(&head.path, at, message));
    }
    let active = document.pieces.iter().find_map(|piece| piece.scalars.as_deref());
    let chosen = name.or(active).or_else(|| all().next().map(|array| &*array.name)).unwrap_or("");
    if names.contains(chosen) {
        return Ok(chosen.to_string());
    }
    let list = names.iter().take(20).map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    Err(IoError::request(&head.path, format!("has no array of point data {}; it has {list}", quoted(chosen))))
}

fn array_of_piece<'a>(head: &Head, piece: &'a VtiPiece, name: &str) -> Result<&'a VtiArray, IoError> {
    let mut found = piece.points.iter().filter(|array| array.name == name);
    let missing = || format!("this piece has no array {}", quoted(name));
    let first = found.next().ok_or_else(|| IoError::malformed(&head.path, piece.extent.at, missing()))?;
    match found.next() {
        None => Ok(first),
        Some(again) => {
            let message = format!("array {} is there several times; one time step is read", quoted(name));
            Err(IoError::unsupported(&head.path, again.at, message))
        }
    }
}

/// Unchecked voxel layout of the image with the numbers of `array`.
fn claim(head: &Head, document: &Document, array: &VtiArray) -> Result<Claim, IoError> {
    let kind = kind(head, array.at, &array.kind)?;
    let big_endian = big_endian(head, document, array)?;
    Ok(Claim {
        components: array.components.clone(),
        spacing: document.frame.spacing.clone(),
        origin: document.frame.first_point(),
        directions: document.frame.directions.clone(),
        notes: document.frame.notes.clone(),
        ..Claim::plain(kind, big_endian, document.frame.sizes())
    })
}

pub(crate) fn kind(head: &Head, at: u64, name: &str) -> Result<ScalarKind, IoError> {
    Ok(match name {
        "Int8" => ScalarKind::I8,
        "UInt8" => ScalarKind::U8,
        "Int16" => ScalarKind::I16,
        "UInt16" => ScalarKind::U16,
        "Int32" => ScalarKind::I32,
        "UInt32" => ScalarKind::U32,
        "Int64" => ScalarKind::I64,
        "UInt64" => ScalarKind::U64,
        "Float32" => ScalarKind::F32,
        "Float64" => ScalarKind::F64,
        other => {
            let message = format!("numbers of type {}; Int8 to UInt64, Float32 and Float64 are read", quoted(other));
            return Err(IoError::unsupported(&head.path, at, message));
        }
    })
}

pub(crate) fn big_endian(head: &Head, document: &Document, array: &VtiArray) -> Result<bool, IoError> {
    match (array.is_text(), document.big_endian) {
        (true, _) => Ok(cfg!(target_endian = "big")),
        (false, Some(big)) => Ok(big),
        (false, None) => {
            Err(IoError::malformed(&head.path, array.at, "VTKFile does not say which byte_order binary data have"))
        }
    }
}

/// Box of a piece, relative to the lower corner of the whole extent.
fn stored(head: &Head, document: &Document, piece: &VtiPiece, grid: &VoxelLayout) -> Result<Region, IoError> {
    let (whole, extent) = (&document.frame.whole.value, &piece.extent.value);
    if (0..3).any(|axis| extent[axis].0 < whole[axis].0 || extent[axis].1 > whole[axis].1) {
        let message = "the piece reaches beyond WholeExtent";
        return Err(IoError::malformed(&head.path, piece.extent.at, message));
    }
    let axes = grid.shape.axes();
    let start = Index::from_fn(axes, |axis| extent[axis].0 - whole[axis].0);
    Ok(Region::between(start, Index::from_fn(axes, |axis| extent[axis].1 - whole[axis].0 + 1)))
}
