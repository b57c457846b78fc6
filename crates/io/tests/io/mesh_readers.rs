//! Meshes as written by other programs: a tetrahedron or a cube in many spellings.

use std::io::Cursor;

use zippy_io::mesh::{self, Mesh};

use super::common::volumes::Folder;
use super::mesh_readers_ply::{Order, ply};

fn volume(mesh: &Mesh) -> f64 {
    let at = |vertex: u64| mesh.positions[vertex as usize].map(f64::from);
    let six = |&[a, b, c]: &[u64; 3]| {
        let [a, b, c] = [at(a), at(b), at(c)];
        (0..3).map(|i| a[i] * (b[(i + 1) % 3] * c[(i + 2) % 3] - b[(i + 2) % 3] * c[(i + 1) % 3])).sum::<f64>()
    };
    mesh.triangles.iter().map(six).sum::<f64>() / 6.0
}

pub(crate) fn read(name: &str, content: &[u8]) -> Mesh {
    let folder = Folder::new();
    mesh::read(folder.file(name, content))
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(content)))
}

pub(crate) fn refused(name: &str, content: &[u8]) -> String {
    let folder = Folder::new();
    let error = mesh::read(folder.file(name, content)).expect_err(&String::from_utf8_lossy(content)).to_string();
    assert!(error.contains(name), "{error}");
    error
}

pub(crate) fn assert_encloses(mesh: &Mesh, wanted: f64, what: &str) {
    let found = volume(mesh);
    assert!((found - wanted).abs() < 1e-6, "{what}: a volume of {found}, not {wanted}");
}

/// A tetrahedron of volume 1/6.
pub(crate) const CORNERS: [[u8; 3]; 4] = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]];
pub(crate) const FACES: [[u8; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];

const SIDES: [[u8; 4]; 6] = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];

fn text_stl() -> String {
    let facet = |face: [u8; 3]| {
        let vertex = |corner: u8| {
            let [x, y, z] = CORNERS[usize::from(corner)];
            format!("      vertex {x} {y} {z}\n")
        };
        format!("  facet normal 0 0 0\n    outer loop\n{}    endloop\n  endfacet\n", face.map(vertex).concat())
    };
    format!("solid part\n{}endsolid part\n", FACES.map(facet).concat())
}

