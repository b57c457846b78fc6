//! Binary little-endian PLY.

mod header;

use std::path::Path;

use super::Mesh;
use super::source::Source;
use crate::IoError;
use crate::mesh::ply::{NORMAL, POSITION};
use crate::scalar::ScalarKind;
use header::{Element, Property};

pub fn read(path: &Path) -> Result<Mesh, IoError> {
    let mut source = Source::open(path)?;
    let elements = header::read(&mut source)?;
    let vertices = elements.iter().find(|element| element.name == "vertex");
    let Some(vertices) = vertices.map(|element| element.count) else {
        return source.malformed(source.at, "the header has no element vertex");
    };
    let start = source.at;
    let mut mesh = Mesh::default();
    for element in &elements {
        match &*element.name {
            "vertex" => read_vertices(&mut source, element, &mut mesh)?,
            "face" => read_faces(&mut source, element, vertices, &mut mesh)?,
            _ => drop_rows(&mut source, element)?,
        }
    }
    source.end(source.at - start)?;
    Ok(mesh)
}

/// Where the numbers of an element without lists stand in a row, and the bytes of a row.
fn places(source: &Source, element: &Element) -> Result<(Vec<u64>, u64), IoError> {
    let mut width = 0;
    let mut places = Vec::new();
    for property in &element.properties {
        if property.count.is_some() {
            let message = "a list here is not read; only the faces have one, vertex_indices";
            return Err(IoError::unsupported(source.path, property.at, message));
        }
        places.push(width);
        width += property.kind.bytes();
    }
    Ok((places, width))
}

fn drop_rows(source: &mut Source, element: &Element) -> Result<(), IoError> {
    let (_, width) = places(source, element)?;
    source.rows(element.count, width, |_, _| Ok(()))
}

fn read_vertices(source: &mut Source, element: &Element, mesh: &mut Mesh) -> Result<(), IoError> {
    let (places, width) = places(source, element)?;
    let place = |name: &str| {
        let found = element.properties.iter().position(|property| property.name == name)?;
        Some((element.properties[found].kind, places[found] as usize))
    };
    let vector = |names: [&str; 3]| {
        let [x, y, z] = names.map(place);
        Some([x?, y?, z?])
    };
    let Some(position) = vector(POSITION) else {
        return source.malformed(element.at, "the vertices have no x, y and z");
    };
    let normal = vector(NORMAL);
    let own = |name: &str| POSITION.contains(&name) || (normal.is_some() && NORMAL.contains(&name));
    let fields = element.properties.iter().filter(|property| !own(&property.name));
    let fields: Vec<(&Property, (ScalarKind, usize))> =
        fields.filter_map(|property| Some((property, place(&property.name)?))).collect();
    mesh.normals = normal.map(|_| Vec::new());
    mesh.fields = fields.iter().map(|(property, _)| (property.name.clone(), Vec::new())).collect();
    source.rows(element.count, width, |_, row| {
        let float = |(kind, at): (ScalarKind, usize)| number(kind, &row[at..]) as f32;
        mesh.positions.push(position.map(float));
        if let (Some(normals), Some(normal)) = (&mut mesh.normals, normal) {
            normals.push(normal.map(float));
        }
        mesh.fields.iter_mut().zip(&fields).for_each(|((_, values), (_, place))| values.push(float(*place)));
        Ok(())
    })
}

fn read_faces(source: &mut Source, element: &Element, vertices: u64, mesh: &mut Mesh) -> Result<(), IoError> {
    let lists: Vec<&Property> = element.properties.iter().filter(|property| property.count.is_some()).collect();
    let [list] = lists[..] else {
        let message = format!("faces with {} lists; the one of vertex_indices is read", lists.len());
        return Err(IoError::unsupported(source.path, element.at, message));
    };
    if !matches!(&*list.name, "vertex_indices" | "vertex_index") {
        return Err(IoError::unsupported(source.path, list.at, "a list of faces that is not vertex_indices"));
    }
    let integer = |kind: ScalarKind| !matches!(kind, ScalarKind::F32 | ScalarKind::F64);
    let counts = list.count.filter(|&kind| integer(kind) && integer(list.kind));
    let Some(counts) = counts else {
        return source.malformed(list.at, "vertex_indices must be a list of integers");
    };
    // All faces are triangles: their rows have one width.
    let (mut width, mut place) = (0, 0);
    for property in &element.properties {
        if property.count.is_some() {
            place = width as usize;
            width += counts.bytes() + 3 * list.kind.bytes();
        } else {
            width += property.kind.bytes();
        }
    }
    let first = place + counts.bytes() as usize;
    let path = source.path;
    // What holds no triangle is told before what holds too few.
    let few = source.need(element.count.checked_mul(width)).err();
    let whole = if few.is_some() { source.left() / width } else { element.count };
    source.rows(whole, width, |at, row| {
        let corners = number(counts, &row[place..]);
        if corners != 3.0 {
            let message = format!("a face of {corners} corners; triangles are read");
            return Err(IoError::unsupported(path, at, message));
        }
        let corner = |corner: usize| number(list.kind, &row[first + corner * list.kind.bytes() as usize..]);
        let triangle = [0, 1, 2].map(corner);
        if let Some(vertex) = triangle.iter().find(|&&vertex| vertex < 0.0 || vertex >= vertices as f64) {
            let message = format!("a face names vertex {vertex}; the {vertices} vertices are counted from 0");
            return Err(IoError::malformed(path, at, message));
        }
        mesh.triangles.push(triangle.map(|vertex| vertex as u64));
        Ok(())
    })?;
    few.map_or(Ok(()), Err)
}

/// A number of a row, without loss: none has more than 32 bits or is longer than an f64.
fn number(kind: ScalarKind, bytes: &[u8]) -> f64 {
    fn read<const N: usize>(bytes: &[u8]) -> [u8; N] {
        std::array::from_fn(|byte| bytes[byte])
    }
    match kind {
        ScalarKind::I8 => i8::from_le_bytes(read(bytes)).into(),
        ScalarKind::U8 => u8::from_le_bytes(read(bytes)).into(),
        ScalarKind::I16 => i16::from_le_bytes(read(bytes)).into(),
        ScalarKind::U16 => u16::from_le_bytes(read(bytes)).into(),
        ScalarKind::I32 => i32::from_le_bytes(read(bytes)).into(),
        ScalarKind::U32 => u32::from_le_bytes(read(bytes)).into(),
        ScalarKind::I64 => i64::from_le_bytes(read(bytes)) as f64,
        ScalarKind::U64 => u64::from_le_bytes(read(bytes)) as f64,
        ScalarKind::F32 => f32::from_le_bytes(read(bytes)).into(),
        ScalarKind::F64 => f64::from_le_bytes(read(bytes)),
    }
}
