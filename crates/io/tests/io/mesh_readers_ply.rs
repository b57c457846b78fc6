//! PLY as written by other programs: a tetrahedron in many spellings.

use std::io::Cursor;

use super::mesh_readers::{CORNERS, FACES, assert_encloses, read, refused};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Order {
    Text,
    Little,
    Big,
}

fn number(order: Order, kind: &str, value: f64) -> Vec<u8> {
    let mut bytes = match kind {
        "char" | "int8" => (value as i8).to_le_bytes().to_vec(),
        "uchar" | "uint8" => (value as u8).to_le_bytes().to_vec(),
        "short" | "int16" => (value as i16).to_le_bytes().to_vec(),
        "ushort" | "uint16" => (value as u16).to_le_bytes().to_vec(),
        "int" | "int32" => (value as i32).to_le_bytes().to_vec(),
        "uint" | "uint32" => (value as u32).to_le_bytes().to_vec(),
        "float" | "float32" => (value as f32).to_le_bytes().to_vec(),
        _ => value.to_le_bytes().to_vec(),
    };
    match order {
        Order::Text => format!("{value} ").into_bytes(),
        Order::Little => bytes,
        Order::Big => {
            bytes.reverse();
            bytes
        }
    }
}

/// A file with elements in the order of the header; each row is a list of numbers with their types.
pub(crate) fn ply(order: Order, header: &str, rows: &[Vec<(&str, f64)>], ending: &str) -> Vec<u8> {
    let format = match order {
        Order::Text => "ascii",
        Order::Little => "binary_little_endian",
        Order::Big => "binary_big_endian",
    };
    let mut out = format!("ply\nformat {format} 1.0\n{header}end_header\n").replace('\n', ending).into_bytes();
    for row in rows {
        row.iter().for_each(|&(kind, value)| out.extend(number(order, kind, value)));
        if order == Order::Text {
            out.extend(ending.bytes());
        }
    }
    out
}

