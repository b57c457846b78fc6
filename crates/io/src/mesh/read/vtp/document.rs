//! [`PolyData`]: parsed elements of a .vtp file.

use zippy_files::quoted;

use crate::IoError;
use crate::head::Head;
use crate::voxels::Stated;
use crate::vti::document::{self, Document, MOST_PIECES, VtiArray};
use crate::vti::elements::{Element, next_element};
use crate::vti::xml::Xml;

pub(super) struct PolyData {
    /// Common parts of the document; its only piece has all arrays.
    pub document: Document,
    pub pieces: Vec<VtpPiece>,
}

/// Mesh in a document. Arrays are indices into [`PolyData::arrays`].
#[derive(Default)]
pub(super) struct VtpPiece {
    pub at: u64,
    pub points: u64,
    pub polys: u64,
    /// Name of the normals.
    pub normals: Option<String>,
    pub data: Vec<usize>,
    pub positions: Option<usize>,
    pub connectivity: Option<usize>,
    pub offsets: Option<usize>,
    /// Number of triangle strips.
    pub strips: u64,
    pub strip_connectivity: Option<usize>,
    pub strip_offsets: Option<usize>,
}

impl PolyData {
    pub(super) fn arrays(&self) -> &[VtiArray] {
        self.document.pieces.first().map_or(&[], |piece| &piece.points)
    }

    pub(super) fn read(head: &Head) -> Result<Self, IoError> {
        let mut xml = Xml::open(head)?;
        let all =
            document::VtiPiece { extent: Stated::default(), scalars: None, points: Vec::new(), cells: Vec::new() };
        let mut data = Self { document: Document::default(), pieces: Vec::new() };
        data.document.pieces.push(all);
        let mut open: Vec<String> = Vec::new();
        while let Some((element, empty)) = next_element(&mut xml, &head.path, &mut open)? {
            let inside: Vec<&str> = open.iter().map(String::as_str).collect();
            match (&inside[..], &*element.name) {
                (["VTKFile"], "AppendedData") => {
                    data.document.appended = Some(document::appended(&head.path, &element, &mut xml)?);
                    open.clear();
                    break;
                }
                (_, "DataArray" | "Array") => {
                    let text = if empty { None } else { document::contents(&head.path, &element, &mut xml)? };
                    data.array(head, &inside, &element, text)?;
                    continue;
                }
                ([], "VTKFile") => data.document.file(&head.path, &element, "PolyData")?,
                ([], name) => {
                    let message = format!("the element {}; a VTKFile is read", quoted(name));
                    return Err(IoError::unsupported(&head.path, element.at, message));
                }
                (["VTKFile", "PolyData"], "Piece") => data.piece(head, &element)?,
                (["VTKFile", "PolyData", "Piece"], "PointData") => {
                    let normals = element.get("Normals").filter(|name| !name.is_empty()).map(str::to_string);
                    if let Some(piece) = data.pieces.last_mut() {
                        piece.normals = normals;
                    }
                }
                _ => {}
            }
            if !empty {
                open.push(element.name);
            }
        }
        if let Some(name) = open.last() {
            let message = format!("the file ends inside the element {}; it is truncated", quoted(name));
            return Err(IoError::malformed(&head.path, xml.at(), message));
        }
        Ok(data)
    }

    fn piece(&mut self, head: &Head, element: &Element) -> Result<(), IoError> {
        if self.pieces.len() == MOST_PIECES {
            let message = format!("more than {MOST_PIECES} pieces are not read");
            return Err(IoError::unsupported(&head.path, element.at, message));
        }
        let count = |name: &str| match element.integer(&head.path, name)?.map_or(Ok(0), u64::try_from) {
            Ok(count) => Ok(count),
            Err(_) => Err(IoError::malformed(&head.path, element.at, format!("{name} is negative"))),
        };
        element.need(&head.path, "NumberOfPoints")?;
        // Points and lines without area are dropped.
        let (points, polys, strips) = (count("NumberOfPoints")?, count("NumberOfPolys")?, count("NumberOfStrips")?);
        self.pieces.push(VtpPiece { at: element.at, points, polys, strips, ..VtpPiece::default() });
        Ok(())
    }

    fn array(
        &mut self,
        head: &Head,
        inside: &[&str],
        element: &Element,
        text: Option<std::ops::Range<u64>>,
    ) -> Result<(), IoError> {
        let ["VTKFile", "PolyData", "Piece", parent] = inside else { return Ok(()) };
        let (Some(piece), Some(all)) = (self.pieces.last_mut(), self.document.pieces.first_mut()) else {
            return Ok(());
        };
        // Unused arrays may be empty; empty ranges could otherwise start at the same byte as
        // others.
        let cells = match *parent {
            "PointData" | "Points" => piece.points,
            "Polys" => piece.polys,
            "Strips" => piece.strips,
            _ => 0,
        };
        if cells == 0 && element.get("format") != Some("appended") {
            return Ok(());
        }
        let number = all.points.len();
        all.points.push(VtiArray::new(&head.path, element, text)?);
        let slot = match (*parent, element.get("Name")) {
            ("PointData", _) => {
                piece.data.push(number);
                return Ok(());
            }
            ("Points", _) => &mut piece.positions,
            ("Polys", Some("connectivity")) => &mut piece.connectivity,
            ("Polys", Some("offsets")) => &mut piece.offsets,
            ("Strips", Some("connectivity")) => &mut piece.strip_connectivity,
            ("Strips", Some("offsets")) => &mut piece.strip_offsets,
            _ => return Ok(()),
        };
        if slot.replace(number).is_some() {
            return Err(IoError::malformed(&head.path, element.at, "such an array is there before"));
        }
        Ok(())
    }
}