#[test]
fn stl_in_text_of_any_writer_is_read() {
    let plain = text_stl();
    let oracle = stl_io::read_stl(&mut Cursor::new(plain.as_bytes())).unwrap();
    assert_eq!(oracle.faces.len(), 4);
    let upper = plain.to_uppercase();
    let indented: String = plain.lines().map(|line| format!("\t  {line}\n")).collect();
    let flat: String = plain.replacen("solid part\n", "solid part\n@", 1).replace('\n', " ").replacen("@", "\n", 1);
    let floats = plain
        .replace(" 1", " +1.0000E+00")
        .replace(" 0", " -0.")
        .replace("normal -0. -0. -0.", "normal nan -nan(ind) inf");
    for (what, text) in [
        ("as it is", plain.clone()),
        ("carriage returns", plain.replace('\n', "\r\n")),
        ("in capitals", upper),
        ("indented", indented),
        ("blank lines before and between", format!("\n\n{}", plain.replace('\n', "\n\n"))),
        ("without a name", plain.replace(" part", "")),
        ("a name of several words", plain.replace("solid part", "solid Exported from Blender-2.80 (sub 20)")),
        ("a name with facet in it", plain.replace("solid part", "solid facet normal vertex")),
        ("a name in Latin-1", plain.replace("solid part", "solid M\u{fffd}ller")),
        ("one facet a line", flat),
        ("numbers of all kinds", floats),
        ("no normals", plain.replace(" normal 0 0 0", "")),
        ("a mark of UTF-8", format!("\u{feff}{plain}")),
        ("no line feed at the end", plain.trim_end().to_string()),
        ("trailing blanks", plain.replace('\n', "  \n")),
        ("carriage returns alone", plain.replace('\n', "\r")),
        ("one line", plain.replace('\n', " ")),
        ("one line, no normals", plain.replace(" normal 0 0 0", "").replace('\n', " ")),
        ("one line, two solids", {
            let facets: Vec<&str> = plain.split_inclusive("endfacet\n").collect();
            format!("{}{} endsolid a solid b {}", facets[0], facets[1], facets[2..].concat()).replace('\n', " ")
        }),
    ] {
        let bytes = match what {
            "a name in Latin-1" => text.bytes().filter(|byte| !matches!(byte, 0xbf | 0xbd)).collect(),
            _ => text.into_bytes(),
        };
        let mesh = read("a.stl", &bytes);
        assert_eq!((mesh.triangles.len(), mesh.positions.len()), (4, 12), "{what}");
        assert_encloses(&mesh, 1.0 / 6.0, what);
        assert_eq!(mesh.notes, [""; 0], "{what}");
        let normals = mesh.normals.unwrap();
        assert!(normals.len() == 12 && normals.as_flattened().iter().all(|part| part.is_finite()), "{what}");
    }
    let several = format!("{plain}{}", plain.replace("1", "2"));
    assert_encloses(&read("a.stl", several.as_bytes()), 1.0 / 6.0 + 8.0 / 6.0, "two solids");
    let quad = "solid q\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\nendloop\n\
                endfacet\nendsolid q\n";
    assert_eq!(read("a.stl", quad.as_bytes()).triangles, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(read("a.stl", b"solid nothing\nendsolid nothing\n").triangles.len(), 0);
    // Without `endsolid` the file can end after a whole facet.
    for cut in 0..plain.trim_end().len() - "endsolid part".len() {
        let text = &plain[..cut];
        if text.trim_end().ends_with("endfacet") {
            let mesh = read("a.stl", text.as_bytes());
            assert_eq!(mesh.triangles.len(), text.matches("endfacet").count());
            assert!(mesh.notes.len() == 1 && mesh.notes[0].contains("ends without endsolid"), "{:?}", mesh.notes);
        } else {
            refused("a.stl", text.as_bytes());
        }
    }
    for (from, to, wanted) in [
        ("vertex 0 1 0", "vertex 0 1,5 0", "\"1,5\" stands where a number"),
        ("outer loop", "outer ring", "\"ring\" stands where \"loop\""),
        ("endloop", "endlop", "\"endlop\" stands where \"vertex\""),
        ("      vertex 0 0 0\n", "", "a facet of 2 corners"),
        ("endsolid part\n", "endsolid part\nmore\n", "\"more\" stands where \"solid\""),
    ] {
        let error = refused("a.stl", plain.replacen(from, to, 1).as_bytes());
        assert!(error.contains(wanted) && error.contains(", byte "), "{error}");
    }
}

#[test]
fn binary_stl_that_begins_like_text_is_read() {
    let mut binary = b"solid written by something that does not care".to_vec();
    binary.resize(80, b' ');
    binary.extend(4_u32.to_le_bytes());
    for face in FACES {
        binary.extend([0_u8; 12]);
        for corner in face {
            CORNERS[usize::from(corner)].iter().for_each(|&x| binary.extend(f32::from(x).to_le_bytes()));
        }
        binary.extend([7, 9]);
    }
    let mesh = read("a.stl", &binary);
    assert_encloses(&mesh, 1.0 / 6.0, "binary with attributes");
    assert!(refused("a.stl", &binary[..binary.len() - 1]).contains("after 199 of 200 bytes"));
    assert!(refused("a.stl", &[&binary[..], &[0; 51]].concat()).contains("go on after the 200 bytes"));
}

/// Streaming writers do not know the number of triangles when they write the header.
#[test]
fn binary_stl_is_read_by_its_length_with_a_note() {
    let mut whole = vec![b'-'; 80];
    whole.extend(4_u32.to_le_bytes());
    for face in FACES {
        whole.extend([0_u8; 12]);
        for corner in face {
            CORNERS[usize::from(corner)].iter().for_each(|&x| whole.extend(f32::from(x).to_le_bytes()));
        }
        whole.extend([0, 0]);
    }
    for (count, rest, wanted) in [
        (4_u32, &b""[..], None),
        (4, b"\n", Some("1 bytes follow the triangles")),
        (4, &[1; 49], Some("49 bytes follow the triangles")),
        (3, b"", Some("counts 3 triangles; the 4 that it has are read")),
        (0, b"", Some("counts 0 triangles; the 4 that it has are read")),
        (u32::MAX, b"", Some("counts 4294967295 triangles; the 4 that it has are read")),
    ] {
        let mut content = [&whole[..], rest].concat();
        content[80..84].copy_from_slice(&count.to_le_bytes());
        let mesh = read("a.stl", &content);
        assert_encloses(&mesh, 1.0 / 6.0, "a tetrahedron");
        assert_eq!(mesh.notes.len(), usize::from(wanted.is_some()), "{count}: {:?}", mesh.notes);
        assert!(wanted.is_none_or(|wanted| mesh.notes[0].contains(wanted)), "{count}: {:?}", mesh.notes);
    }
    // More triangles than the file has: it is truncated.
    for (count, rest) in [(5_u32, &b""[..]), (0, b"\n"), (3, b"\n")] {
        let mut content = [&whole[..], rest].concat();
        content[80..84].copy_from_slice(&count.to_le_bytes());
        refused("a.stl", &content);
    }
}

/// The cube as quadrilaterals.
#[test]
fn faces_with_more_corners_are_triangulated() {
    let corner = |at: u8| [at & 1, at >> 1 & 1, at >> 2].map(|x| f64::from(x) * 2.0);
    let vertices: String = (0..8).map(|at| format!("v {}\n", corner(at).map(|x| x.to_string()).join(" "))).collect();
    let face = |side: [u8; 4]| format!("f {}\n", side.map(|at| (at + 1).to_string()).join(" "));
    let obj = format!("{vertices}{}", SIDES.map(face).concat());
    let mesh = read("a.obj", obj.as_bytes());
    assert_eq!(mesh.triangles.len(), 12);
    assert_encloses(&mesh, 8.0, "OBJ");
    let header = "element vertex 8\nproperty float x\nproperty float y\nproperty float z\nelement face 6\n\
                  property list uchar int vertex_indices\n";
    let mut rows: Vec<Vec<(&str, f64)>> = (0..8).map(|at| corner(at).map(|x| ("float", x)).to_vec()).collect();
    let list = |side: [u8; 4]| [vec![("uchar", 4.0)], side.map(|at| ("int", f64::from(at))).to_vec()].concat();
    rows.extend(SIDES.map(list));
    for order in [Order::Text, Order::Little, Order::Big] {
        assert_eq!(
            read("a.ply", &ply(order, header, &rows, "\n")),
            Mesh { triangles: mesh.triangles.clone(), ..mesh.clone() }
        );
    }
    // An L of height 1 with a concave top and bottom: 3 unit squares.
    let outline = [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]];
    let level = |z: u8| outline.map(|[x, y]| format!("v {x} {y} {z}\n")).concat();
    for turn in 0..6 {
        let top: Vec<String> = (0..6).map(|at| (7 + (at + turn) % 6).to_string()).collect();
        let bottom: Vec<String> = (0..6).map(|at| (1 + (11 - at + turn) % 6).to_string()).collect();
        let wall = |at: usize| format!("f {} {} {} {}\n", at + 1, (at + 1) % 6 + 1, (at + 1) % 6 + 7, at + 7);
        let walls: String = (0..6).map(wall).collect();
        let text = format!("{}{}f {}\nf {}\n{walls}", level(0), level(1), top.join(" "), bottom.join(" "));
        let mesh = read("a.obj", text.as_bytes());
        assert_encloses(&mesh, 3.0, "an L");
        assert_eq!(mesh.triangles.len(), 4 + 4 + 12);
        let area = |z: f32| {
            let is_there = |triangle: &&[u64; 3]| triangle.iter().all(|&at| mesh.positions[at as usize][2] == z);
            let of = |&[a, b, c]: &[u64; 3]| {
                let at = |vertex: u64| mesh.positions[vertex as usize];
                let side = |to: u64| [at(to)[0] - at(a)[0], at(to)[1] - at(a)[1]];
                (side(b)[0] * side(c)[1] - side(b)[1] * side(c)[0]).abs() / 2.0
            };
            mesh.triangles.iter().filter(is_there).map(of).sum::<f32>()
        };
        // Triangles outside of the outline would add area.
        assert_eq!((area(0.0), area(1.0)), (3.0, 3.0));
    }
}

