//! Reader of PLY files, in text and binary in both byte orders.

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
use numbers::Numbers;

pub(super) fn read(path: &Path) -> Result<Mesh, IoError> {
    let mut source = MeshSource::open(path)?;
    let (encoding, elements) = header::read(&mut source)?;
    let vertices = elements.iter().find(|element| element.name == "vertex");
    let Some(vertices) = vertices.map(|element| element.count) else {
        return source.malformed(source.at, "the header has no element vertex");
    };
    let start = source.at;
    let mut numbers = Numbers::new(source, encoding);
    let (mut mesh, mut positions, mut faces) = (Mesh::default(), Vec::new(), Faces::default());
    for element in &elements {
        let whole = numbers.need(element);
        // Report errors in existing rows before missing rows.
        match &*element.name {
            "vertex" => whole.and_then(|()| read_vertices(&mut numbers, element, &mut mesh, &mut positions))?,
            name @ ("face" | "tristrips") => {
                let kind = if name == "face" { Kind::Polygons } else { Kind::Strips };
                match read_faces(&mut numbers, element, vertices, kind, &mut faces) {
                    Err(IoError::File(FileError::Truncated { .. })) if whole.is_err() => whole?,
                    read => read?,
                }
            }
            _ => whole.and_then(|()| drop_rows(&mut numbers, element))?,
        }
    }
    let mut source = numbers.source;
    source.end_of_data(source.at - start)?;
    (mesh.positions, mesh.origin) = floats(&positions);
    mesh.triangles = faces.into_triangles(&mesh.positions, source.path)?;
    Ok(mesh)
}

fn drop_rows(numbers: &mut Numbers<'_>, element: &Element) -> Result<(), IoError> {
    // A row without properties has no bytes, and a header may declare any number of such rows.
    for _ in 0..if element.properties.is_empty() { 0 } else { element.count } {
        element.properties.iter().try_for_each(|property| numbers.drop_property(property))?;
    }
    Ok(())
}

/// Use of a property of the vertices.
#[derive(Clone, Copy)]
enum Role {
    Position(usize),
    Normal(usize),
    Field(usize),
    /// A list.
    Dropped,
}

fn read_vertices(
    numbers: &mut Numbers<'_>,
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
        let among = |names: [&str; 3]| names.iter().position(|name| *name == property.name);
        if property.count.is_some() {
            return Role::Dropped;
        }
        if let Some(row) = among(POSITION) {
            return Role::Position(row);
        }
        if let Some(row) = among(NORMAL).filter(|_| with_normals) {
            return Role::Normal(row);
        }
        names.push(property.name.clone());
        Role::Field(names.len() - 1)
    };
    let roles: Vec<Role> = element.properties.iter().map(role).collect();
    mesh.normals = with_normals.then(Vec::new);
    mesh.fields = names.into_iter().map(|name| (name, Vec::new())).collect();
    for _ in 0..element.count {
        let (mut position, mut normal) = ([0.0; 3], [0.0; 3]);
        for (property, role) in element.properties.iter().zip(&roles) {
            let target = match *role {
                Role::Dropped => {
                    numbers.drop_property(property)?;
                    continue;
                }
                Role::Field(number) => {
                    let value = numbers.number(property.kind)? as f32;
                    mesh.fields[number].1.push(value);
                    continue;
                }
                Role::Position(row) => &mut position[row],
                Role::Normal(row) => &mut normal[row],
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

/// Meaning of a list of vertices.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Corners of a face.
    Polygons,
    /// Triangle strips, separated by -1.
    Strips,
}

fn read_faces(
    numbers: &mut Numbers<'_>,
    element: &Element,
    vertices: u64,
    kind: Kind,
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
                if kind == Kind::Strips && vertex == -1.0 {
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
        if kind == Kind::Polygons && corners.len() < 3 {
            return numbers.source.malformed(at, format!("a face of {} corners; at least 3 are needed", corners.len()));
        }
        match kind {
            Kind::Polygons => faces.push(&corners, at),
            Kind::Strips => faces.push_strip(&corners),
        }
    }
    Ok(())
}
