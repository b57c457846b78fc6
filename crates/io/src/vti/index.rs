//! VTK's parallel image data (.pvti): an index of piece files.

use std::collections::BTreeSet;

use zippy_files::quoted;
use zippy_plan::extents::Index as ArrayIndex;
use zippy_plan::region::Region;

use super::document::{Document, MOST_PIECES};
use super::elements::{Element, next_element};
use super::frame::Frame;
use super::notes::FieldTexts;
use super::xml::Xml;
use crate::IoError;
use crate::head::{Head, NamedFiles, error_in_named_file, named_path};
use crate::voxels::{Claim, Description, Stated, Subvolume, VoxelLayout};

pub(crate) const FORMAT: &str = "PVTI";

/// Maximum number of pieces.
pub const MOST: usize = 1 << 16;

/// Maximum bytes of XML elements.
const MOST_BYTES: u64 = 32 << 20;

#[derive(Default)]
pub(crate) struct Index {
    pub frame: Frame,
    pub arrays: Vec<IndexedArray>,
    /// Name of the active scalars.
    pub scalars: Option<String>,
    pub pieces: Vec<IndexedPiece>,
    pub notes: FieldTexts,
}

pub(crate) struct IndexedArray {
    pub at: u64,
    pub name: String,
    pub kind: String,
    pub components: Stated<i64>,
}

/// Box of points in a file of its own.
pub(crate) struct IndexedPiece {
    pub extent: Stated<[(i64, i64); 3]>,
    pub source: String,
}

impl Index {
    pub(crate) fn read(head: &Head) -> Result<Self, IoError> {
        let mut xml = Xml::bounded(head, MOST_BYTES)?;
        let (mut index, mut open, mut names) = (Self::default(), Vec::new(), BTreeSet::new());
        while let Some((element, empty)) = next_element(&mut xml, &head.path, &mut open)? {
            let inside: Vec<&str> = open.iter().map(String::as_str).collect();
            if let (["VTKFile", "PImageData", "FieldData"], "DataArray" | "Array") = (&inside[..], &*element.name) {
                let text = if empty { None } else { super::document::contents(&head.path, &element, &mut xml)? };
                index.notes.add(&element, text);
                continue;
            }
            index.element(head, &inside, &element, &mut names)?;
            if !empty {
                open.push(element.name);
            }
        }
        xml.all_closed(&open)?;
        if index.frame.whole.at == 0 {
            return Err(IoError::malformed(&head.path, xml.at(), "the document has no VTKFile with a PImageData"));
        }
        Ok(index)
    }

    fn element(
        &mut self,
        head: &Head,
        inside: &[&str],
        element: &Element,
        names: &mut BTreeSet<String>,
    ) -> Result<(), IoError> {
        let path = &head.path;
        match (inside, &*element.name) {
            ([], "VTKFile") => Document::default().file(path, element, "PImageData")?,
            ([], name) => {
                let message = format!("the element {}; a VTKFile is read", quoted(name));
                return Err(IoError::unsupported(path, element.at, message));
            }
            (["VTKFile"], "PImageData") => self.frame = Frame::new(path, element)?,
            (["VTKFile", "PImageData"], "PPointData") => {
                self.scalars = element.get("Scalars").filter(|name| !name.is_empty()).map(str::to_string);
            }
            (["VTKFile", "PImageData", "PPointData"], "PDataArray") => self.arrays.push(IndexedArray {
                at: element.at,
                name: element.get("Name").unwrap_or("").to_string(),
                kind: element.need(path, "type")?.to_string(),
                components: Stated::new(element.integer(path, "NumberOfComponents")?.unwrap_or(1), element.at),
            }),
            (["VTKFile", "PImageData"], "Piece") => {
                let (extent, source) = (element.extent(path, "Extent")?, element.need(path, "Source")?.to_string());
                if self.pieces.len() == MOST {
                    let message = format!("more than {MOST} pieces are not read");
                    return Err(IoError::unsupported(path, element.at, message));
                }
                if !names.insert(source.clone()) {
                    let message = format!("the piece {} is named twice", quoted(&source));
                    return Err(IoError::malformed(path, element.at, message));
                }
                self.pieces.push(IndexedPiece { extent, source });
            }
            _ => {}
        }
        Ok(())
    }

    /// Selects the array `name`; `None`: the active scalars, else the first array.
    pub(crate) fn array(&self, head: &Head, name: Option<&str>) -> Result<&IndexedArray, IoError> {
        let wanted = name.or(self.scalars.as_deref());
        let found = self.arrays.iter().find(|array| wanted.is_none_or(|name| array.name == name));
        found.ok_or_else(|| {
            let list: Vec<String> = self.arrays.iter().take(20).map(|array| quoted(&array.name)).collect();
            let message = match wanted {
                Some(name) if !list.is_empty() => {
                    format!("has no array of point data {}; it has {}", quoted(name), list.join(", "))
                }
                _ => "has no array of point data".into(),
            };
            IoError::request(&head.path, message)
        })
    }