#[test]
fn obj_of_any_writer_is_read() {
    let vertices = CORNERS.map(|[x, y, z]| format!("v {x} {y} {z}\n")).concat();
    let faces = |corner: &dyn Fn(usize, usize) -> String| -> String {
        let face = |(number, face): (usize, &[u8; 3])| {
            let words: Vec<String> = face.iter().map(|&at| corner(usize::from(at), number)).collect();
            format!("f {}\n", words.join(" "))
        };
        FACES.iter().enumerate().map(face).collect()
    };
    let plain = faces(&|at, _| (at + 1).to_string());
    let normals = "vn 0 0 -1\nvn 0 -1 0\nvn 0.577 0.577 0.577\nvn -1 0 0\n";
    for (what, text) in [
        ("as it is", format!("{vertices}{plain}")),
        ("counted back", format!("{vertices}{}", faces(&|at, _| format!("-{}", 4 - at)))),
        ("normals of faces", format!("{vertices}{normals}{}", faces(&|at, face| format!("{}//{}", at + 1, face + 1)))),
        (
            "normals counted back",
            format!("{vertices}{normals}{}", faces(&|at, face| format!("{}//-{}", at + 1, 4 - face))),
        ),
        (
            "textures and normals",
            format!(
                "{vertices}vt 0 0\nvt 1 0 0\nvt 0.5\n{normals}{}",
                faces(&|at, face| format!("{}/{}/{}", at + 1, face % 3 + 1, face + 1))
            ),
        ),
        ("textures that are left out", format!("{vertices}{}", faces(&|at, _| format!("{}//", at + 1)))),
        (
            "some corners with normals",
            format!(
                "{vertices}{normals}{}",
                faces(&|at, face| if face > 1 { format!("{}//{}", at + 1, face + 1) } else { (at + 1).to_string() })
            ),
        ),
        (
            "Blender",
            format!(
                "# Blender 3.6.2\n# www.blender.org\nmtllib part.mtl\no Part.001\n{vertices}vn 0 1 0\nvt 0 0\ns 0\nusemtl None\n{plain}"
            ),
        ),
        (
            "groups, lines and points",
            format!("g default\n{vertices}s off\ng part\nl 1 2 3\np 1\n{plain}mg 1 0.5\nlod 3\n"),
        ),
        ("colours", vertices.replace('\n', " 0.5 0.25 1\n") + &plain),
        ("weights", vertices.replace('\n', " 1.0\n") + &plain),
        ("faces first", format!("{plain}{vertices}")),
        ("carriage returns", format!("{vertices}{plain}").replace('\n', "\r\n")),
        ("continued lines", format!("{vertices}{plain}").replace(" 1", " \\\n 1")),
        ("continued lines with carriage returns", format!("{vertices}{plain}").replace(" 1", " \\\r\n 1")),
        ("a comment that ends with a backslash", format!("# from C:\\parts\\\n{vertices}{plain}")),
        ("comments behind", format!("{vertices}{}", plain.replace('\n', " # a face\n"))),
        ("free-form attributes", format!("{vertices}cstype bspline\ndeg 3\nparm u 0 1\nend\n{plain}")),
        ("a mark of UTF-8", format!("\u{feff}{vertices}{plain}")),
        ("faces without area", format!("{vertices}f 1 2\nf 1\n{plain}")),
    ] {
        let mesh = read("a.obj", text.as_bytes());
        assert_eq!((mesh.positions.len(), mesh.triangles.len()), (4, 4), "{what}");
        assert_encloses(&mesh, 1.0 / 6.0, what);
        assert_eq!(mesh.normals, None, "{what}: normals of corners are none of vertices");
        let loaded = tobj::load_obj_buf(
            &mut Cursor::new(text.as_bytes()),
            &tobj::LoadOptions { triangulate: true, ..tobj::LoadOptions::default() },
            |_| Err(tobj::LoadError::OpenFileFailed),
        );
        let is_known =
            matches!(what, "as it is" | "counted back" | "normals of faces" | "colours" | "carriage returns");
        let counted = loaded.map_or(0, |(models, _)| models.iter().map(|model| model.mesh.indices.len() / 3).sum());
        assert!(!is_known || counted == 4, "{what}: {counted} triangles");
    }
    let latin = [b"usemtl M\xfcller\n# \xff\n".as_slice(), format!("{vertices}{plain}").as_bytes()].concat();
    assert_encloses(&read("a.obj", &latin), 1.0 / 6.0, "names in Latin-1");
    let same = format!("{vertices}{}{}", "vn 0 0 1\n".repeat(4), faces(&|at, _| format!("{0}//{0}", at + 1)));
    assert_eq!(read("a.obj", same.as_bytes()).normals, Some(vec![[0.0, 0.0, 1.0]; 4]));
    for (more, wanted) in [
        ("f 1 2 5\n", "a corner names vertex 5; there are 4"),
        ("vn 0 0 1\nf 1//1 2//1 3//2\n", "a corner names normal 2; there are 1"),
        ("surf 0 1 0 1 1 2 3 4\n", "a surface of \"surf\""),
        ("f 1 2 three\n", "\"three\" is no corner"),
        ("w 1 2 3\n", "a line of \"w\""),
    ] {
        let error = refused("a.obj", format!("{vertices}{plain}{more}").as_bytes());
        assert!(error.contains(wanted) && error.contains(", byte "), "{error}");
    }
}

