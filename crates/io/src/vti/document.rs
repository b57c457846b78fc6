//! [`Document`]: parsed elements of a .vti file.

use std::ops::Range;
use std::path::Path;

use quick_xml::events::Event;
use zippy_files::quoted;

use super::elements::{Element, next_element};
use super::frame::Frame;
use super::notes::FieldTexts;
use super::xml::Xml;
use crate::IoError;
use crate::head::Head;
use crate::voxels::Stated;

pub(crate) const MOST_PIECES: usize = 4096;

#[derive(Default)]
pub(crate) struct Document {
    pub big_endian: Option<bool>,
    /// Bytes of each length in binary data.
    pub header_bytes: u64,
    pub compressor: Option<Stated<String>>,
    pub frame: Frame,
    pub notes: FieldTexts,
    pub pieces: Vec<VtiPiece>,
    pub appended: Option<Appended>,
}

pub(crate) struct VtiPiece {
    pub extent: Stated<[(i64, i64); 3]>,
    /// Name of the active scalars.
    pub scalars: Option<String>,
    pub points: Vec<VtiArray>,
    pub cells: Vec<VtiArray>,
}

pub(crate) struct VtiArray {
    pub at: u64,
    pub name: String,
    pub kind: String,
    pub components: Stated<i64>,
    pub numbers: NumbersAt,
}

impl VtiArray {
    /// Parses an array element; `text` is the range of the element's content.
    pub(crate) fn new(path: &Path, element: &Element, text: Option<Range<u64>>) -> Result<Self, IoError> {
        let inline = || text.clone().ok_or_else(|| IoError::malformed(path, element.at, "the array has no numbers"));
        let numbers = match element.need(path, "format")? {
            "ascii" => NumbersAt::Text(inline()?),
            "binary" => NumbersAt::Binary(inline()?),
            "appended" => {
                let offset = element.integer(path, "offset")?;
                let offset = offset.and_then(|offset| u64::try_from(offset).ok());
                let missing = || IoError::malformed(path, element.at, "appended data need an offset of at least 0");
                NumbersAt::Appended(offset.ok_or_else(missing)?)
            }
            other => {
                let message = format!("format {}; ascii, binary and appended are read", quoted(other));
                return Err(IoError::unsupported(path, element.at, message));
            }
        };
        Ok(Self {
            at: element.at,
            name: element.get("Name").unwrap_or("").to_string(),
            kind: element.need(path, "type")?.to_string(),
            components: Stated::new(element.integer(path, "NumberOfComponents")?.unwrap_or(1), element.at),
            numbers,
        })
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(self.numbers, NumbersAt::Text(_))
    }
}

pub(crate) enum NumbersAt {
    /// Decimal numbers in the element.
    Text(Range<u64>),
    /// Base64 text in the element.
    Binary(Range<u64>),
    /// Offset in the appended data, in bytes, or in characters of base64 text.
    Appended(u64),
}

/// Data after all elements.
pub(crate) struct Appended {
    /// Offset of the byte after the underscore.
    pub start: u64,
    pub base64: bool,
}

impl Document {
    pub(crate) fn read(head: &Head) -> Result<Self, IoError> {
        let mut xml = Xml::open(head)?;
        let mut document = Self::default();
        let mut open: Vec<String> = Vec::new();
        while let Some((element, empty)) = next_element(&mut xml, &head.path, &mut open)? {
            let inside: Vec<&str> = open.iter().map(String::as_str).collect();
            if let (["VTKFile"], "AppendedData") = (&inside[..], &*element.name) {
                document.appended = Some(appended(&head.path, &element, &mut xml)?);
                open.clear();
                break;
            }
            if matches!(&*element.name, "DataArray" | "Array") {
                let text = if empty { None } else { contents(&head.path, &element, &mut xml)? };
                document.array(&head.path, &inside, &element, text)?;
                continue;
            }
            document.element(&head.path, &inside, &element)?;
            if !empty {
                open.push(element.name);
            }
        }
        xml.all_closed(&open)?;
        if document.header_bytes == 0 || document.frame.whole.at == 0 {
            return Err(IoError::malformed(&head.path, xml.at(), "the document has no VTKFile with an ImageData"));
        }
        Ok(document)
    }

