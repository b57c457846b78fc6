//! Common parts of VTK XML documents: elements that describe arrays, followed by the numbers of all
//! arrays in binary, each array after its length.

use quick_xml::escape::escape;
use zippy_files::quoted;

use super::rows::Rows;
use super::sections::FileSections;
use crate::IoError;

/// Name of the normals array.
pub(crate) const NORMALS: &str = "Normals";

/// First lines of a document with type and element `kind`.
pub(crate) fn beginning(kind: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"{kind}\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\">\n"
    )
}

/// Checks the names of fields.
///
/// # Errors
/// XML cannot hold a name, or a field has the name of the normals.
pub(crate) fn named(fields: &[String], normals: bool) -> Result<(), IoError> {
    for name in fields {
        if name.is_empty() || name.contains(|c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}')) {
            let message =
                format!("the field {}; in VTP and VTU a name is text without control characters", quoted(name));
            return Err(IoError::mesh(message));
        }
        if normals && name == NORMALS {
            return Err(IoError::mesh(format!("a field cannot be called {}: the normals are", quoted(name))));
        }
    }
    Ok(())
}

/// Attributes of an array element.
pub(crate) fn array(kind: &str, name: &str, components: u64) -> String {
    format!("type=\"{kind}\" Name=\"{}\" NumberOfComponents=\"{components}\"", escape(name))
}

/// Attributes of the element for the positions.
pub(crate) fn points(doubles: bool) -> String {
    array(if doubles { "Float64" } else { "Float32" }, "Points", 3)
}

/// Attribute that names the normals.
pub(crate) fn active(normals: bool) -> String {
    if normals { format!(" Normals=\"{NORMALS}\"") } else { String::new() }
}

/// An array in the binary section of the document.
struct Array {
    attributes: String,
    /// Rows of several kinds, in this order.
    rows: Vec<Rows>,
}

/// Content of a document with one piece.
pub(crate) struct Document<'a> {
    /// Type and element of the document.
    pub kind: &'a str,
    /// Attributes of the piece after the number of points.
    pub counts: &'a str,
    /// Element that contains the cells.
    pub cells: &'a str,
    /// Attributes and rows of the cell arrays.
    pub arrays: Vec<(String, Vec<Rows>)>,
}

/// Lays out a document with points, their normals and fields, and cells.
///
/// # Errors
/// As [`named`]; the file gets too long.
pub(crate) fn lay(layout: &mut FileSections, document: Document<'_>) -> Result<(), IoError> {
    named(&layout.content.fields, layout.content.normals)?;
    // In the order of the binary section.
    let mut arrays = vec![Array { attributes: points(layout.content.whole.doubles), rows: vec![Rows::Positions] }];
    if layout.content.normals {
        arrays.push(Array { attributes: array("Float32", NORMALS, 3), rows: vec![Rows::Normals] });
    }
    let field = |(number, name): (usize, &String)| Array {
        attributes: array("Float32", name, 1),
        rows: vec![Rows::Field(number)],
    };
    arrays.extend(layout.content.fields.iter().enumerate().map(field));
    let data = 1..arrays.len();
    arrays.extend(document.arrays.into_iter().map(|(attributes, rows)| Array { attributes, rows }));

    let bytes = |layout: &FileSections, array: &Array| {
        array.rows.iter().try_fold(0, |sum: u64, rows| Ok::<_, IoError>(sum.saturating_add(layout.bytes(*rows)?)))
    };
    let (mut elements, mut offset) = (Vec::new(), 0_u64);
    for array in &arrays {
        elements.push(format!("        <DataArray {} format=\"appended\" offset=\"{offset}\"/>\n", array.attributes));
        offset = offset.saturating_add(bytes(layout, array)?).saturating_add(8);
    }
    let Document { kind, counts, cells, .. } = document;
    let text = format!(
        "{}  <{kind}>\n    <Piece NumberOfPoints=\"{}\" {counts}>\n      <PointData{}>\n{}      </PointData>\n      <Points>\n{}\
         \x20     </Points>\n      <{cells}>\n{}      </{cells}>\n    </Piece>\n  </{kind}>\n  \
         <AppendedData encoding=\"raw\">\n   _",
        beginning(kind),
        layout.content.whole.vertices,
        active(layout.content.normals),
        elements[data.clone()].concat(),
        elements[0],
        elements[data.end..].concat(),
    );
    // Write each array's length together with the preceding text.
    let mut frame = text.into_bytes();
    for array in &arrays {
        frame.extend(bytes(layout, array)?.to_le_bytes());
        layout.put(std::mem::take(&mut frame))?;
        array.rows.iter().try_for_each(|&rows| layout.rows(rows))?;
    }
    layout.put(b"\n  </AppendedData>\n</VTKFile>".to_vec())
}