#[test]
fn ply_of_any_writer_is_read() {
    let corner = |at: usize, kind: &'static str| CORNERS[at].map(|x| (kind, f64::from(x)));
    let vertices = |kind: &'static str| (0..4).map(|at| corner(at, kind).to_vec()).collect::<Vec<_>>();
    let face = |count: &'static str, index: &'static str, face: [u8; 3]| {
        let list = face.map(|corner| (index, f64::from(corner)));
        [vec![(count, 3.0)], list.to_vec()].concat()
    };
    type Case = (&'static str, String, Vec<Vec<(&'static str, f64)>>);
    let mut cases: Vec<Case> = Vec::new();
    for (count, index) in [
        ("uchar", "int"),
        ("uint8", "int32"),
        ("uchar", "uint"),
        ("int", "int"),
        ("ushort", "ushort"),
        ("uint8", "uint8"),
        ("char", "short"),
        ("uint32", "uint32"),
    ] {
        for (kind, name) in [("float", "vertex_indices"), ("double", "vertex_index"), ("float32", "vertex_indices")] {
            let header = format!(
                "comment VCGLIB generated\nobj_info num_cols 512\nelement vertex 4\nproperty {kind} x\nproperty {kind} y\n\
                 property {kind} z\nelement face 4\nproperty list {count} {index} {name}\n"
            );
            let rows = vertices(kind).into_iter().chain(FACES.map(|one| face(count, index, one))).collect();
            cases.push(("types of lists", header, rows));
        }
    }
    // Blender: normals, colours, texture coordinates at vertices; MeshLab: flags and a texture list
    // before and after.
    let header = "comment Created by Blender 3.6\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
                  property float nx\nproperty float ny\nproperty float nz\nproperty float s\nproperty float t\n\
                  property uchar red\nproperty uchar green\nproperty uchar blue\nproperty uchar alpha\nelement face 4\n\
                  property int flags\nproperty list uchar float texcoord\nproperty list uchar int vertex_indices\n\
                  property uchar quality\nproperty list uchar float more\n";
    let mut rows: Vec<Vec<(&str, f64)>> = Vec::new();
    for at in 0..4 {
        let normal = [("float", 0.0), ("float", 0.0), ("float", 1.0), ("float", 0.25), ("float", 0.75)];
        rows.push([&corner(at, "float")[..], &normal, &[("uchar", 200.0); 4]].concat());
    }
    for one in FACES {
        let texture: Vec<(&str, f64)> = (0..6).map(|at| ("float", f64::from(at) / 8.0)).collect();
        let lists = [
            vec![("int", 0.0), ("uchar", 6.0)],
            texture,
            face("uchar", "int", one),
            vec![("uchar", 5.0), ("uchar", 0.0)],
        ];
        rows.push(lists.concat());
    }
    cases.push(("Blender and MeshLab", header.into(), rows));
    // Another order of elements and properties, an element of edges, a list at vertices, a material
    // without properties.
    let header = "element material 3\nelement edge 2\nproperty int vertex1\nproperty int vertex2\nproperty uchar crease\n\
                  element face 4\nproperty list uchar int vertex_indices\nelement vertex 4\nproperty list uchar short near\n\
                  property double z\nproperty double x\nproperty double y\nelement camera 1\nproperty list int double matrix\n";
    let mut rows: Vec<Vec<(&str, f64)>> = vec![vec![("int", 0.0), ("int", 1.0), ("uchar", 3.0)]; 2];
    rows.extend(FACES.map(|one| face("uchar", "int", one)));
    for at in 0..4 {
        let [x, y, z] = corner(at, "double");
        rows.push(vec![("uchar", 2.0), ("short", -1.0), ("short", 5.0), z, x, y]);
    }
    rows.push(vec![("int", 2.0), ("double", 0.5), ("double", -0.5)]);
    cases.push(("another order", header.into(), rows));
    // Triangle strips, as in old scans: two of them, with -1 between.
    let header = "element vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement tristrips 1\n\
                  property list int int vertex_indices\n";
    let mut rows = vertices("float");
    let strips = [0.0, 2.0, 1.0, 3.0, 0.0, 2.0];
    rows.push([vec![("int", 6.0)], strips.map(|vertex| ("int", vertex)).to_vec()].concat());
    cases.push(("strips", header.into(), rows));
    for (what, header, rows) in &cases {
        for order in [Order::Text, Order::Little, Order::Big] {
            for ending in ["\n", "\r\n"] {
                let content = ply(order, header, rows, ending);
                let what = format!("{what}, {order:?}, {ending:?}");
                let mesh = read("a.ply", &content);
                assert_eq!((mesh.positions.len(), mesh.triangles.len()), (4, 4), "{what}");
                assert_encloses(&mesh, 1.0 / 6.0, &what);
                // With an additional line feed at the end.
                assert_eq!(read("a.ply", &[&content[..], ending.as_bytes()].concat()), mesh, "{what}");
                refused("a.ply", &[&content[..], b"x"].concat());
                for cut in [content.len() - 1, content.len() - 3, content.len() / 2] {
                    if order != Order::Text {
                        refused("a.ply", &content[..cut]);
                    }
                }
                let oracle = ply_rs_bw::parser::Parser::<ply_rs_bw::ply::DefaultElement>::new();
                if let Ok(found) = oracle.read_ply(&mut Cursor::new(&content)) {
                    assert_eq!(found.payload["vertex"].len(), 4, "{what}");
                }
            }
        }
    }
    let text = "ply\nformat ascii 1.0\ncomment M\u{fc}ller\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
                element face 1\nproperty list uchar int vertex_indices\nend_header\n.5 1. -1e-3 nan inf +2\n0 0 0\n3.0 0\n1 2\n";
    let latin: Vec<u8> = text.chars().map(|letter| letter as u8).collect();
    let mesh = read("a.ply", &latin);
    assert_eq!((mesh.positions[0], mesh.triangles[0]), ([0.5, 1.0, -1e-3], [0, 1, 2]));
    for (from, to, wanted) in [
        ("3.0 0\n", "3.5 0\n", "\"3.5\" is not a number of type u8"),
        ("3.0 0\n", "300 0\n", "\"300\" is not a number of type u8"),
        ("1 2\n", "1 3\n", "a face names vertex 3"),
        ("1 2\n", "1 -1\n", "a face names vertex -1"),
        ("1 2\n", "1 2 7\n", "go on after"),
        ("1 2\n", "1\n", "before the numbers of its elements"),
        ("0 0 0\n", "0 zero 0\n", "\"zero\" is not a number of type f32"),
        ("uchar int", "float int", "must be a list of integers"),
        ("ascii 1.0", "ascii 2.0", "version 1.0 of ascii"),
        ("ascii", "utf8", "version 1.0 of ascii"),
        ("vertex 3", "vertex 999999999999", "of 5999999999993 bytes"),
    ] {
        let error = refused("a.ply", text.replacen(from, to, 1).as_bytes());
        assert!(error.contains(wanted) && error.contains(", byte "), "{from} -> {to}: {error}");
    }
}
