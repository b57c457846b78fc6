//! Mesh files: the same bytes for every number of ranks, and the content that other parsers find.

use zippy_io::IoError;
use zippy_io::mesh::{self, Before, Field, Format, Layout, Mesh, Part, Text, Whole};

use super::common::counting;
use super::common::volumes::Folder;
use super::meshes::{FORMATS, Found, Sample, name, parse_obj, parse_ply, parse_stl, parse_vtp};

fn written(folder: &Folder, format: Format, sample: &Sample) -> Vec<u8> {
    let path = folder.0.join(name(format));
    sample.all(|part| mesh::write(&path, part)).unwrap();
    std::fs::read(path).unwrap()
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::new(23, 40, true, &["speed", "t"]),
        Sample::new(23, 40, false, &[]),
        Sample::new(5, 3, true, &[]),
        Sample::new(3, 1, false, &["a"]),
        Sample::new(4, 0, true, &["a"]),
        Sample::new(0, 0, true, &["a"]),
        Sample::new(0, 0, false, &[]),
    ]
}

#[test]
fn several_ranks_write_the_bytes_of_one_rank() {
    let folder = Folder::new();
    for (number, sample) in samples().iter().enumerate() {
        let (v, t) = (sample.positions.len(), sample.triangles.len());
        for format in FORMATS {
            let one = written(&folder, format, sample);
            let cuts: [(Vec<usize>, Vec<usize>); 5] = [
                (vec![v], vec![t]),
                (vec![v / 3, v / 2, v], vec![t / 4, t - t / 5, t]),
                (vec![0, v, v], vec![t, t, t]),
                (vec![0, v / 5, v / 5, v - v / 4, v], vec![t / 3, t / 3, t, t, t]),
                (vec![0, 0, v, v, v], vec![0, 0, 0, 0, t]),
            ];
            for (vertices, triangles) in &cuts {
                for seed in 0..4 {
                    let many = sample.by_ranks(&folder, format, vertices, triangles, seed);
                    assert!(one == many, "{format:?}, sample {number}, {vertices:?}, {triangles:?}, order {seed}");
                }
            }
        }
    }
}

#[test]
fn other_parsers_find_the_mesh() {
    let folder = Folder::new();
    for sample in samples() {
        assert_eq!(parse_ply(&written(&folder, Format::Ply, &sample)), Found::of(&sample));
        assert_eq!(parse_vtp(&written(&folder, Format::Vtp, &sample)), Found::of(&sample));
        let corners = sample.corners();
        let (found, normals) = parse_obj(&written(&folder, Format::Obj, &sample));
        assert_eq!(found, corners);
        let normal = |all: &Vec<[f32; 3]>| {
            sample.triangles.iter().map(|triangle| triangle.map(|vertex| all[vertex as usize])).collect::<Vec<_>>()
        };
        assert_eq!(normals, sample.normals.as_ref().map(normal).unwrap_or_default());
        let stl = parse_stl(&written(&folder, Format::Stl, &sample));
        assert_eq!(stl.iter().map(|(_, corners)| *corners).collect::<Vec<_>>(), corners);
        for (normal, corners) in stl {
            let across = |end: usize| [0, 1, 2].map(|axis| f64::from(corners[end][axis]) - f64::from(corners[0][axis]));
            let dot = |a: [f64; 3]| (0..3).map(|axis| a[axis] * f64::from(normal[axis])).sum::<f64>();
            let length = (0..3).map(|axis| f64::from(normal[axis]).powi(2)).sum::<f64>();
            assert!(dot(across(1)).abs() < 1e-4 && dot(across(2)).abs() < 1e-4, "{normal:?} of {corners:?}");
            assert!(length == 0.0 || (length - 1.0).abs() < 1e-6, "{normal:?} of {corners:?}");
        }
    }
}