/// Polygons, strips, lines and single points of a PolyData document.
#[test]
fn vtp_of_any_writer_is_read() {
    let array = |name: &str, numbers: &str| {
        format!("<DataArray type=\"Int64\" Name=\"{name}\" format=\"ascii\">{numbers}</DataArray>")
    };
    let cells = |corners: &str, ends: &str| array("connectivity", corners) + &array("offsets", ends);
    let corner = |at: u8| [at & 1, at >> 1 & 1, at >> 2].map(|x| x.to_string()).join(" ");
    let points: Vec<String> = (0..8).map(corner).collect();
    let sides: Vec<String> = SIDES.iter().map(|side| side.map(|at| at.to_string()).join(" ")).collect();
    let document = |polys: usize, polygons: &str, strips: usize, strip: &str| {
        format!(
            "<?xml version=\"1.0\"?><VTKFile type=\"PolyData\" version=\"0.1\" byte_order=\"LittleEndian\"><PolyData><Piece \
             NumberOfPoints=\"8\" NumberOfVerts=\"1\" NumberOfLines=\"1\" NumberOfStrips=\"{strips}\" NumberOfPolys=\"{polys}\">\
             <Points><DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">{}</DataArray></Points><Verts>{}</Verts>\
             <Lines>{}</Lines><Strips>{strip}</Strips><Polys>{polygons}</Polys></Piece></PolyData></VTKFile>",
            points.join(" "),
            cells("0", "1"),
            cells("0 1", "2"),
        )
    };
    let whole = document(6, &cells(&sides.join(" "), "4 8 12 16 20 24"), 0, "");
    assert_encloses(&read("a.vtp", whole.as_bytes()), 1.0, "quadrilaterals");
    // The last two sides as one strip each.
    let strip = |side: &[u8; 4]| [side[0], side[1], side[3], side[2]].map(|at| at.to_string()).join(" ");
    let strips = format!("{} {}", strip(&SIDES[4]), strip(&SIDES[5]));
    let mixed = document(4, &cells(&sides[..4].join(" "), "4 8 12 16"), 2, &cells(&strips, "4 8"));
    let mesh = read("a.vtp", mixed.as_bytes());
    assert_eq!(mesh.triangles.len(), 12);
    assert_encloses(&mesh, 1.0, "strips");
    let wrong = document(6, &cells(&sides.join(" "), "4 8 7 16 20 24"), 0, "");
    assert!(refused("a.vtp", wrong.as_bytes()).contains("cell 2 ends at corner 7, and the one before at 8"));
}

