//! Files with cells of a volume, byte by byte.

use zippy_files::SharedFile;
use zippy_io::mesh::{self, Before, CellCounts, Cells, Field, Format, Layout, Part, Whole};

use super::common::volumes::Folder;

/// Nine points, x = y = z, and one or two cells of each shape.
const POSITIONS: [[f32; 3]; 9] =
    [[0.0; 3], [1.0; 3], [2.0; 3], [3.0; 3], [4.0; 3], [5.0; 3], [6.0; 3], [7.0; 3], [8.0; 3]];
const VALUES: [f32; 9] = [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5];

fn all() -> Part<'static> {
    Part {
        positions: &POSITIONS,
        fields: &[Field { name: "t", values: &VALUES }],
        triangles: &[[6, 7, 8]],
        cells: Cells {
            hexahedra: &[[0, 1, 2, 3, 4, 5, 6, 7]],
            tetrahedra: &[[1, 2, 3, 8], [0, 1, 2, 8], [5, 4, 3, 2]],
        },
        ..Part::default()
    }
}

fn expected() -> Vec<u8> {
    let text = "<?xml version=\"1.0\"?>\n\
        <VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n\
        \x20 <UnstructuredGrid>\n    <Piece NumberOfPoints=\"9\" NumberOfCells=\"5\">\n      <PointData>\n\
        \x20       <DataArray type=\"Float32\" Name=\"t\" NumberOfComponents=\"1\" format=\"appended\" offset=\"116\"/>\n\
        \x20     </PointData>\n      <Points>\n\
        \x20       <DataArray type=\"Float32\" Name=\"Points\" NumberOfComponents=\"3\" format=\"appended\" offset=\"0\"/>\n\
        \x20     </Points>\n      <Cells>\n\
        \x20       <DataArray type=\"Int64\" Name=\"connectivity\" NumberOfComponents=\"1\" \
        format=\"appended\" offset=\"160\"/>\n\
        \x20       <DataArray type=\"Int64\" Name=\"offsets\" NumberOfComponents=\"1\" format=\"appended\" offset=\"352\"/>\n\
        \x20       <DataArray type=\"UInt8\" Name=\"types\" NumberOfComponents=\"1\" format=\"appended\" offset=\"400\"/>\n\
        \x20     </Cells>\n    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n   _";
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let floats = |floats: &[f32]| floats.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let corners = [6, 7, 8, 0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 8, 0, 1, 2, 8, 5, 4, 3, 2];
    [
        text.as_bytes(),
        &words(&[108]),
        &floats(POSITIONS.as_flattened()),
        &words(&[36]),
        &floats(&VALUES),
        &words(&[184]),
        &words(&corners),
        &words(&[40, 3, 11, 15, 19, 23]),
        &words(&[5]),
        // VTK_TRIANGLE, VTK_HEXAHEDRON, VTK_TETRA.
        &[5, 12, 10, 10, 10],
        b"\n  </AppendedData>\n</VTKFile>",
    ]
    .concat()
}

#[test]
fn cells_of_all_shapes() {
    let folder = Folder::new();
    let path = folder.0.join("a.vtu");
    mesh::write(&path, &all()).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), expected());
    let error = mesh::read(&path).unwrap_err().to_string();
    assert!(error.contains("a.vtu") && error.contains("cells of a volume"), "{error}");
}