/// Numbers that are hard to write in decimal, and names that are hard to write in XML.
#[test]
fn numbers_and_names_survive() {
    let folder = Folder::new();
    let mut sample = Sample::new(12, 5, true, &["a"]);
    let hard = [f32::MIN_POSITIVE, f32::from_bits(1), f32::MAX, -0.0, 0.1, 16_777_216.0, 1.0 / 3.0, f32::EPSILON];
    for (number, value) in sample.positions.as_flattened_mut().iter_mut().enumerate() {
        *value = hard[number % hard.len()] * if number % 3 == 0 { -1.0 } else { 1.0 };
    }
    let bits =
        |positions: &[[f32; 3]]| positions.as_flattened().iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    for format in [Format::Ply, Format::Obj, Format::Vtp] {
        written(&folder, format, &sample);
        let read = mesh::read(folder.0.join(name(format))).unwrap();
        assert_eq!(bits(&read.positions), bits(&sample.positions), "{format:?}");
    }
    sample.fields[0].0 = "a < b & \"c\" é >".into();
    sample.fields[0].1[3] = f32::NAN;
    sample.positions[1][2] = f32::NEG_INFINITY;
    written(&folder, Format::Vtp, &sample);
    let read = mesh::read(folder.0.join("a.vtp")).unwrap();
    assert_eq!(read.fields[0].0, sample.fields[0].0);
    assert!(read.fields[0].1[3].is_nan() && read.positions[1][2] == f32::NEG_INFINITY);
    let names = parse_vtp(&std::fs::read(folder.0.join("a.vtp")).unwrap()).numbers;
    assert!(names.contains_key("a < b & \"c\" é &gt;"), "{:?}", names.keys());
}

#[test]
fn meshes_survive() {
    let folder = Folder::new();
    for sample in samples() {
        for format in FORMATS {
            written(&folder, format, &sample);
            let read = mesh::read(folder.0.join(name(format))).unwrap();
            let expected = match format {
                Format::Ply | Format::Vtp | Format::Vtu => Mesh {
                    positions: sample.positions.clone(),
                    normals: sample.normals.clone(),
                    fields: sample.fields.clone(),
                    triangles: sample.triangles.clone(),
                    ..Mesh::default()
                },
                Format::Obj => Mesh {
                    positions: sample.positions.clone(),
                    normals: sample.normals.clone().filter(|normals| !normals.is_empty()),
                    fields: vec![],
                    triangles: sample.triangles.clone(),
                    ..Mesh::default()
                },
                Format::Stl => {
                    let corners = sample.corners();
                    let triangles =
                        (0..corners.len() as u64).map(|triangle| [0, 1, 2].map(|corner| 3 * triangle + corner));
                    let normals = read.normals.clone().unwrap();
                    assert!(normals.as_chunks::<3>().0.iter().all(|[a, b, c]| a == b && b == c));
                    assert_eq!(normals.len(), 3 * corners.len());
                    Mesh {
                        positions: corners.as_flattened().to_vec(),
                        normals: Some(normals),
                        fields: vec![],
                        triangles: triangles.collect(),
                        ..Mesh::default()
                    }
                }
            };
            assert_eq!(read, expected, "{format:?}");
        }
    }
}

