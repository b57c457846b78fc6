//! Files of cell meshes, read by an independent parser.

use std::collections::BTreeMap;
use std::path::Path;

use zippy::{Config, Layout, Split, run_with};
use zippy_isosurface::{Corners, Extractor, Side, VolumeMesh, write_volume};

use super::fields::{Field, random};
use super::files::{Directory, checks_files};
use super::solid::GRID;
use super::support::launcher;

const SHAPE: [i64; 3] = [14, 9, 8];

/// Content of a document: values by position bits; shape and corner positions of each cell.
#[derive(Debug, Default, PartialEq)]
struct MeshContent {
    values: BTreeMap<[u32; 3], u32>,
    points: usize,
    cells: Vec<(u8, Vec<[u32; 3]>)>,
}

/// Value of the first XML attribute `name` in a text.
fn attribute<'a>(text: &'a str, name: &str) -> &'a str {
    let start = text.find(&format!(" {name}=\"")).unwrap_or_else(|| panic!("no {name} in {text}")) + name.len() + 3;
    &text[start..start + text[start..].find('"').unwrap()]
}

fn read_piece(path: &Path, into: &mut MeshContent) {
    let bytes = std::fs::read(path).unwrap();
    let mark = b"<AppendedData encoding=\"raw\">\n   _";
    let at = bytes.windows(mark.len()).position(|window| window == mark).unwrap();
    let (text, data) = (std::str::from_utf8(&bytes[..at]).unwrap(), &bytes[at + mark.len()..]);
    assert_eq!(attribute(text, "type"), "UnstructuredGrid");
    let array = |name: &str, kind: &str| {
        let element = text.lines().find(|line| line.contains(&format!("Name=\"{name}\""))).unwrap();
        assert_eq!(attribute(element, "type"), kind);
        let offset: usize = attribute(element, "offset").parse().unwrap();
        let length = u64::from_le_bytes(data[offset..offset + 8].try_into().unwrap()) as usize;
        &data[offset + 8..offset + 8 + length]
    };
    let words = |name: &str| -> Vec<usize> {
        array(name, "Int64").as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word) as usize).collect()
    };
    let floats = |name: &str| -> Vec<u32> {
        array(name, "Float32").as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
    };
    let (positions, values) = (floats("Points"), floats("field"));
    let positions = positions.as_chunks::<3>().0;
    assert_eq!((positions.len(), values.len()), (attribute(text, "NumberOfPoints").parse().unwrap(), positions.len()));
    let (corners, ends, types) = (words("connectivity"), words("offsets"), array("types", "UInt8"));
    assert_eq!(attribute(text, "NumberOfCells").parse(), Ok(ends.len()));
    assert_eq!((types.len(), ends.last().copied().unwrap_or(0)), (ends.len(), corners.len()));
    into.points += positions.len();
    into.values.extend(positions.iter().copied().zip(values));
    let mut start = 0;
    for (&end, &shape) in ends.iter().zip(types) {
        let count = [(10, 4), (12, 8), (13, 6)].into_iter().find(|(number, _)| *number == shape).unwrap().1;
        assert_eq!(end - start, count);
        into.cells.push((shape, corners[start..end].iter().map(|&point| positions[point]).collect()));
        start = end;
    }
}

fn read(path: &Path) -> MeshContent {
    let mut read = MeshContent::default();
    if path.extension().unwrap() == "vtu" {
        read_piece(path, &mut read);
    } else {
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(attribute(&text, "type"), "PUnstructuredGrid");
        for line in text.lines().filter(|line| line.contains("<Piece ")) {
            read_piece(&path.with_file_name(attribute(line, "Source")), &mut read);
        }
    }
    read.cells.sort();
    read
}

fn held(mesh: &VolumeMesh) -> MeshContent {
    let at = |point: &u32| mesh.positions()[*point as usize].map(f32::to_bits);
    let mut cells: Vec<(u8, Vec<[u32; 3]>)> = Vec::new();
    cells.extend(mesh.hexahedra().iter().map(|cell| (12, cell.iter().map(at).collect())));
    cells.extend(mesh.tetrahedra().iter().map(|cell| (10, cell.iter().map(at).collect())));
    cells.sort();
    let points = 0..mesh.positions().len() as u32;
    let values = points.map(|point| (at(&point), mesh.fields()[0].1[point as usize].to_bits())).collect();
    MeshContent { values, points: mesh.positions().len(), cells }
}

/// Writes the result of a filter on random samples; returns each rank's content and result.
fn written(path: &Path, config: Config, clip: Option<f32>) -> Vec<(MeshContent, Result<(), String>)> {
    let results = run_with(config, |world| {
        let field = Field::new(SHAPE, |[x, y, z]| random((x + 50 * (y + 50 * z)) as u32));
        let array = field.array(world, &Layout::new(SHAPE).split_all(Split::Auto), None)?;
        let extractor = Extractor::new(world, &array, GRID)?;
        let mesh = match clip {
            Some(isovalue) => extractor.clip(isovalue, Side::Above, &[])?,
            None => extractor.threshold(0.0..=0.9, Corners::All, &[])?,
        };
        Ok((held(&mesh), write_volume(world, &mesh, path).map_err(|error| error.to_string())))
    });
    results.unwrap()
}

#[test]
fn the_same_mesh_for_every_number_of_ranks() {
    let directory = Directory::new("volumes");
    for clip in [Some(0.4), None, Some(7.0)] {
        let path = directory.0.join("alone.vtu");
        let expected = written(&path, Config::apart(1), clip).remove(0).0;
        assert_eq!(expected.cells.is_empty(), clip == Some(7.0));
        for (ranks, name) in [(1, "mesh.vtu"), (3, "mesh.vtu"), (5, "mesh.vtu"), (3, "mesh.pvtu")] {
            let path = directory.0.join(name);
            let config = Config::threads(launcher::counts(&[ranks])[0]);
            assert!(written(&path, config, clip).iter().all(|(_, said)| said.is_ok()));
            if checks_files() {
                let found = read(&path);
                assert!(found.values == expected.values && found.cells == expected.cells, "{ranks} {name}");
                // Points that several ranks have are in each of their pieces.
                assert!(if name == "mesh.vtu" {
                    found.points == expected.points
                } else {
                    found.points >= expected.points
                });
            }
        }
    }
}

#[test]
fn other_names_are_refused_on_every_rank() {
    let directory = Directory::new("volume-names");
    for name in ["mesh.vtp", "mesh.pvtp", "mesh.ply", "mesh"] {
        for clip in [Some(0.4), Some(7.0)] {
            let config = Config::threads(launcher::counts(&[3])[0]);
            for (_, said) in written(&directory.0.join(name), config, clip) {
                assert!(said.as_ref().unwrap_err().contains(".vtu or .pvtu"), "{said:?}");
            }
        }
    }
    assert!(!checks_files() || directory.files() == 0);
}
