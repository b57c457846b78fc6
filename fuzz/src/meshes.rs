//! Meshes of every format, whole.

use std::path::Path;

use zippy_io::IoError;
use zippy_io::mesh::{self, Field, Mesh, Part};

use crate::common::volumes::{Folder, bytes, zlib};
use crate::samples::{Content, Packing, Sample};

/// Valid meshes: those that the library writes, and a compressed one of others.
///
/// # Errors
/// One cannot be written.
pub fn samples() -> Result<Vec<Sample>, String> {
    let folder = Folder::new();
    let positions: Vec<[f32; 3]> =
        (0..9_u8).map(|i| [f32::from(i % 3), f32::from(i / 3), 0.5 * f32::from(i)]).collect();
    let normals: Vec<[f32; 3]> = positions.iter().map(|&[x, y, z]| [z, x, y]).collect();
    let values: Vec<f32> = (0..9_u8).map(f32::from).collect();
    let triangles = [[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4], [3, 4, 7], [3, 7, 6], [4, 5, 8], [4, 8, 7]];
    let corners = triangles.map(|triangle| triangle.map(|vertex| positions[vertex as usize]));
    let fields = [Field { name: "speed", values: &values }];
    let full = Part {
        positions: &positions,
        normals: Some(&normals),
        fields: &fields,
        triangles: &triangles,
        corners: &corners,
        ..Part::default()
    };
    let bare = Part { positions: &positions, triangles: &triangles, corners: &corners, ..Part::default() };
    let mut all = Vec::new();
    let plain = |name: &str| -> Result<Content, String> {
        let bytes = std::fs::read(folder.0.join(name)).map_err(|error| error.to_string())?;
        Ok(Content { name: name.into(), parts: vec![(Packing::Plain, bytes)] })
    };
    for part in [&full, &bare, &Part::default()] {
        for name in ["mesh.ply", "mesh.stl", "mesh.obj", "mesh.vtp"] {
            mesh::write(folder.0.join(name), part).map_err(|error| error.to_string())?;
            all.push(vec![plain(name)?]);
        }
        let index = folder.0.join("mesh.pvtp");
        for number in 0..2 {
            mesh::write_piece(&index, number, part).map_err(|error| error.to_string())?;
        }
        let (normals, names): (bool, &[&str]) = if part.fields.is_empty() { (false, &[]) } else { (true, &["speed"]) };
        mesh::write_index(&index, 2, normals, names).map_err(|error| error.to_string())?;
        all.push(vec![plain("mesh.pvtp")?, plain("mesh_0.vtp")?, plain("mesh_1.vtp")?]);
    }
    all.push(vec![compressed(&positions, &values, &triangles)]);
    Ok(all)
}

/// Arrays in blocks of zlib streams behind all elements; what is packed is struck before that.
fn compressed(positions: &[[f32; 3]], values: &[f32], triangles: &[[u64; 3]]) -> Content {
    let corners: Vec<i64> = triangles.iter().flatten().map(|&corner| corner as i64).collect();
    let ends: Vec<i64> = (1..=triangles.len() as i64).map(|end| 3 * end).collect();
    let arrays =
        [bytes(values, false), bytes(positions.as_flattened(), false), bytes(&corners, false), bytes(&ends, false)];
    let (mut parts, mut at, mut offsets) = (Vec::new(), 0, Vec::new());
    for array in &arrays {
        let packed = zlib(array).len();
        let words = [1, array.len(), 0, packed].map(|word| word as u32);
        offsets.push(at);
        at += 16 + packed;
        parts.push((Packing::Plain, bytes(&words, false)));
        parts.push((Packing::Zlib, array.clone()));
    }
    let element = |kind: &str, name: &str, more: &str, at: usize| {
        format!("<DataArray type=\"{kind}\" Name=\"{name}\"{more} format=\"appended\" offset=\"{at}\"/>")
    };
    let head = format!(
        "<?xml version=\"1.0\"?><VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt32\" \
         compressor=\"vtkZLibDataCompressor\"><PolyData><Piece NumberOfPoints=\"{}\" NumberOfPolys=\"{}\"><PointData>{}</PointData>\
         <Points>{}</Points><Polys>{}{}</Polys></Piece></PolyData><AppendedData encoding=\"raw\">_",
        positions.len(),
        triangles.len(),
        element("Float32", "speed", "", offsets[0]),
        element("Float32", "Points", " NumberOfComponents=\"3\"", offsets[1]),
        element("Int64", "connectivity", "", offsets[2]),
        element("Int64", "offsets", "", offsets[3]),
    );
    parts.insert(0, (Packing::Plain, head.into_bytes()));
    parts.push((Packing::Plain, b"</AppendedData></VTKFile>".to_vec()));
    Content { name: "mesh.vtp".into(), parts }
}

/// Reads a mesh; it hangs together.
///
/// # Errors
/// What the reader says.
pub fn read(path: &Path) -> Result<(), IoError> {
    let Mesh { positions, normals, fields, triangles } = mesh::read(path)?;
    let vertices = positions.len() as u64;
    assert!(triangles.iter().flatten().all(|&vertex| vertex < vertices));
    assert!(normals.is_none_or(|normals| normals.len() == positions.len()));
    assert!(fields.iter().all(|(_, values)| values.len() == positions.len()));
    Ok(())
}