#[test]
fn pieces_and_their_index_make_up_a_mesh() {
    let folder = Folder::new();
    let index = folder.0.join("all & more.pvtp");
    let pieces = [(7, 9), (0, 0), (4, 2)].map(|(v, t)| Sample::new(v, t, true, &["a<b", "c"]));
    for (number, piece) in pieces.iter().enumerate() {
        piece.all(|part| mesh::write_piece(&index, number as u64, part)).unwrap();
        let path = mesh::piece_path(&index, number as u64).unwrap();
        assert_eq!(path, folder.0.join(format!("all & more_{number}.vtp")));
        assert_eq!(parse_vtp(&std::fs::read(path).unwrap()), Found::of(piece));
    }
    mesh::write_index(&index, 3, true, &["a<b", "c"]).unwrap();
    let text = "<?xml version=\"1.0\"?>\n\
        <VTKFile type=\"PPolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n\
        \x20 <PPolyData GhostLevel=\"0\">\n    <PPointData Normals=\"Normals\">\n\
        \x20     <PDataArray type=\"Float32\" Name=\"Normals\" NumberOfComponents=\"3\"/>\n\
        \x20     <PDataArray type=\"Float32\" Name=\"a&lt;b\" NumberOfComponents=\"1\"/>\n\
        \x20     <PDataArray type=\"Float32\" Name=\"c\" NumberOfComponents=\"1\"/>\n    </PPointData>\n\
        \x20   <PPoints>\n      <PDataArray type=\"Float32\" Name=\"Points\" NumberOfComponents=\"3\"/>\n    </PPoints>\n\
        \x20   <Piece Source=\"all &amp; more_0.vtp\"/>\n    <Piece Source=\"all &amp; more_1.vtp\"/>\n\
        \x20   <Piece Source=\"all &amp; more_2.vtp\"/>\n  </PPolyData>\n</VTKFile>";
    assert_eq!(std::fs::read_to_string(&index).unwrap(), text);
    let read = mesh::read(&index).unwrap();
    let shifted = pieces[2].triangles.iter().map(|triangle| triangle.map(|vertex| vertex + 7));
    assert_eq!(read.triangles, pieces[0].triangles.iter().copied().chain(shifted).collect::<Vec<_>>());
    assert_eq!(read.positions, [&pieces[0].positions[..], &pieces[2].positions].concat());
    assert_eq!(read.fields[1].1, [&pieces[0].fields[1].1[..], &pieces[2].fields[1].1].concat());
    mesh::write_index(&index, 0, false, &[]).unwrap();
    assert_eq!(mesh::read(&index).unwrap(), Mesh::default());
}

#[test]
fn large_parts_are_written_in_blocks() {
    let sample = Sample::new(300_000, 200_000, true, &["a"]);
    let names = sample.names();
    sample.all(|part| {
        for format in FORMATS {
            let text = if format == Format::Obj { Text::of(part).unwrap() } else { Text::default() };
            let whole = Whole { vertices: 300_000, triangles: 200_000, text, ..Whole::default() };
            let layout = Layout::of(format, &whole, true, &names).unwrap();
            let (mut count, mut bytes) = (0, layout.frame().map(|(_, bytes)| bytes.len() as u64).sum::<u64>());
            let most = counting::most(|| {
                for (_, block) in layout.blocks(part, &Before::default()).unwrap() {
                    assert!(block.len() <= 3 << 20, "{format:?}: {}", block.len());
                    (count, bytes) = (count + 1, bytes + block.len() as u64);
                }
            });
            assert!(most <= 4 << 20, "{format:?}: {most} bytes");
            assert!(count >= 9 && bytes == layout.length(), "{format:?}: {count} blocks of {bytes} bytes");
        }
    });
}