/// Vertices 0.01 apart near 5,000,000, where floats are 0.5 apart.
#[test]
fn positions_far_from_zero_count_from_an_origin() {
    let [a, b] = [5_000_000.0, 5_000_000.01];
    let points = [[a, a, 1.0], [b, a, 1.0], [a, b, 1.0]];
    let lines = |before: &str| points.map(|[x, y, z]| format!("{before}{x} {y} {z}\n")).concat();
    let stl = format!("solid\nfacet outer loop\n{}endloop endfacet\nendsolid\n", lines("vertex "));
    let properties = ["x", "y", "z"].map(|name| format!("property double {name}\n")).concat();
    let ply = format!(
        "ply\nformat ascii 1.0\nelement vertex 3\n{properties}element face 1\nproperty list uchar int vertex_indices\n\
         end_header\n{}3 0 1 2\n",
        lines("")
    );
    let array = |name: &str, kind: &str, text: &str, more: &str| {
        format!("<DataArray type=\"{kind}\" Name=\"{name}\" {more} format=\"ascii\">{text}</DataArray>")
    };
    let vtp = format!(
        "<VTKFile type=\"PolyData\"><PolyData><Piece NumberOfPoints=\"3\" NumberOfPolys=\"1\"><Points>{}</Points>\
         <Polys>{}{}</Polys></Piece></PolyData></VTKFile>",
        array("p", "Float64", &lines(""), "NumberOfComponents=\"3\""),
        array("connectivity", "Int64", "0 1 2", ""),
        array("offsets", "Int64", "3", "")
    );
    let obj = format!("{}f 1 2 3\n", lines("v "));
    for (name, text) in [("a.obj", obj), ("a.stl", stl), ("a.ply", ply), ("a.vtp", vtp)] {
        let mesh = read(name, text.as_bytes());
        assert_eq!(mesh.triangles, [[0, 1, 2]], "{name}");
        for (found, expected) in mesh.positions.iter().zip(points) {
            for axis in 0..3 {
                let found = mesh.origin[axis] + f64::from(found[axis]);
                assert!((found - expected[axis]).abs() < 1e-8, "{name}: {found}, {expected:?}");
            }
        }
    }
}