    fn element(&mut self, path: &Path, inside: &[&str], element: &Element) -> Result<(), IoError> {
        match (inside, &*element.name) {
            ([], "VTKFile") => self.file(path, element, "ImageData"),
            ([], name) => {
                let message = format!("the element {}; a VTKFile is read", quoted(name));
                Err(IoError::unsupported(path, element.at, message))
            }
            (["VTKFile"], "ImageData") => {
                self.frame = Frame::new(path, element)?;
                Ok(())
            }
            (["VTKFile", "ImageData"], "Piece") => {
                if self.pieces.len() == MOST_PIECES {
                    let message = format!("more than {MOST_PIECES} pieces are not read");
                    return Err(IoError::unsupported(path, element.at, message));
                }
                let extent = element.extent(path, "Extent")?;
                self.pieces.push(VtiPiece { extent, scalars: None, points: Vec::new(), cells: Vec::new() });
                Ok(())
            }
            (["VTKFile", "ImageData", "Piece"], "PointData") => {
                let scalars = element.get("Scalars").filter(|name| !name.is_empty()).map(str::to_string);
                if let Some(piece) = self.pieces.last_mut() {
                    piece.scalars = scalars;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Parses the attributes of the outermost element; `kind` is the expected document type.
    pub(crate) fn file(&mut self, path: &Path, element: &Element, kind: &str) -> Result<(), IoError> {
        let refuse = |message: String| Err(IoError::unsupported(path, element.at, message));
        match element.need(path, "type")? {
            found if found == kind => {}
            other => return refuse(format!("a VTKFile of type {}; {kind} is read", quoted(other))),
        }
        self.big_endian = match element.get("byte_order") {
            None => None,
            Some("LittleEndian") => Some(false),
            Some("BigEndian") => Some(true),
            Some(other) => return refuse(format!("byte_order {}; LittleEndian or BigEndian is read", quoted(other))),
        };
        self.header_bytes = match element.get("header_type") {
            None | Some("UInt32") => 4,
            Some("UInt64") => 8,
            Some(other) => return refuse(format!("header_type {}; UInt32 or UInt64 is read", quoted(other))),
        };
        let compressor = element.get("compressor").filter(|name| !name.is_empty());
        self.compressor = compressor.map(|name| Stated::new(name.to_string(), element.at));
        Ok(())
    }

    fn array(
        &mut self,
        path: &Path,
        inside: &[&str],
        element: &Element,
        text: Option<Range<u64>>,
    ) -> Result<(), IoError> {
        if let ["VTKFile", "ImageData", "FieldData"] = inside {
            self.notes.add(element, text);
            return Ok(());
        }
        let ["VTKFile", "ImageData", "Piece", data @ ("PointData" | "CellData")] = inside else { return Ok(()) };
        let Some(piece) = self.pieces.last_mut() else { return Ok(()) };
        let array = VtiArray::new(path, element, text)?;
        if *data == "PointData" {
            piece.points.push(array)
        } else {
            piece.cells.push(array)
        }
        Ok(())
    }
}

/// Range of an array's text; nested elements with information about the array are skipped.
pub(crate) fn contents(path: &Path, element: &Element, xml: &mut Xml<'_>) -> Result<Option<Range<u64>>, IoError> {
    let mut found: Option<Range<u64>> = None;
    let mut depth = 0;
    loop {
        let text = xml.text()?;
        if let Some(text) = text.filter(|_| depth == 0) {
            if found.is_some() {
                return Err(IoError::malformed(path, text.start, "the numbers of the array are interrupted"));
            }
            found = Some(text);
        }
        match xml.next()? {
            (_, Event::Start(_)) => depth += 1,
            (_, Event::End(_)) if depth > 0 => depth -= 1,
            (_, Event::End(_)) => return Ok(found),
            (at, Event::Eof) => {
                let message =
                    format!("the file ends inside the {} at byte {}; it is truncated", element.name, element.at);
                return Err(IoError::malformed(path, at, message));
            }
            _ => {}
        }
    }
}

pub(crate) fn appended(path: &Path, element: &Element, xml: &mut Xml<'_>) -> Result<Appended, IoError> {
    let base64 = match element.get("encoding") {
        Some("raw") => false,
        None | Some("base64") => true,
        Some(other) => {
            let message = format!("encoding {}; raw or base64 is read", quoted(other));
            return Err(IoError::unsupported(path, element.at, message));
        }
    };
    Ok(Appended { start: xml.underscore()?, base64 })
}