#[test]
fn invalid_meshes_are_errors() {
    let of = |format, vertices, triangles, normals, fields: &[&str]| {
        Layout::of(format, &Whole { vertices, triangles, ..Whole::default() }, normals, fields)
    };
    let error_of = |result: Result<Layout, IoError>, wanted: &str| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    };
    let header = |vertices| {
        let layout = of(Format::Ply, vertices, 1, false, &[]).unwrap();
        assert_eq!(layout.length(), layout.frame().next().unwrap().1.len() as u64 + 12 * vertices + 13);
        String::from_utf8(layout.frame().next().unwrap().1.to_vec()).unwrap()
    };
    assert!(header(1 << 31).contains("list uchar int vertex_indices"));
    assert!(header((1 << 31) + 1).contains("list uchar uint vertex_indices"));
    assert!(header(1 << 32).contains("list uchar uint vertex_indices"));
    error_of(of(Format::Ply, (1 << 32) + 1, 1, false, &[]), "4294967297 vertices; PLY counts them in 32 bits");
    error_of(of(Format::Ply, u64::MAX, 1, false, &[]), "VTP has 64");
    assert_eq!(of(Format::Stl, 1, u32::MAX.into(), false, &[]).unwrap().length(), 84 + 50 * ((1 << 32) - 1));
    error_of(of(Format::Stl, 1, 1 << 32, false, &[]), "4294967296 triangles; STL counts them in 32 bits");
    let large = of(Format::Vtp, 1 << 40, 1 << 41, true, &["a"]).unwrap();
    assert!(large.length() > (28 << 40) + (32 << 41) + 6 * 8);
    for (vertices, triangles) in [(1 << 60, 1), (1, 1 << 59), (1 << 59, 1 << 57), (u64::MAX, u64::MAX)] {
        error_of(of(Format::Vtp, vertices, triangles, false, &[]), "more bytes than fit 63 bits");
    }
    error_of(of(Format::Ply, 1, u64::MAX, false, &[]), "more bytes than fit 63 bits");
    for format in FORMATS {
        error_of(of(format, 0, 0, false, &["a", "b", "a"]), "two fields have the name \"a\"");
    }
    for name in ["x", "nz", "", "a b", "é", "a\n"] {
        let wanted = if name.len() < 3 && name.is_ascii() && !name.contains('\n') && !name.is_empty() {
            "which PLY needs itself"
        } else {
            "one word of visible ASCII"
        };
        error_of(of(Format::Ply, 1, 1, false, &[name]), wanted);
    }
    for name in ["", "a\u{1}", "a\nb", "\u{ffff}"] {
        error_of(of(Format::Vtp, 1, 1, false, &[name]), "text without control characters");
    }
    error_of(of(Format::Vtp, 1, 1, true, &["Normals"]), "the normals are");
    assert!(of(Format::Vtp, 1, 1, false, &["Normals"]).is_ok());
    error_of(of(Format::Obj, 1, 1, false, &[]), "Whole::text has to be the sum");
    let text = Text { positions: 16, normals: 18, triangles: 8 };
    let whole = Whole { vertices: 2, triangles: 1, text, ..Whole::default() };
    assert_eq!(Layout::of(Format::Obj, &whole, true, &[]).unwrap().length(), 39 + 16 + 18 + 8);
    error_of(Layout::of(Format::Obj, &whole, false, &[]), "18 bytes cannot be 0 lines of vn");
}