#[test]
fn several_ranks_write_the_bytes_of_one_rank() {
    let folder = Folder::new();
    let whole = all();
    let layout = Layout::of(Format::Vtu, &whole.alone(), false, &["t"]).unwrap();
    let path = folder.0.join("a.vtu");
    let mut first = SharedFile::create(&path, layout.length()).unwrap();
    let mut second = SharedFile::open(first.temporary()).unwrap();
    let part = |points: std::ops::Range<usize>, triangles, cells, act: &mut dyn FnMut(&Part<'_>)| {
        let fields = [Field { name: "t", values: &VALUES[points.clone()] }];
        act(&Part { positions: &POSITIONS[points], fields: &fields, triangles, cells, ..Part::default() });
    };
    let Cells { hexahedra, tetrahedra } = whole.cells;
    let before = Before { vertices: 4, cells: CellCounts { tetrahedra: 1, hexahedra: 0 }, ..Before::default() };
    // The later part first.
    part(4..9, whole.triangles, Cells { hexahedra, tetrahedra: &tetrahedra[1..] }, &mut |part| {
        layout.blocks(part, &before).unwrap().for_each(|(at, bytes)| second.write_at(at, &bytes).unwrap());
    });
    part(0..4, &[], Cells { hexahedra: &[], tetrahedra: &tetrahedra[..1] }, &mut |part| {
        layout.blocks(part, &Before::default()).unwrap().for_each(|(at, bytes)| first.write_at(at, &bytes).unwrap());
    });
    layout.frame().for_each(|(at, bytes)| first.write_at(at, bytes).unwrap());
    second.finish().unwrap();
    first.finish().unwrap();
    first.commit().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), expected());
}

#[test]
fn index_of_pieces_is_written() {
    let folder = Folder::new();
    let index = folder.0.join("a&b.pvtu");
    assert!(mesh::is_index(&index) && !mesh::is_index("a.vtu"));
    mesh::write_piece(&index, 0, &all()).unwrap();
    mesh::write_index(&index, 2, false, &["t"]).unwrap();
    assert_eq!(std::fs::read(folder.0.join("a&b_0.vtu")).unwrap(), expected());
    let text = "<?xml version=\"1.0\"?>\n\
        <VTKFile type=\"PUnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n\
        \x20 <PUnstructuredGrid GhostLevel=\"0\">\n    <PPointData>\n\
        \x20     <PDataArray type=\"Float32\" Name=\"t\" NumberOfComponents=\"1\"/>\n    </PPointData>\n    <PPoints>\n\
        \x20     <PDataArray type=\"Float32\" Name=\"Points\" NumberOfComponents=\"3\"/>\n    </PPoints>\n\
        \x20   <Piece Source=\"a&amp;b_0.vtu\"/>\n    <Piece Source=\"a&amp;b_1.vtu\"/>\n\
        \x20 </PUnstructuredGrid>\n</VTKFile>";
    assert_eq!(std::fs::read_to_string(&index).unwrap(), text);
    let error = mesh::write_piece(folder.0.join("a.pvtp"), 0, &all()).unwrap_err().to_string();
    assert!(error.contains("VTU has cells"), "{error}");
}

#[test]
fn invalid_cells_are_errors() {
    let folder = Folder::new();
    for name in ["a.ply", "a.stl", "a.obj", "a.vtp"] {
        let error = mesh::write(folder.0.join(name), &all()).unwrap_err().to_string();
        assert!(error.contains("4 cells of a volume") && error.contains("VTU has cells"), "{error}");
    }
    for (cells, expected) in [
        (
            Cells { hexahedra: &[[0, 1, 2, 3, 4, 5, 6, 9]], ..Cells::default() },
            "hexahedron 0 of this part names vertex 9",
        ),
        (
            Cells { tetrahedra: &[[0; 4], [0, 1, 2, 10]], ..Cells::default() },
            "tetrahedron 1 of this part names vertex 10",
        ),
    ] {
        let error = mesh::write(folder.0.join("a.vtu"), &Part { cells, ..all() }).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("a.vtu"), "{error}");
    }
    let none = Whole { vertices: 9, ..Whole::default() };
    let layout = Layout::of(Format::Vtu, &none, false, &["t"]).unwrap();
    let error = layout.blocks(&all(), &Before::default()).unwrap_err().to_string();
    assert!(error.contains("1 triangles of this part after 0 of lower ranks are beyond the 0 of all"), "{error}");
    let many = CellCounts { hexahedra: u64::MAX / 2, tetrahedra: u64::MAX / 2 + 5 };
    let error = Layout::of(Format::Vtu, &Whole { cells: many, ..none }, false, &[]).unwrap_err().to_string();
    assert!(error.contains("more bytes than fit 63 bits"), "{error}");
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0);
}
