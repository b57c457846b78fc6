mod header;
mod numbers;

use std::path::Path;

use zippy_files::FileError;

use super::Mesh;
use super::faces::Faces;
use super::positions::floats;
use super::source::MeshSource;
use crate::IoError;
use crate::mesh::ply::{NORMAL, POSITION};
use crate::scalar::ScalarKind;
use header::{Element, Property};
use numbers::NumberReader;

pub(super) fn read(path: &Path) -> Result<Mesh, IoError> {
    let mut source = MeshSource::open(path)?;
    let (encoding, elements) = header::read(&mut source)?;
    let vertices = elements.iter().find(|element| element.name == "vertex");
    let Some(vertices) = vertices.map(|element| element.count) else {
        return source.malformed(source.at, "the header has no element vertex");
    };
    let start = source.at;
    let mut numbers = NumberReader::new(source, encoding);
    let (mut mesh, mut positions, mut faces) = (Mesh::default(), Vec::new(), Faces::default());
    for element in &elements {
        let has_rows = numbers.need(element);
        // Errors in existing rows are reported before missing rows.
        match &*element.name {
            "vertex" => has_rows.and_then(|()| read_vertices(&mut numbers, element, &mut mesh, &mut positions))?,
            name @ ("face" | "tristrips") => {
                let kind = if name == "face" { ListMeaning::Polygons } else { ListMeaning::Strips };
                match read_faces(&mut numbers, element, vertices, kind, &mut faces) {
                    Err(IoError::File(FileError::Truncated { .. })) if has_rows.is_err() => has_rows?,
                    read => read?,
                }
            }
            _ => has_rows.and_then(|()| drop_rows(&mut numbers, element))?,
        }
    }
    let mut source = numbers.source;
    source.end_of_data(source.at - start)?;
    (mesh.positions, mesh.origin) = floats(&positions);
    mesh.triangles = faces.into_triangles(&mesh.positions, source.path)?;
    Ok(mesh)
}

fn drop_rows(numbers: &mut NumberReader<'_>, element: &Element) -> Result<(), IoError> {
    // A row without properties has no bytes, and a header may declare any number of such rows.
    for _ in 0..if element.properties.is_empty() { 0 } else { element.count } {
        element.properties.iter().try_for_each(|property| numbers.drop_property(property))?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum PropertyUse {
    Position(usize),
    Normal(usize),
    Field(usize),
    /// List, which is dropped.
    Dropped,
}

fn read_vertices(
    numbers: &mut NumberReader<'_>,
    element: &Element,
    mesh: &mut Mesh,
    positions: &mut Vec<[f64; 3]>,
) -> Result<(), IoError> {
    let scalar =
        |name: &str| element.properties.iter().any(|property| property.name == name && property.count.is_none());
    if !POSITION.into_iter().all(scalar) {
        return numbers.source.malformed(element.at, "the vertices have no x, y and z");
    }
    let with_normals = NORMAL.into_iter().all(scalar);
    let mut names: Vec<String> = Vec::new();
    let role = |property: &Property| {
        let index_in = |names: [&str; 3]| names.iter().position(|name| *name == property.name);
        if property.count.is_some() {
            return PropertyUse::Dropped;
        }
        if let Some(row) = index_in(POSITION) {
            return PropertyUse::Position(row);
        }
        if let Some(row) = index_in(NORMAL).filter(|_| with_normals) {
            return PropertyUse::Normal(row);
        }
        names.push(property.name.clone());
        PropertyUse::Field(names.len() - 1)
    };
    let roles: Vec<PropertyUse> = element.properties.iter().map(role).collect();
    mesh.normals = with_normals.then(Vec::new);
    mesh.fields = names.into_iter().map(|name| (name, Vec::new())).collect();
    for _ in 0..element.count {
        let (mut position, mut normal) = ([0.0; 3], [0.0; 3]);
        for (property, role) in element.properties.iter().zip(&roles) {
            let target = match *role {
                PropertyUse::Dropped => {
                    numbers.drop_property(property)?;
                    continue;
                }
                PropertyUse::Field(number) => {
                    let value = numbers.number(property.kind)? as f32;
                    mesh.fields[number].1.push(value);
                    continue;
                }
                PropertyUse::Position(row) => &mut position[row],
                PropertyUse::Normal(row) => &mut normal[row],
            };
            *target = numbers.number(property.kind)?;
        }
        positions.push(position);
        if let Some(normals) = &mut mesh.normals {
            normals.push(normal.map(|part: f64| part as f32));
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq)]
enum ListMeaning {
    Polygons,
    /// Triangle strips, separated by -1.
    Strips,
}

fn read_faces(
    numbers: &mut NumberReader<'_>,
    element: &Element,
    vertices: u64,
    kind: ListMeaning,
    faces: &mut Faces,
) -> Result<(), IoError> {
    let is_corners = |property: &&Property| matches!(&*property.name, "vertex_indices" | "vertex_index");
    let Some(list) = element.properties.iter().find(is_corners) else {
        if element.count == 0 {
            return Ok(());
        }
        return numbers.source.malformed(element.at, "the faces have no list of vertex_indices");
    };
    let is_integer = |kind: ScalarKind| !matches!(kind, ScalarKind::F32 | ScalarKind::F64);
    if !is_integer(list.kind) || !list.count.is_some_and(is_integer) {
        return numbers.source.malformed(list.at, "vertex_indices must be a list of integers");
    }
    let mut corners = Vec::new();
    for _ in 0..element.count {
        let at = numbers.source.at;
        corners.clear();
        for property in &element.properties {
            let Some(count) = property.count.filter(|_| property.name == list.name) else {
                numbers.drop_property(property)?;
                continue;
            };
            for _ in 0..numbers.length(property, count)? {
                let vertex = numbers.number(property.kind)?;
                if kind == ListMeaning::Strips && vertex == -1.0 {
                    faces.push_strip(&corners);
                    corners.clear();
                    continue;
                }
                if !(vertex >= 0.0 && vertex < vertices as f64 && vertex.fract() == 0.0) {
                    let message = format!("a face names vertex {vertex}; the {vertices} vertices are counted from 0");
                    return numbers.source.malformed(at, message);
                }
                corners.push(vertex as u64);
            }
        }
        if kind == ListMeaning::Polygons && corners.len() < 3 {
            return numbers.source.malformed(at, format!("a face of {} corners; at least 3 are needed", corners.len()));
        }
        match kind {
            ListMeaning::Polygons => faces.push(&corners, at),
            ListMeaning::Strips => faces.push_strip(&corners),
        }
    }
    Ok(())
}
