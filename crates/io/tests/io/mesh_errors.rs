//! Mesh files that are truncated, damaged or of other programs: errors name the file and the byte.

use zippy_io::mesh::{self, Format, Mesh};

use super::common::volumes::{Folder, zlib};
use super::meshes::{FORMATS, Sample, name};

fn written(folder: &Folder, format: Format, sample: &Sample) -> Vec<u8> {
    let path = folder.0.join(name(format));
    sample.all(|part| mesh::write(&path, part)).unwrap();
    std::fs::read(path).unwrap()
}

pub(crate) fn error_of(folder: &Folder, name: &str, content: &[u8]) -> String {
    let path = folder.file(name, content);
    let error = mesh::read(&path).expect_err("an error").to_string();
    assert!(error.starts_with(path.to_str().unwrap()) && error.contains(", byte "), "{error}");
    error
}

fn replaced(content: &[u8], from: &str, to: &str) -> Vec<u8> {
    let at = content.windows(from.len()).position(|window| window == from.as_bytes());
    let at = at.unwrap_or_else(|| panic!("no {from} in {}", String::from_utf8_lossy(content)));
    [&content[..at], to.as_bytes(), &content[at + from.len()..]].concat()
}

#[test]
fn every_truncation_is_an_error() {
    let folder = Folder::new();
    for format in FORMATS {
        for sample in [Sample::new(5, 4, true, &["a"]), Sample::new(11, 3, false, &[]), Sample::new(0, 0, false, &[])] {
            let whole = written(&folder, format, &sample);
            for cut in 0..whole.len() {
                error_of(&folder, name(format), &whole[..cut]);
            }
            // A truncated OBJ can end after a whole line; a truncated binary STL gives a note.
            if !matches!(format, Format::Obj | Format::Stl) {
                error_of(&folder, name(format), &[&whole[..], b"x"].concat());
            }
        }
    }
    let index = folder.0.join("a.pvtp");
    mesh::write_index(&index, 0, true, &["a"]).unwrap();
    let whole = std::fs::read(&index).unwrap();
    (0..whole.len()).for_each(|cut| drop(error_of(&folder, "a.pvtp", &whole[..cut])));
}

/// Damage can give another mesh, but no panic, and no index of a missing vertex.
#[test]
fn damaged_files_give_errors_or_meshes_without_panic() {
    let folder = Folder::new();
    let sample = Sample::new(4, 3, true, &["a"]);
    for format in FORMATS {
        let whole = written(&folder, format, &sample);
        for at in 0..whole.len() {
            let bytes = if at.is_multiple_of(2) { [0, whole[at] ^ 1] } else { [b'9', 0xff] };
            for byte in bytes {
                let mut content = whole.clone();
                content[at] = byte;
                if let Ok(Mesh { positions, normals, fields, triangles, .. }) =
                    mesh::read(folder.file(name(format), &content))
                {
                    let vertices = positions.len();
                    assert!(triangles.as_flattened().iter().all(|&vertex| vertex < vertices as u64));
                    assert!(normals.is_none_or(|normals| normals.len() == vertices));
                    assert!(fields.iter().all(|(_, values)| values.len() == vertices));
                }
            }
        }
    }
}

