//! Samples of meshes and their reader.

use std::path::Path;

use zippy_io::IoError;
use zippy_io::mesh::{self, Field, Mesh, Part};

use crate::common::volumes::{Folder, bytes, zlib};
use crate::samples::{Encoding, Sample, SampleFile};

pub(crate) fn samples() -> Result<Vec<Sample>, String> {
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
    let plain = |name: &str| -> Result<SampleFile, String> {
        let bytes = std::fs::read(folder.0.join(name)).map_err(|error| error.to_string())?;
        Ok(SampleFile { name: name.into(), sections: vec![(Encoding::Plain, bytes)] })
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
    all.extend(foreign());
    Ok(all)
}

/// Meshes in the style of other programs: text, big-endian numbers, polygons, and elements and
/// properties that the reader skips.
fn foreign() -> Vec<Vec<SampleFile>> {
    let stl = "solid a b\r\n facet normal 0 0 1\r\n  outer loop\r\n   vertex 0 0 0\r\n   vertex 1 0 0\r\n   vertex 0 1e0 0\r\n  \
               endloop\r\n endfacet\r\nendsolid a b\r\nSOLID\nENDSOLID\n";
    let header = "comment by hand\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\n\
                  property list uchar short near\nelement face 2\nproperty list uchar float texcoord\n\
                  property list uchar int vertex_indices\nelement tristrips 1\nproperty list int int vertex_indices\nend_header\n";
    let text = "0 0 0 1 0\n2 0 0 2 1 7\n2 1 0 3 0\n1 .5 0 4 0\n0 2. nan 5 2 1 -1\n2 0.5 1 5 0 1 2 3 4\n0 3 0 1 2\n6 0 1 2 -1 3 4\n";
    let mut binary = Vec::new();
    for at in 0..5_u8 {
        [at, at / 2, 0].iter().for_each(|&x| binary.extend(f32::from(x).to_be_bytes()));
        binary.extend([at, 1, 0, at]);
    }
    for corners in [&[0, 1, 2, 3, 4][..], &[0, 1, 2]] {
        binary.extend([1, 0, 0, 0, 0, corners.len() as u8]);
        corners.iter().for_each(|corner: &i32| binary.extend(corner.to_be_bytes()));
    }
    [4, 0, 1, 2, 3].iter().for_each(|number: &i32| binary.extend(number.to_be_bytes()));
    let obj = "# by hand\nmtllib a.mtl\ng a\nv 0 0 0 1\nv 2 0 0 0.5 0.5 0.5\nv 2 1 \\\n 0\nv 1 0.5 0\nv 0 2 0\nvn 0 0 1\nvt 0 0\n\
               s off\nf 1//1 2//1 3//1 4//1 5//1\nf -1/1/1 -2/1/1 -3/1/1\nl 1 2\n";
    let plain =
        |name: &str, bytes: Vec<u8>| vec![SampleFile { name: name.into(), sections: vec![(Encoding::Plain, bytes)] }];
    vec![
        plain("mesh.stl", stl.into()),
        plain("mesh.ply", format!("ply\nformat ascii 1.0\n{header}{text}").into()),
        plain("mesh.ply", [format!("ply\nformat binary_big_endian 1.0\n{header}").into_bytes(), binary].concat()),
        plain("mesh.obj", obj.into()),
    ]
}

/// VTP file with compressed arrays in its appended data. Mutations apply before the compression.
fn compressed(positions: &[[f32; 3]], values: &[f32], triangles: &[[u64; 3]]) -> SampleFile {
    let corners: Vec<i64> = triangles.iter().flatten().map(|&corner| corner as i64).collect();
    let ends: Vec<i64> = (1..=triangles.len() as i64).map(|end| 3 * end).collect();
    let arrays =
        [bytes(values, false), bytes(positions.as_flattened(), false), bytes(&corners, false), bytes(&ends, false)];
    let (mut sections, mut at, mut offsets) = (Vec::new(), 0, Vec::new());
    for array in &arrays {
        let packed = zlib(array).len();
        let words = [1, array.len(), 0, packed].map(|word| word as u32);
        offsets.push(at);
        at += 16 + packed;
        sections.push((Encoding::Plain, bytes(&words, false)));
        sections.push((Encoding::Zlib, array.clone()));
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
    sections.insert(0, (Encoding::Plain, head.into_bytes()));
    sections.push((Encoding::Plain, b"</AppendedData></VTKFile>".to_vec()));
    SampleFile { name: "mesh.vtp".into(), sections }
}

/// Reads a mesh, and asserts that its arrays are consistent.
pub(crate) fn read(path: &Path) -> Result<(), IoError> {
    let Mesh { origin, positions, normals, fields, triangles, .. } = mesh::read(path)?;
    assert!(origin.iter().all(|x| x.is_finite()));
    let vertices = positions.len() as u64;
    assert!(triangles.iter().flatten().all(|&vertex| vertex < vertices));
    assert!(normals.is_none_or(|normals| normals.len() == positions.len()));
    assert!(fields.iter().all(|(_, values)| values.len() == positions.len()));
    Ok(())
}
