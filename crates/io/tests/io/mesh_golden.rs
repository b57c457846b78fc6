//! Files of a small mesh, byte by byte, from the descriptions of the formats.

use zippy_io::mesh::{self, Field, Part};

use super::common::volumes::Folder;

/// Two triangles over four vertices, with normals and a field.
fn written(name: &str) -> Vec<u8> {
    let part = Part {
        positions: &[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [-0.5, 0.0, 4.0]],
        normals: Some(&[[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
        fields: &[Field { name: "t", values: &[1.0, 2.0, -1.0, 0.5] }],
        triangles: &[[0, 1, 2], [3, 0, 1]],
        corners: &[
            [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]],
            [[-0.5, 0.0, 4.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
        ],
        ..Part::default()
    };
    let folder = Folder::new();
    mesh::write(folder.0.join(name), &part).unwrap();
    std::fs::read(folder.0.join(name)).unwrap()
}

/// 32-bit floats, one per letter: 0 for 0, A and B for 1 and -1, C and D for 2 and 4, E and F for
/// 0.5 and -0.5.
fn floats(letters: &str) -> Vec<u8> {
    let float = |letter: char| match letter {
        '0' => [0, 0, 0, 0],
        'A' => [0, 0, 0x80, 0x3f],
        'B' => [0, 0, 0x80, 0xbf],
        'C' => [0, 0, 0, 0x40],
        'D' => [0, 0, 0x80, 0x40],
        'E' => [0, 0, 0, 0x3f],
        'F' => [0, 0, 0, 0xbf],
        _ => panic!("{letter}"),
    };
    letters.chars().filter(|letter| *letter != ' ').flat_map(float).collect()
}

#[test]
fn ply() {
    let header = "ply\nformat binary_little_endian 1.0\nelement vertex 4\nproperty float x\nproperty float y\n\
                  property float z\nproperty float nx\nproperty float ny\nproperty float nz\nproperty float t\n\
                  element face 2\nproperty list uchar int vertex_indices\nend_header\n";
    let vertices = floats("000 00A A  A00 00B C  0C0 A00 B  F0D 0A0 E");
    let faces = [3, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0];
    assert_eq!(written("a.ply"), [header.as_bytes(), &vertices, &faces].concat());
}

#[test]
fn stl() {
    let header = b"binary STL, little-endian; each triangle: normal, three corners, two zero bytes.\x02\0\0\0";
    let one = floats("00A 000 A00 0C0");
    // The normal of (-0.5, 0, 4), (0, 0, 0), (1, 0, 0).
    let two = floats("0B0 F0D 000 A00");
    assert_eq!(header.len(), 84);
    assert_eq!(written("a.stl"), [&header[..], &one, &[0, 0], &two, &[0, 0]].concat());
}

#[test]
fn obj() {
    let text = "# a mesh of 4 vertices and 2 triangles\nv 0 0 0\nv 1 0 0\nv 0 2 0\nv -0.5 0 4\nvn 0 0 1\n\
                vn 0 0 -1\nvn 1 0 0\nvn 0 1 0\nf 1//1 2//2 3//3\nf 4//4 1//1 2//2\n";
    assert_eq!(String::from_utf8(written("a.obj")).unwrap(), text);
}

#[test]
fn vtp() {
    let text = "<?xml version=\"1.0\"?>\n\
        <VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n\
        \x20 <PolyData>\n    <Piece NumberOfPoints=\"4\" NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" \
        NumberOfPolys=\"2\">\n      <PointData Normals=\"Normals\">\n\
        \x20       <DataArray type=\"Float32\" Name=\"Normals\" NumberOfComponents=\"3\" \
        format=\"appended\" offset=\"56\"/>\n\
        \x20       <DataArray type=\"Float32\" Name=\"t\" NumberOfComponents=\"1\" format=\"appended\" offset=\"112\"/>\n\
        \x20     </PointData>\n      <Points>\n\
        \x20       <DataArray type=\"Float32\" Name=\"Points\" NumberOfComponents=\"3\" format=\"appended\" offset=\"0\"/>\n\
        \x20     </Points>\n      <Polys>\n\
        \x20       <DataArray type=\"Int64\" Name=\"connectivity\" NumberOfComponents=\"1\" \
        format=\"appended\" offset=\"136\"/>\n\
        \x20       <DataArray type=\"Int64\" Name=\"offsets\" NumberOfComponents=\"1\" \
        format=\"appended\" offset=\"192\"/>\n\
        \x20     </Polys>\n    </Piece>\n  </PolyData>\n  <AppendedData encoding=\"raw\">\n   _";
    let words = |words: &[u8]| words.iter().flat_map(|&word| [word, 0, 0, 0, 0, 0, 0, 0]).collect::<Vec<u8>>();
    let data = [
        text.as_bytes(),
        &words(&[48]),
        &floats("000 A00 0C0 F0D"),
        &words(&[48]),
        &floats("00A 00B A00 0A0"),
        &words(&[16]),
        &floats("ACBE"),
        &words(&[48, 0, 1, 2, 3, 0, 1, 16, 3, 6]),
        b"\n  </AppendedData>\n</VTKFile>",
    ];
    assert_eq!(written("a.vtp"), data.concat());
}