#[test]
fn other_files_are_refused() {
    let folder = Folder::new();
    for name in ["a.ply", "a.stl", "a.obj", "a.vtp", "a.pvtp"] {
        error_of(&folder, name, b"");
        error_of(&folder, name, &[0; 200]);
        error_of(&folder, name, b"<html><body>404</body></html>\n");
        error_of(&folder, name, &b"NRRD0004\ntype: uint8\n".repeat(20));
    }
    for (name, wanted) in [("a.xyz", "the ending \"xyz\""), ("no.ply", "cannot open"), ("", "the ending \"\"")] {
        if name == "a.xyz" {
            folder.file(name, b"");
        }
        let error = mesh::read(folder.0.join(name)).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
    std::fs::create_dir(folder.0.join("d.ply")).unwrap();
    assert!(mesh::read(folder.0.join("d.ply")).unwrap_err().to_string().contains("is not a regular file"));
}

#[test]
fn ply_errors_name_the_defect() {
    let folder = Folder::new();
    let whole = written(&folder, Format::Ply, &Sample::new(5, 4, false, &[]));
    for (from, to, wanted) in [
        ("binary_little_endian", "ascii", "is not a number of type f32"),
        ("binary_little_endian", "binary_big_endian", ", byte"),
        ("binary_little_endian", "binary_middle_endian", "binary_big_endian is read, once"),
        ("format binary_little_endian 1.0\n", "", "no line of format"),
        ("vertex 5", "vertex 6", ", byte"),
        ("vertex 5", "vertex 999999999999999999", "after 112 of 11999999999999999988 bytes"),
        ("vertex 5", "vertex 9999999999999999999", "after 112 of 18446744073709551615 bytes"),
        ("vertex 5", "vertex -5", "\"-5\" is no number of elements"),
        ("vertex 5", "vert 5", "no element vertex"),
        ("face 4", "face 5", "after 0 of 1 bytes"),
        ("face 4", "face 3", "data go on after the 99 bytes"),
        ("face 4", "vertex 4", "\"vertex\" is there twice"),
        ("float x", "float w", "no x, y and z"),
        ("float x", "half x", "\"half\" is no type"),
        ("float y", "float x", "\"x\" is there twice"),
        ("float y", "list uchar int y", "no x, y and z"),
        ("list uchar int vertex_indices", "int a", "no list of vertex_indices"),
        ("vertex_indices", "texcoord", "no list of vertex_indices"),
        ("uchar int", "float int", "must be a list of integers"),
        ("uchar int", "uchar float", "must be a list of integers"),
        ("end_header", "property", "\"property\" is no line of a header"),
        ("element vertex 5\n", "", "a property before the first element"),
    ] {
        let error = error_of(&folder, "a.ply", &replaced(&whole, from, to));
        assert!(error.contains(wanted), "{from} -> {to}: {error}");
    }
    let mut content = whole.clone();
    let first = content.len() - 4 * 13;
    content[first] = 255;
    assert!(error_of(&folder, "a.ply", &content).contains(&format!(", byte {}: the data end after 51", content.len())));
    content[first..first + 5].copy_from_slice(&[3, 5, 0, 0, 0]);
    assert!(error_of(&folder, "a.ply", &content).contains("a face names vertex 5; the 5 vertices"));
    content[first + 1..first + 5].fill(0xff);
    assert!(error_of(&folder, "a.ply", &content).contains("a face names vertex -1"));
}

/// Other types, another order, and elements and properties that are dropped.
#[test]
fn ply_of_other_writers_is_read() {
    let folder = Folder::new();
    let header = "ply\r\nformat binary_little_endian 1.0\r\ncomment by hand\r\nobj_info none\r\nelement camera 2\r\n\
                  property short a\r\nelement face 1\r\nproperty uchar red\r\nproperty list int ushort vertex_index\r\n\
                  property double area\r\nelement vertex 3\r\nproperty uchar red\r\nproperty double z\r\nproperty int8 y\r\n\
                  property uint x\r\nend_header\r\n";
    let mut content =
        [header.as_bytes(), &[1, 2, 3, 4, 200, 3, 0, 0, 0, 2, 0, 1, 0, 0, 0], &7.0_f64.to_le_bytes()].concat();
    for vertex in 0..3_u8 {
        content.push(10 + vertex);
        content.extend((f64::from(vertex) / 4.0).to_le_bytes());
        content.push(vertex.wrapping_neg());
        content.extend((3_000_000_000 + u32::from(vertex) * 256).to_le_bytes());
    }
    let expected = Mesh {
        positions: [0, 1, 2].map(|v| [3.0e9 + 256.0 * v as f32, -v as f32, v as f32 / 4.0]).to_vec(),
        normals: None,
        fields: vec![("red".into(), vec![10.0, 11.0, 12.0])],
        triangles: vec![[2, 1, 0]],
        ..Mesh::default()
    };
    assert_eq!(mesh::read(folder.file("a.ply", &content)).unwrap(), expected);
    let points = b"ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty float x\nproperty float y\n\
                   property float z\nproperty float ny\nend_header\n\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\x3f";
    let read = mesh::read(folder.file("p.ply", points)).unwrap();
    assert_eq!((read.positions, read.normals, read.fields), (vec![[0.0; 3]], None, vec![("ny".into(), vec![1.0])]));
}

#[test]
fn stl_errors_name_the_defect() {
    let folder = Folder::new();
    let whole = written(&folder, Format::Stl, &Sample::new(5, 4, false, &[]));
    assert!(error_of(&folder, "a.stl", b"solid a\nfacet normal 0 0 1\n").contains("ends where outer is expected"));
    assert!(
        error_of(&folder, "a.stl", &b"solid a\nfacet normal 0 0 1\n".repeat(9)).contains("where \"outer\" is expected")
    );
    assert!(error_of(&folder, "a.stl", &whole[..83]).contains("ends inside the first 84 bytes"));
    assert!(error_of(&folder, "a.stl", &whole[..283]).contains("after 199 of 200 bytes"));
    assert!(error_of(&folder, "a.stl", &[&whole[..], &[0; 51]].concat()).contains("go on after the 200 bytes"));
    let mut solid = whole.clone();
    solid[..6].copy_from_slice(b"solid ");
    assert_eq!(mesh::read(folder.file("a.stl", &solid)).unwrap().triangles.len(), 4);
}

#[test]
fn obj_errors_name_the_defect() {
    let folder = Folder::new();
    let vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    for (lines, wanted) in [
        ("v 1 2\n", ", byte 24: the line has fewer than three numbers"),
        ("v 1 2 x\n", ", byte 24: \"x\" is not a number"),
        ("f 1 2 4\nf 1 2 3\n", ", byte 24: a corner names vertex 4; there are 3"),
        ("f 0 1 2\n", "\"0\" is no corner"),
        ("f -4 1 2\n", "\"-4\" is no corner"),
        ("f 1/2/3/4 1 2\n", "is no corner"),
        ("f 1/ 1 x\n", "\"x\" is no corner"),
        ("f 1//1 2//2 3//3\n", "a corner names normal 3; there are 0"),
        ("curves 1 2\n", "a line of \"curves\""),
        ("\u{0}\n", "a line of"),
    ] {
        let error = error_of(&folder, "a.obj", format!("{vertices}{lines}").as_bytes());
        assert!(error.contains(wanted), "{lines}: {error}");
    }
    assert!(error_of(&folder, "a.obj", b"v 0 0 0\nv \xff 0 0\n").contains(", byte 10: the line is not text"));
    assert!(error_of(&folder, "a.obj", &b"v ".repeat(40_000)).contains("a line of more than 65536 bytes"));
    assert!(error_of(&folder, "a.obj", b"# nothing\n").contains("no v line"));
    let counted = |text: &str| error_of(&folder, "a.obj", text.as_bytes());
    assert!(counted("# a mesh of 2 vertices and 0 triangles\nv 0 0 0\n").contains("the file has 1 vertices"));
    assert!(counted("# a mesh of 1 vertices and 0 triangles\nv 0 0 0").contains("the last line does not end"));
}

#[test]
fn obj_of_other_writers_is_read() {
    let folder = Folder::new();
    let text = "mtllib a.mtl\r\no one\r\nf -3/1 2/7/2 +3\r\n";
    assert!(error_of(&folder, "a.obj", text.as_bytes()).contains("is no corner"));
    let text = "mtllib a.mtl\r\no one\r\n  v 1e1 -.5 2. 0.5 0.5 0.5\r\nf 1/1 3/2 2\r\n\r\n# x\r\nvt 0 0\r\nv 0 0 0\r\n\
                v 1 1 1\r\nusemtl a\r\ng b c\r\ns off\r\nl 1 2\r\nf\t-1 -2/3 1/4";
    let read = mesh::read(folder.file("a.obj", text.as_bytes())).unwrap();
    let expected = Mesh {
        positions: vec![[10.0, -0.5, 2.0], [0.0; 3], [1.0; 3]],
        triangles: vec![[0, 2, 1], [2, 1, 0]],
        ..Mesh::default()
    };
    assert_eq!(read, expected);
}

#[test]
fn vtp_errors_name_the_defect() {
    let folder = Folder::new();
    let whole = written(&folder, Format::Vtp, &Sample::new(5, 4, true, &["a"]));
    for (from, to, wanted) in [
        ("type=\"PolyData\"", "type=\"ImageData\"", "a VTKFile of type \"ImageData\"; PolyData is read"),
        ("NumberOfPoints=\"5\"", "NumberOfPoints=\"6\"", "60 bytes; its extent needs 72"),
        ("NumberOfPoints=\"5\"", "NumberOfPoints=\"9223372036854775807\"", "more bytes than fit 63 bits"),
        ("NumberOfPoints=\"5\"", "NumberOfPoints=\"99999999999999\"", "its extent needs 1199999999999988"),
        ("NumberOfPoints=\"5\"", "NumberOfPoints=\"-5\"", "NumberOfPoints is negative"),
        ("NumberOfPoints=\"5\"", "", "no attribute NumberOfPoints"),
        ("NumberOfStrips=\"0\"", "NumberOfStrips=\"1\"", "the Strips have no arrays of connectivity and offsets"),
        ("NumberOfPolys=\"4\"", "NumberOfPolys=\"3\"", "its extent needs 24"),
        (
            "NumberOfComponents=\"3\" format=\"appended\" offset=\"0\"",
            "format=\"appended\" offset=\"0\"",
            "1 components; 3",
        ),
        ("Name=\"connectivity\"", "Name=\"x\"", "no arrays of connectivity and offsets"),
        ("Name=\"offsets\"", "Name=\"connectivity\"", "such an array is there before"),
        ("<Points>", "<Pointz>", ", byte"),
        ("\"Int64\" Name=\"conn", "\"Float64\" Name=\"conn", "integers of 32 or 64 bits are read"),
        ("Name=\"a\"", "Name=\"Normals\"", ", byte"),
    ] {
        let content = replaced(&whole, from, to);
        if to == "Name=\"Normals\"" {
            assert_eq!(mesh::read(folder.file("a.vtp", &content)).unwrap().fields[0].0, "Normals");
            continue;
        }
        let error = error_of(&folder, "a.vtp", &content);
        assert!(error.contains(wanted), "{from} -> {to}: {error}");
    }
    let corner = whole.len() - b"\n  </AppendedData>\n</VTKFile>".len() - (8 + 4 * 8) - 12 * 8;
    let mut content = whole.clone();
    content[corner] = 5;
    assert!(error_of(&folder, "a.vtp", &content).contains("cell 0 names vertex 5; the 5 points"));
    content[corner..corner + 8].fill(0xff);
    assert!(error_of(&folder, "a.vtp", &content).contains("cell 0 names vertex -1"));
    let mut content = whole.clone();
    let end = corner + 12 * 8 + 8;
    content[end] = 7;
    assert!(error_of(&folder, "a.vtp", &content).contains("cell 1 ends at corner 6, and the one before at 7"));
}

/// As written by VTK: text or compressed, 32 bits, big-endian, with arrays that are not read.
#[test]
fn vtp_of_other_writers_is_read() {
    let folder = Folder::new();
    let text = r#"<?xml version="1.0"?>
<VTKFile type="PolyData" version="0.1" byte_order="LittleEndian">
  <PolyData>
    <Piece NumberOfPoints="3" NumberOfVerts="0" NumberOfLines="0" NumberOfStrips="0" NumberOfPolys="1">
      <PointData Scalars="s"><DataArray type="UInt8" Name="s" format="ascii">1 2 3</DataArray>
        <DataArray type="Float32" Name="v" NumberOfComponents="2" format="ascii">1 2 3 4 5 6</DataArray></PointData>
      <CellData><DataArray type="Int32" Name="c" format="ascii">7</DataArray></CellData>
      <Points><DataArray type="Float64" Name="Points" NumberOfComponents="3" format="ascii">
        0 0 0 1 0 0 0 1.5 0</DataArray></Points>
      <Verts><DataArray type="Int64" Name="connectivity" format="ascii"></DataArray></Verts>
      <Polys><DataArray type="Int32" Name="connectivity" format="ascii">0 2 1</DataArray>
        <DataArray type="Int32" Name="offsets" format="ascii">3</DataArray></Polys>
    </Piece>
    <Piece NumberOfPoints="0" NumberOfPolys="0">
      <PointData><DataArray type="UInt8" Name="s" format="ascii"></DataArray></PointData>
    </Piece>
  </PolyData>
</VTKFile>
"#;
    let expected = Mesh {
        positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.5, 0.0]],
        normals: None,
        fields: vec![("s".into(), vec![1.0, 2.0, 3.0])],
        triangles: vec![[0, 2, 1]],
        ..Mesh::default()
    };
    let error = error_of(&folder, "a.vtp", text.as_bytes());
    assert!(error.contains("the piece: it has no normals and the fields []"), "{error}");
    let (start, end) = (text.find("    <Piece NumberOfPoints=\"0\"").unwrap(), text.find("  </PolyData>").unwrap());
    let one = [&text[..start], &text[end..]].concat();
    assert_eq!(mesh::read(folder.file("a.vtp", one.as_bytes())).unwrap(), expected);
    for (from, to, wanted) in [
        ("0 2 1<", "0 2<", "cannot hold the 3 numbers"),
        ("0 2 1<", "0 2 1 1<", "data go on"),
        ("0 2 1<", "0 2 3<", "names vertex 3"),
        (">3<", ">4<", "cannot hold the 4 numbers"),
    ] {
        let error = error_of(&folder, "a.vtp", one.replace(from, to).as_bytes());
        assert!(error.contains(wanted), "{to}: {error}");
    }

    let mut appended: Vec<u8> = Vec::new();
    let mut add = |data: &[u8]| {
        let at = appended.len();
        let packed = zlib(data);
        for word in [1, data.len() as u32, 0, packed.len() as u32] {
            appended.extend(word.to_be_bytes());
        }
        appended.extend(packed);
        format!("format=\"appended\" offset=\"{at}\"/>")
    };
    let floats = |values: &[f32]| values.iter().flat_map(|value| value.to_be_bytes()).collect::<Vec<u8>>();
    let cells = add(&[9]);
    let s = add(&floats(&[1.0, 2.0, 3.0]));
    let points = add(&floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.5, 0.0]));
    let corners = add(&[0_u32, 2, 1].map(u32::to_be_bytes).concat());
    let ends = add(&3_u64.to_be_bytes());
    let mut content = format!(
        "<VTKFile type=\"PolyData\" byte_order=\"BigEndian\" compressor=\"vtkZLibDataCompressor\"><PolyData>\
         <Piece NumberOfPoints=\"3\" NumberOfPolys=\"1\"><PointData><DataArray type=\"Float32\" Name=\"s\" {s}</PointData>\
         <CellData><DataArray type=\"UInt8\" Name=\"c\" {cells}</CellData>\
         <Points><DataArray type=\"Float32\" Name=\"Points\" NumberOfComponents=\"3\" {points}</Points>\
         <Polys><DataArray type=\"UInt32\" Name=\"connectivity\" {corners}<DataArray type=\"UInt64\" Name=\"offsets\" {ends}\
         </Polys></Piece></PolyData><AppendedData encoding=\"raw\">_"
    )
    .into_bytes();
    content.extend(appended);
    content.extend(b"</AppendedData></VTKFile>");
    assert_eq!(mesh::read(folder.file("a.vtp", &content)).unwrap(), expected);
}

