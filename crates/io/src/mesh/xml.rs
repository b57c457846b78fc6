//! What VTK's documents in XML have in common: elements that describe arrays, and the numbers of these behind all elements,
//! each array behind its length.

use quick_xml::escape::escape;

use super::Layout;
use super::blocks::Rows;
use crate::{IoError, quoted};

/// The name of the array of normals.
pub const NORMALS: &str = "Normals";

/// The first lines of a document whose type and element are `kind`.
pub fn beginning(kind: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"{kind}\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\">\n"
    )
}

/// # Errors
/// A name that XML cannot hold, or that of the normals.
pub fn named(fields: &[String], normals: bool) -> Result<(), IoError> {
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

/// What an element says of an array.
pub fn array(kind: &str, name: &str, components: u64) -> String {
    format!("type=\"{kind}\" Name=\"{}\" NumberOfComponents=\"{components}\"", escape(name))
}

/// Attributes of the element for the array of positions.
pub fn points(doubles: bool) -> String {
    array(if doubles { "Float64" } else { "Float32" }, "Points", 3)
}

/// The attribute that names the normals.
pub fn active(normals: bool) -> String {
    if normals { format!(" Normals=\"{NORMALS}\"") } else { String::new() }
}

/// An array whose numbers stand behind all elements.
struct Array {
    says: String,
    /// Rows of several kinds, one behind the other.
    rows: Vec<Rows>,
}

/// What a piece of a document is.
pub struct Document<'a> {
    /// The type and element of the document.
    pub kind: &'a str,
    /// What the piece says of itself, behind the number of its points.
    pub counts: &'a str,
    /// The element that has its cells.
    pub cells: &'a str,
    /// The arrays of cells, and what they say of themselves.
    pub arrays: Vec<(String, Vec<Rows>)>,
}

/// Lays out a document with points, their normals and fields, and cells.
///
/// # Errors
/// As [`named`]; the file gets too long.
pub fn lay(layout: &mut Layout, document: Document) -> Result<(), IoError> {
    named(&layout.fields, layout.normals)?;
    // In the order of their numbers.
    let mut arrays = vec![Array { says: points(layout.whole.doubles), rows: vec![Rows::Positions] }];
    if layout.normals {
        arrays.push(Array { says: array("Float32", NORMALS, 3), rows: vec![Rows::Normals] });
    }
    let field =
        |(number, name): (usize, &String)| Array { says: array("Float32", name, 1), rows: vec![Rows::Field(number)] };
    arrays.extend(layout.fields.iter().enumerate().map(field));
    let data = 1..arrays.len();
    arrays.extend(document.arrays.into_iter().map(|(says, rows)| Array { says, rows }));

    let bytes = |layout: &Layout, array: &Array| {
        array.rows.iter().try_fold(0, |sum: u64, rows| Ok::<_, IoError>(sum.saturating_add(layout.bytes(*rows)?)))
    };
    let (mut elements, mut offset) = (Vec::new(), 0_u64);
    for array in &arrays {
        elements.push(format!("        <DataArray {} format=\"appended\" offset=\"{offset}\"/>\n", array.says));
        offset = offset.saturating_add(bytes(layout, array)?).saturating_add(8);
    }
    let Document { kind, counts, cells, .. } = document;
    let text = format!(
        "{}  <{kind}>\n    <Piece NumberOfPoints=\"{}\" {counts}>\n      <PointData{}>\n{}      </PointData>\n      <Points>\n{}\
         \x20     </Points>\n      <{cells}>\n{}      </{cells}>\n    </Piece>\n  </{kind}>\n  \
         <AppendedData encoding=\"raw\">\n   _",
        beginning(kind),
        layout.whole.vertices,
        active(layout.normals),
        elements[data.clone()].concat(),
        elements[0],
        elements[data.end..].concat(),
    );
    // Each array's length joins what stands before it.
    let mut frame = text.into_bytes();
    for array in &arrays {
        frame.extend(bytes(layout, array)?.to_le_bytes());
        layout.put(std::mem::take(&mut frame))?;
        array.rows.iter().try_for_each(|&rows| layout.rows(rows))?;
    }
    layout.put(b"\n  </AppendedData>\n</VTKFile>".to_vec())
}
