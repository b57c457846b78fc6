//! VTK's PolyData in XML: elements that describe arrays, and the numbers of these behind all elements, each array behind
//! its length.

use std::fmt::Write;

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
            let message = format!("the field {}; in VTP a name is text without control characters", quoted(name));
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

/// The attribute that names the normals.
pub fn active(normals: bool) -> String {
    if normals { format!(" Normals=\"{NORMALS}\"") } else { String::new() }
}

/// # Errors
/// As [`named`]; the file gets too long.
pub fn lay(layout: &mut Layout) -> Result<(), IoError> {
    named(&layout.fields, layout.normals)?;
    // In the order of their numbers.
    let mut arrays = vec![(Rows::Positions, array("Float32", "Points", 3))];
    if layout.normals {
        arrays.push((Rows::Normals, array("Float32", NORMALS, 3)));
    }
    let fields = layout.fields.iter().enumerate();
    arrays.extend(fields.map(|(number, name)| (Rows::Field(number), array("Float32", name, 1))));
    let data = 1..arrays.len();
    arrays.push((Rows::Triangles, array("Int64", "connectivity", 1)));
    arrays.push((Rows::Ends, array("Int64", "offsets", 1)));

    let mut elements = Vec::new();
    let mut offset = 0_u64;
    for (rows, says) in &arrays {
        elements.push(format!("        <DataArray {says} format=\"appended\" offset=\"{offset}\"/>\n"));
        offset = offset.saturating_add(8 + layout.bytes(*rows)?);
    }
    let mut text = beginning("PolyData");
    // Memory takes all.
    let _ = write!(
        text,
        "  <PolyData>\n    <Piece NumberOfPoints=\"{}\" NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" \
         NumberOfPolys=\"{}\">\n      <PointData{}>\n{}      </PointData>\n      <Points>\n{}      </Points>\n\
         \x20     <Polys>\n{}      </Polys>\n    </Piece>\n  </PolyData>\n  <AppendedData encoding=\"raw\">\n   _",
        layout.whole.vertices,
        layout.whole.triangles,
        active(layout.normals),
        elements[data.clone()].concat(),
        elements[0],
        elements[data.end..].concat(),
    );
    // Each array's length joins what stands before it.
    let mut frame = text.into_bytes();
    for (rows, _) in arrays {
        frame.extend(layout.bytes(rows)?.to_le_bytes());
        layout.put(std::mem::take(&mut frame))?;
        layout.rows(rows)?;
    }
    layout.put(b"\n  </AppendedData>\n</VTKFile>".to_vec())
}
