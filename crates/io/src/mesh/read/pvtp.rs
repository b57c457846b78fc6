use std::path::Path;

use zippy_files::quoted;

use super::{Mesh, vtp};
use crate::IoError;
use crate::head::{Head, NamedFiles, error_in_named_file, named_path};
use crate::vti::document::Document;
use crate::vti::elements::next_element;
use crate::vti::xml::Xml;

pub(super) fn read(path: &Path) -> Result<Mesh, IoError> {
    let (mut whole, mut named): (Option<Mesh>, _) = (None, NamedFiles::default());
    for (at, name) in piece_files(&Head::read(path)?)? {
        named.add(path, at, &name)?;
        let piece = vtp::read(&named_path(path, &name)).map_err(|error| error_in_named_file(path, at, &error))?;
        match &mut whole {
            None => whole = Some(piece),
            Some(whole) => {
                let added = whole.append(piece);
                added.map_err(|wrong| IoError::malformed(path, at, format!("the piece {}: {wrong}", quoted(&name))))?;
            }
        }
    }
    Ok(whole.unwrap_or_default())
}

/// Files that the index names, each with the byte of its name.
fn piece_files(head: &Head) -> Result<Vec<(u64, String)>, IoError> {
    let mut xml = Xml::open(head)?;
    let (mut open, mut found, mut known) = (Vec::new(), Vec::new(), false);
    while let Some((element, empty)) = next_element(&mut xml, &head.path, &mut open)? {
        let inside: Vec<&str> = open.iter().map(String::as_str).collect();
        match (&inside[..], &*element.name) {
            ([], "VTKFile") => Document::default().file(&head.path, &element, "PPolyData")?,
            ([], name) => {
                let message = format!("the element {}; a VTKFile is read", quoted(name));
                return Err(IoError::unsupported(&head.path, element.at, message));
            }
            (["VTKFile"], "PPolyData") => known = true,
            (["VTKFile", "PPolyData"], "Piece") => {
                let name = element.need(&head.path, "Source")?.to_string();
                found.push((element.at, name));
            }
            _ => {}
        }
        if !empty {
            open.push(element.name);
        }
    }
    match open.last() {
        Some(name) => {
            let message = format!("the file ends inside the element {}; it is truncated", quoted(name));
            Err(IoError::malformed(&head.path, xml.at(), message))
        }
        None if !known => Err(IoError::malformed(&head.path, xml.at(), "the document has no VTKFile with a PPolyData")),
        None => Ok(found),
    }
}
