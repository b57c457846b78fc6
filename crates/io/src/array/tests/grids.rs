//! Positions of cells, through every format that holds them.

use std::path::Path;

use zippy::{Config, Grid, Layout, Split, run_with};

use super::super::{Axis, LoadOptions, Metadata, SaveOptions, load_with, save_with};
use super::directory;

/// A grid comes back as it was, and that of a section in steps is the section's.
#[test]
fn grids_survive_every_format() {
    let directory = directory();
    let turned = [[0.6, 0.8, 0.0], [-0.48, 0.36, 0.8], [-0.64, 0.48, -0.6]];
    let sheared = [[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.6, 0.8]];
    let axis = |name: &str| Axis { name: Some(name.into()), unit: Some("mm".into()), ..Axis::default() };
    let named = Metadata { axes: ["x", "y", "z"].map(axis).to_vec(), ..Metadata::default() };
    let plain = Grid::new([-1.0 / 3.0, 7e-3, 1e6 + 0.1], [0.1, 2.0 / 3.0, 4.0]);
    let endings: &[&str] =
        if cfg!(feature = "zarr") { &["vti", "pvti", "nrrd", "zarr"] } else { &["vti", "pvti", "nrrd"] };
    let cases = [turned, sheared].map(|directions| plain.with_directions(directions));
    for (number, grid) in [plain, cases[0], cases[1]].into_iter().enumerate() {
        for (ranks, &ending) in [1, 3].into_iter().flat_map(|ranks| endings.iter().map(move |ending| (ranks, ending))) {
            let path = directory.path().join(format!("{number}-{ranks}.{ending}"));
            run_with(Config::threads(ranks), |world| {
                let array = world.array::<u8, 3>("array", &Layout::new([5, 4, 3]).split_all(Split::Auto))?;
                let metadata = named.clone().with_grid(&grid);
                assert_eq!(metadata.grid(), Some(grid));
                let options = SaveOptions::new().metadata(metadata.clone());
                #[cfg(feature = "zarr")]
                let options = options.zarr(super::super::zarr::ZarrOptions::new().levels(2));
                save_with(world, &path, array.at(..), &options)?;
                let same = |found: Grid, wanted: Grid| {
                    // NRRD has no direction apart from its spacing.
                    let most = if ending == "nrrd" && number > 0 { 1e-15 } else { 0.0 };
                    let near = |a: [f64; 3], b: [f64; 3]| (0..3).all(|row| (a[row] - b[row]).abs() <= most * 8.0);
                    assert!(
                        found.origin == wanted.origin
                            && near(found.spacing, wanted.spacing)
                            && (0..3).all(|axis| near(found.directions[axis], wanted.directions[axis])),
                        "{ending}: {found:?} is not {wanted:?}"
                    );
                };
                let all = load_with::<u8, 3>(world, &path, "all", &LoadOptions::new(), Layout::new)?.metadata;
                same(all.grid().unwrap(), grid);
                let names =
                    |metadata: &Metadata| metadata.axes.iter().map(|axis| axis.name.clone()).collect::<Vec<_>>();
                assert_eq!(names(&all), names(&metadata));
                let options = LoadOptions::new().section([2..5, 1..4, 1..3]).step([2, 1, 3]);
                let part = load_with::<u8, 3>(world, &path, "part", &options, Layout::new)?.metadata.grid().unwrap();
                let wanted = grid.section([2, 1, 1], [2, 1, 2]);
                assert!((0..3).all(|row| (part.origin[row] - wanted.origin[row]).abs() < 1e-9), "{part:?}");
                same(Grid { origin: wanted.origin, ..part }, wanted);
                // OME-Zarr has no words for directions; where it says where cells are, it is right at every level.
                if ending == "zarr" {
                    let text = std::fs::read_to_string(path.join("zarr.json")).unwrap();
                    assert_eq!(text.contains("multiscales"), number == 0, "{text}");
                    for level in [1, 2] {
                        let options = LoadOptions::new().array(format!("levels/{level}/array"));
                        let found = load_with::<u8, 3>(world, &path, "level", &options, Layout::new)?.metadata;
                        same(found.grid().unwrap(), grid.section([0; 3], [1 << level; 3]));
                    }
                }
                // Volumes are read without ranks.
                if ending == "vti" || ending == "nrrd" {
                    same(crate::volume::open(&path).unwrap().grid(), grid);
                }
                Ok(())
            })
            .unwrap();
        }
    }
}

/// An image of 4 x 3 x `slices` bytes.
fn vti(path: &Path, extent: &str, slices: usize, place: &str) {
    let text = format!(
        "<?xml version=\"1.0\"?><VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\"><ImageData \
         WholeExtent=\"{extent}\" {place}><Piece Extent=\"{extent}\"><PointData><DataArray type=\"UInt8\" Name=\"s\" \
         format=\"ascii\">{}</DataArray></PointData></Piece></ImageData></VTKFile>",
        "7 ".repeat(12 * slices)
    );
    std::fs::write(path, text).unwrap();
}

/// Metadata have directions of length 1, which a save takes.
#[test]
fn directions_of_other_lengths_are_loaded_as_unit_vectors() {
    let directory = directory();
    let [path, again] = ["a.vti", "again.vti"].map(|name| directory.path().join(name));
    for (matrix, directions) in [
        ("2 0 0 0 5 0 0 0 0.25", None),
        ("0 -5 0 2 0 0 0 0 0.25", Some(vec![vec![0.0, 1.0, 0.0], vec![-1.0, 0.0, 0.0], vec![0.0, 0.0, 1.0]])),
    ] {
        vti(&path, "3 6 -1 1 0 1", 2, &format!("Direction=\"{matrix}\" Spacing=\"0.5 1 4\" Origin=\"1 2 3\""));
        run_with(Config::threads(3), |world| {
            let found = load_with::<u8, 3>(world, &path, "array", &LoadOptions::new(), Layout::new)?;
            assert_eq!(found.metadata.directions, directions);
            let grid = found.metadata.grid().unwrap();
            assert_eq!(grid.spacing, [1.0, 5.0, 1.0]);
            assert_eq!(grid, crate::volume::open(&path).unwrap().grid());
            let options = SaveOptions::new().metadata(found.metadata.clone());
            save_with(world, &again, found.array.at(..), &options)?;
            let saved = load_with::<u8, 3>(world, &again, "again", &LoadOptions::new(), Layout::new)?;
            assert_eq!(saved.metadata, found.metadata);
            Ok(())
        })
        .unwrap();
    }
}
