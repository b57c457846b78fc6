//! Common parts of VTK XML documents: elements that describe arrays, followed by the numbers of all
//! arrays in binary, each array after its length.

use quick_xml::escape::escape;
use zippy_files::quoted;

use super::rows::Rows;
use super::sections::FileSections;
use crate::IoError;

pub(crate) const NORMALS: &str = "Normals";

/// First lines of a document with type and element `kind`.
pub(crate) fn document_start(kind: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"{kind}\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\">\n"
    )
}

/// Checks the names of fields: an error if XML cannot hold a name, or a field has the name of the
/// normals.
pub(crate) fn check_names(fields: &[String], normals: bool) -> Result<(), IoError> {
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

pub(crate) fn array(kind: &str, name: &str, components: u64) -> String {
    format!("type=\"{kind}\" Name=\"{}\" NumberOfComponents=\"{components}\"", escape(name))
}

pub(crate) fn points(doubles: bool) -> String {
    array(if doubles { "Float64" } else { "Float32" }, "Points", 3)
}

pub(crate) fn normals_attribute(normals: bool) -> String {
    if normals { format!(" Normals=\"{NORMALS}\"") } else { String::new() }
}

/// Array in the binary section of the document.
struct Array {
    attributes: String,
    /// Rows of several kinds, in this order.
    rows: Vec<Rows>,
}

pub(crate) struct Document<'a> {
    /// Type and element of the document.
    pub kind: &'a str,
    /// Attributes of the piece after the number of points.
    pub counts: &'a str,
    /// Element that contains the cells.
    pub cells: &'a str,
    /// XML attributes and rows of the cell arrays.
    pub arrays: Vec<(String, Vec<Rows>)>,
}

pub(crate) fn lay(layout: &mut FileSections, document: Document<'_>) -> Result<(), IoError> {
    check_names(&layout.content.fields, layout.content.normals)?;
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
        document_start(kind),
        layout.content.whole.vertices,
        normals_attribute(layout.content.normals),
        elements[data.clone()].concat(),
        elements[0],
        elements[data.end..].concat(),
    );
    // Each array's length follows the preceding text in one block.
    let mut frame = text.into_bytes();
    for array in &arrays {
        frame.extend(bytes(layout, array)?.to_le_bytes());
        layout.put(std::mem::take(&mut frame))?;
        array.rows.iter().try_for_each(|&rows| layout.rows(rows))?;
    }
    layout.put(b"\n  </AppendedData>\n</VTKFile>".to_vec())
}
