//! Mesh files restore the same mesh for any number of ranks.

use std::path::{Path, PathBuf};

use zippy::{Config, Layout, Split, run_with};
use zippy_io::mesh::{self, read};
use zippy_isosurface::{Extractor, Grid, write};

use super::fields::{Field, noise};
use super::support::launcher;

/// Directory shared by all processes of a launcher; the first process removes it.
pub(crate) struct Directory(pub PathBuf);

impl Directory {
    pub(crate) fn new(test: &str) -> Self {
        let number = if launcher::size().is_some() { std::os::unix::process::parent_id() } else { std::process::id() };
        let path = std::env::temp_dir().join(format!("zippy-{test}-{number}"));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn files(&self) -> usize {
        std::fs::read_dir(&self.0).unwrap().count()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if checks_files() {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

/// True on the process that checks files.
pub(crate) fn checks_files() -> bool {
    launcher::rank().unwrap_or(0) == 0
}

/// Writes a surface of random samples by `ranks` ranks; returns each rank's result.
fn written(path: &Path, field: &Field<f32>, ranks: usize, normals: bool) -> Vec<Result<(), String>> {
    let results = run_with(Config::threads(launcher::counts(&[ranks])[0]), |world| {
        let array = field.array(world, &Layout::new(field.shape).split_all(Split::Auto), None)?;
        let extractor = if normals {
            Extractor::with_normals(world, &array, Grid::default())?
        } else {
            Extractor::new(world, &array, Grid::default())?
        };
        let mesh = extractor.extract_with(0.5, &[&array])?;
        Ok(write(world, &mesh, path).map_err(|error| error.to_string()))
    });
    results.unwrap()
}

/// Positions and normals of the corners of all triangles, sorted.
fn corners(mesh: &mesh::Mesh) -> Vec<[Vec<u32>; 3]> {
    let bits = |vertex: u64| {
        let normal = mesh.normals.as_ref().map(|normals| normals[vertex as usize]);
        let numbers =
            [&mesh.positions[vertex as usize][..], normal.as_ref().map_or(&[][..], |normal| &normal[..])].concat();
        numbers.into_iter().map(f32::to_bits).collect::<Vec<u32>>()
    };
    let turned = |t: [Vec<u32>; 3]| {
        let [a, b, c] = t;
        let all = [[a.clone(), b.clone(), c.clone()], [b.clone(), c.clone(), a.clone()], [c, a, b]];
        all.into_iter().min().unwrap()
    };
    let mut all: Vec<_> = mesh.triangles.iter().map(|triangle| turned(triangle.map(bits))).collect();
    all.sort();
    all
}

#[test]
fn the_same_mesh_for_every_number_of_ranks() {
    let directory = Directory::new("same");
    let field = noise(7).padded(0.0);
    let mut files = 0;
    for (ending, normals) in [("ply", true), ("stl", false), ("obj", true), ("vtp", true), ("vtp", false)] {
        let mut expected = None;
        for ranks in launcher::counts(&[1, 3, 5]) {
            files += 1;
            let path = directory.0.join(format!("mesh-{files}.{ending}"));
            assert!(written(&path, &field, ranks, normals).iter().all(Result::is_ok));
            if checks_files() {
                let mesh = read(&path).unwrap();
                if ["ply", "vtp"].contains(&ending) {
                    let [(name, values)] = &mesh.fields[..] else { panic!("one field") };
                    assert_eq!((name.as_str(), values.len()), ("field", mesh.positions.len()));
                    assert!(values.iter().filter(|value| (**value - 0.5).abs() < 1e-5).count() > 500);
                }
                assert_eq!(
                    mesh.normals.as_ref().map(Vec::len),
                    (normals || ending == "stl").then_some(mesh.positions.len())
                );
                let found = (corners(&mesh), mesh.positions.len());
                assert!(found.0.len() > 1000);
                assert!(*expected.get_or_insert_with(|| found.clone()) == found, "{ending} by {ranks} ranks");
            }
        }
    }
    assert!(!checks_files() || directory.files() == files, "no temporary file is left");
}

#[test]
fn each_rank_writes_one_piece() {
    let directory = Directory::new("pieces");
    let field = noise(7).padded(0.0);
    let [whole, index] = ["mesh.vtp", "pieces.pvtp"].map(|name| directory.0.join(name));
    assert!(written(&whole, &field, 1, true)[0].is_ok());
    assert!(written(&index, &field, 3, true).iter().all(Result::is_ok));
    // Vertices of two ranks are in two pieces, so only triangles are compared.
    assert!(!checks_files() || corners(&read(&index).unwrap()) == corners(&read(&whole).unwrap()));
}

#[test]
fn empty_mesh_is_written() {
    let directory = Directory::new("nothing");
    let field = Field::new([6, 6, 6], |_| 0.0);
    for ending in ["ply", "stl", "obj", "vtp", "pvtp"] {
        let path = directory.0.join(format!("mesh.{ending}"));
        assert!(written(&path, &field, 3, true).iter().all(Result::is_ok));
        assert!(!checks_files() || read(&path).unwrap().triangles.is_empty());
    }
}

#[test]
fn failed_write_is_an_error_on_every_rank() {
    let directory = Directory::new("errors");
    let field = noise(4);
    for (name, expected) in [("mesh.png", "meshes are .ply, .stl, .obj, .vtp or .vtu"), ("missing/mesh.ply", "missing")]
    {
        for error in written(&directory.0.join(name), &field, 3, false) {
            assert!(error.as_ref().unwrap_err().contains(expected), "{error:?}");
        }
    }
    assert!(!checks_files() || directory.files() == 0);
    // A piece that cannot be written prevents the renaming of others; old pieces stay.
    if launcher::size().is_none() {
        let (old, blocked) = (directory.0.join("mesh_0.vtp"), directory.0.join("mesh_1.vtp"));
        std::fs::write(&old, "old").unwrap();
        std::fs::create_dir(&blocked).unwrap();
        for error in written(&directory.0.join("mesh.pvtp"), &field, 3, false) {
            assert!(error.as_ref().unwrap_err().contains("mesh_1.vtp"), "{error:?}");
        }
        assert_eq!((std::fs::read_to_string(&old).unwrap(), directory.files()), ("old".into(), 2));
    }
}