#[test]
fn pvtp_errors_name_the_defect() {
    let folder = Folder::new();
    let index = folder.0.join("a.pvtp");
    Sample::new(3, 1, true, &["a"]).all(|part| mesh::write_piece(&index, 0, part)).unwrap();
    mesh::write_index(&index, 2, true, &["a"]).unwrap();
    let whole = std::fs::read(&index).unwrap();
    assert!(error_of(&folder, "a.pvtp", &whole).contains("a_1.vtp: cannot open"));
    Sample::new(3, 1, true, &["b"]).all(|part| mesh::write_piece(&index, 1, part)).unwrap();
    let error = error_of(&folder, "a.pvtp", &whole);
    assert!(
        error.contains("the piece \"a_1.vtp\": it has normals and the fields [\"b\"]; a piece before has"),
        "{error}"
    );
    let error = error_of(&folder, "a.pvtp", &replaced(&whole, "a_1", "a_0"));
    assert!(error.contains("the piece \"a_0.vtp\" is named twice"), "{error}");
    folder.file("a_1.vtp", b"<VTKFile");
    assert!(error_of(&folder, "a.pvtp", &whole).contains("the file that goes with it, "));
    assert!(error_of(&folder, "a.pvtp", &replaced(&whole, " Source=\"a_1.vtp\"", "")).contains("no attribute Source"));
    let error = error_of(&folder, "a.pvtp", &replaced(&whole, "\"PPolyData\"", "\"PolyData\""));
    assert!(error.contains("a VTKFile of type \"PolyData\"; PPolyData is read"), "{error}");
}