#[test]
fn invalid_parts_are_errors() {
    let positions = [[0.0; 3]; 2];
    let (values, triangles, corners) = ([1.0; 2], [[0, 1, 4]], [[[0.0; 3]; 3]]);
    let field = [Field { name: "a", values: &values }];
    let good = Part {
        positions: &positions,
        normals: None,
        fields: &field,
        triangles: &triangles,
        corners: &corners,
        ..Part::default()
    };
    let before = Before { vertices: 3, triangles: 1, ..Before::default() };
    let whole = Whole { vertices: 5, triangles: 2, ..Whole::default() };
    let layout = |format| Layout::of(format, &whole, false, &["a"]).unwrap();
    for format in [Format::Ply, Format::Stl, Format::Vtp] {
        let layout = layout(format);
        assert!(layout.blocks(&good, &before).is_ok());
        let error_of = |part: &Part<'_>, before: &Before, wanted: &str| {
            let error = layout.blocks(part, before).unwrap_err().to_string();
            assert!(error.contains(wanted), "{format:?}: {error}");
        };
        error_of(&Part { normals: Some(&positions), ..good }, &before, "has no normals, and this part has normals");
        error_of(&Part { fields: &[], ..good }, &before, "the layout has the fields [\"a\"], and this part []");
        error_of(&Part { fields: &[Field { name: "b", values: &values }], ..good }, &before, "this part [\"b\"]");
        let short = [Field { name: "a", values: &values[1..] }];
        error_of(&Part { fields: &short, ..good }, &before, "1 numbers of field \"a\" for 2 vertices");
        error_of(
            &Part { triangles: &[[0, 5, 1]], ..good },
            &before,
            "triangle 0 of this part names vertex 5; the 5 vertices",
        );
        error_of(&good, &Before { vertices: 4, ..before }, "2 vertices of this part after 4 of lower ranks");
        error_of(&good, &Before { triangles: 2, ..before }, "1 triangles of this part after 2 of lower ranks");
        error_of(&good, &Before { triangles: u64::MAX, ..before }, "beyond the 2 of all");
    }
    let error = layout(Format::Stl).blocks(&Part { corners: &[], ..good }, &before).unwrap_err().to_string();
    assert!(error.contains("0 triangles with corners, which STL needs, for 1 triangles"), "{error}");
    let text = Text::of(&good).unwrap();
    assert_eq!(text, Text { positions: 16, normals: 0, triangles: 8 });
    assert_eq!(Text::of(&Part { normals: Some(&positions), ..good }).unwrap().triangles, 17);
    let whole = Whole { vertices: 5, triangles: 2, text: Text { positions: 40, normals: 0, triangles: 20 }, ..whole };
    let layout = Layout::of(Format::Obj, &whole, false, &["a"]).unwrap();
    let before = |positions, triangles| Before { text: Text { positions, normals: 0, triangles }, ..before };
    assert!(layout.blocks(&good, &before(24, 12)).is_ok());
    for before in [before(25, 12), before(24, 13)] {
        let error = layout.blocks(&good, &before).unwrap_err().to_string();
        assert!(error.contains("lines of this part after"), "{error}");
    }
    let error = layout.blocks(&Part { positions: &[[0.0; 3], [0.0, f32::NAN, 0.0]], ..good }, &before(24, 12));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("vertex 1 of this part has a position of [0.0, NaN, 0.0]"), "{error}");
}

#[test]
fn failed_write_leaves_no_file() {
    let folder = Folder::new();
    let wrong = Part { positions: &[[f32::INFINITY; 3]], triangles: &[[0, 0, 1]], ..Part::default() };
    let corners = Part { corners: &[[[0.0; 3]; 3]], ..wrong };
    for (name, part, wanted) in [
        ("a.ply", &wrong, "names vertex 1"),
        ("a.vtp", &wrong, "names vertex 1"),
        ("a.obj", &wrong, "position of [inf, inf, inf]"),
        ("a.stl", &wrong, "which STL needs"),
        ("a.STL", &corners, "names vertex 1"),
        ("a.pvtp", &wrong, "mesh::write_index writes it"),
        ("a.xyz", &wrong, "the ending \"xyz\""),
        ("ply", &wrong, "the ending \"\""),
    ] {
        let error = mesh::write(folder.0.join(name), part).unwrap_err().to_string();
        assert!(error.starts_with(folder.0.to_str().unwrap()) && error.contains(wanted), "{error}");
    }
    let index = folder.0.join("a.pvtp");
    for (fields, wanted) in [(&["a", "a"][..], "two fields"), (&["Normals"], "the normals are"), (&[""], "control")] {
        let error = mesh::write_index(&index, 1, true, fields).unwrap_err().to_string();
        assert!(error.starts_with(index.to_str().unwrap()) && error.contains(wanted), "{error}");
    }
    assert!(mesh::write_piece(&index, 0, &wrong).unwrap_err().to_string().contains("a_0.vtp: triangle 0"));
    assert!(
        mesh::write_index(folder.0.join("a.vtp"), 1, true, &[]).unwrap_err().to_string().contains("ends with .pvtp")
    );
    let error = mesh::write_index(folder.0.join("a\n.pvtp"), 1, true, &[]).unwrap_err().to_string();
    assert!(error.contains("a name that XML cannot hold"), "{error}");
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0);
}