    pub(crate) fn grid(&self, head: &Head, array: &IndexedArray) -> Result<VoxelLayout, IoError> {
        let kind = super::kind(head, array.at, &array.kind)?;
        let claim = Claim::plain(kind, cfg!(target_endian = "big"), self.frame.sizes());
        Claim { components: array.components.clone(), spacing: self.frame.spacing.clone(), ..claim }.check(&head.path)
    }

    /// Locates the points of an array in the pieces that `wanted` accepts; other pieces are not
    /// opened. `wanted` receives the index of a piece, and its points that no earlier piece has.
    pub(crate) fn open(
        &self,
        head: &Head,
        array: &IndexedArray,
        wanted: impl Fn(usize, &[Region]) -> bool,
    ) -> Result<Description, IoError> {
        let mut grid = self.grid(head, array)?;
        let (mut uncovered, mut subvolumes, mut big_endian) = (vec![grid.whole()], Vec::new(), None);
        let mut named = NamedFiles::default();
        for (number, piece) in self.pieces.iter().enumerate() {
            let Some(stored) = self.stored(head, piece)? else { continue };
            // Neighbouring pieces share points; a point is read from the first piece that has it.
            let new_points: Vec<Region> = uncovered.iter().filter_map(|open| open.intersect(&stored)).collect();
            if !new_points.is_empty() {
                uncovered = uncovered.iter().flat_map(|open| open.subtract(&stored)).collect();
            }
            if uncovered.len() > MOST_PIECES {
                let message = "the pieces leave out too many boxes between each other";
                return Err(IoError::unsupported(&head.path, piece.extent.at, message));
            }
            if !new_points.is_empty() && wanted(number, &new_points) {
                named.add(&head.path, piece.extent.at, &piece.source)?;
                let found = self.piece(head, piece, (&array.name, &grid), &new_points);
                let (found, parts) = found.map_err(|error| error_in_named_file(&head.path, piece.extent.at, &error))?;
                if *big_endian.get_or_insert(found) != found {
                    let message = "pieces of different byte orders are not read together";
                    return Err(IoError::unsupported(&head.path, piece.extent.at, message));
                }
                subvolumes.extend(parts);
            }
        }
        if let Some(open) = uncovered.first() {
            let message = format!("no piece holds the points {open} (counted from the lower corner of WholeExtent)");
            return Err(IoError::malformed(&head.path, self.frame.whole.at, message));
        }
        grid.big_endian = big_endian.unwrap_or(grid.big_endian);
        Ok(Description::new(FORMAT, grid, subvolumes))
    }

    /// Box of a piece, relative to the lower corner of the whole extent; `None` for a piece without
    /// points.
    fn stored(&self, head: &Head, piece: &IndexedPiece) -> Result<Option<Region>, IoError> {
        let (whole, extent) = (&self.frame.whole.value, &piece.extent.value);
        if extent.iter().any(|&(first, last)| first > last) {
            return Ok(None);
        }
        if (0..3).any(|axis| extent[axis].0 < whole[axis].0 || extent[axis].1 > whole[axis].1) {
            let message = "the piece reaches beyond WholeExtent";
            return Err(IoError::malformed(&head.path, piece.extent.at, message));
        }
        let start = ArrayIndex::from_fn(3, |axis| extent[axis].0 - whole[axis].0);
        Ok(Some(Region::between(start, ArrayIndex::from_fn(3, |axis| extent[axis].1 - whole[axis].0 + 1))))
    }

    /// Locates points in the file of a piece; the flag is true for big-endian.
    fn piece(
        &self,
        head: &Head,
        piece: &IndexedPiece,
        (name, grid): (&str, &VoxelLayout),
        new_points: &[Region],
    ) -> Result<(bool, Vec<Subvolume>), IoError> {
        let piece_head = Head::read(&named_path(&head.path, &piece.source))?;
        let document = Document::read(&piece_head)?;
        let found = super::describe_array(&piece_head, &document, Some(name))?;
        let (kind, components) = (found.grid.kind, found.grid.components);
        if (kind, components) != (grid.kind, grid.components) {
            let message = format!("has {components} numbers of {kind} a point, the index says another type");
            return Err(IoError::request(&piece_head.path, message));
        }
        // Both extents have the same origin.
        let (from, to) = (&document.frame.whole.value, &self.frame.whole.value);
        if (0..3).any(|axis| from[axis].0 < to[axis].0 || from[axis].1 > to[axis].1) {
            let message = "reaches beyond the WholeExtent of its index";
            return Err(IoError::request(&piece_head.path, message));
        }
        let offset = ArrayIndex::from_fn(3, |axis| from[axis].0 - to[axis].0);
        let mut parts = Vec::new();
        for Subvolume { stored, used, segment } in found.subvolumes {
            let (stored, used) = (stored.translate(&offset), used.translate(&offset));
            let common = new_points.iter().filter_map(|new_points| new_points.intersect(&used));
            parts.extend(common.map(|used| Subvolume { stored, used, segment: segment.clone() }));
        }
        let cells = |all: &mut dyn Iterator<Item = &Region>| all.map(Region::cells).sum::<u64>();
        if cells(&mut parts.iter().map(|part| &part.used)) != cells(&mut new_points.iter()) {
            return Err(IoError::request(&piece_head.path, "has not all points of the extent that the index says"));
        }
        Ok((found.grid.big_endian, parts))
    }
}
