//! Positions of cells in every format that stores them.

use std::path::Path;

use zippy::{Config, Grid, Layout, Split, run_with};

use super::super::{LoadOptions, SaveOptions, load_with, save_with};
use super::directory;
use zippy_io::array::{Axis, Metadata};

/// A loaded grid equals the saved one; the grid of a section with steps is that of the section.
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
                    // NRRD stores direction and spacing as one vector.
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
                // OME-Zarr cannot describe directions. Without them its positions are correct at
                // every level.
                if ending == "zarr" {
                    let text = std::fs::read_to_string(path.join("zarr.json")).unwrap();
                    assert_eq!(text.contains("multiscales"), number == 0, "{text}");
                    for level in [1, 2] {
                        let options = LoadOptions::new().array(format!("levels/{level}/array"));
                        let found = load_with::<u8, 3>(world, &path, "level", &options, Layout::new)?.metadata;
                        same(found.grid().unwrap(), grid.section([0; 3], [1 << level; 3]));
                    }
                }
                if ending == "vti" || ending == "nrrd" {
                    same(zippy_io::volume::open(&path).unwrap().grid(), grid);
                }
                Ok(())
            })
            .unwrap();
        }
    }
}

fn write_vti(path: &Path, extent: &str, slices: usize, position_attributes: &str) {
    let text = format!(
        "<?xml version=\"1.0\"?><VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\"><ImageData \
         WholeExtent=\"{extent}\" {position_attributes}><Piece Extent=\"{extent}\"><PointData><DataArray type=\"UInt8\" Name=\"s\" \
         format=\"ascii\">{}</DataArray></PointData></Piece></ImageData></VTKFile>",
        "7 ".repeat(12 * slices)
    );
    std::fs::write(path, text).unwrap();
}

/// A save accepts the loaded directions.
#[test]
fn directions_of_other_lengths_are_loaded_as_unit_vectors() {
    let directory = directory();
    let [path, again] = ["a.vti", "again.vti"].map(|name| directory.path().join(name));
    for (matrix, directions) in [
        ("2 0 0 0 5 0 0 0 0.25", None),
        ("0 -5 0 2 0 0 0 0 0.25", Some(vec![vec![0.0, 1.0, 0.0], vec![-1.0, 0.0, 0.0], vec![0.0, 0.0, 1.0]])),
    ] {
        write_vti(&path, "3 6 -1 1 0 1", 2, &format!("Direction=\"{matrix}\" Spacing=\"0.5 1 4\" Origin=\"1 2 3\""));
        run_with(Config::threads(3), |world| {
            let found = load_with::<u8, 3>(world, &path, "array", &LoadOptions::new(), Layout::new)?;
            assert_eq!(found.metadata.directions, directions);
            let grid = found.metadata.grid().unwrap();
            assert_eq!(grid.spacing, [1.0, 5.0, 1.0]);
            assert_eq!(grid, zippy_io::volume::open(&path).unwrap().grid());
            let options = SaveOptions::new().metadata(found.metadata.clone());
            save_with(world, &again, found.array.at(..), &options)?;
            let saved = load_with::<u8, 3>(world, &again, "again", &LoadOptions::new(), Layout::new)?;
            assert_eq!(saved.metadata, found.metadata);
            Ok(())
        })
        .unwrap();
    }
}

const Y_Z_X: [[f64; 3]; 3] = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]];

fn write_nrrd(path: &Path, sizes: &str, position_fields: &str, cells: usize) {
    let axes = sizes.split(' ').count();
    let head = format!("NRRD0004\ntype: uint8\ndimension: {axes}\nspace dimension: 3\nsizes: {sizes}\nencoding: raw\n");
    std::fs::write(path, [format!("{head}{position_fields}\n\n").as_bytes(), &vec![7; cells]].concat()).unwrap();
}

/// Slices are loaded as volumes, as arrays and as sections, and again after a save in every format.
#[test]
fn slices_in_space_keep_their_grid() {
    let directory = directory();
    let path = |name: &str| directory.path().join(name);
    write_nrrd(&path("across.nrrd"), "4 3", "space directions: (0,2,0) (0,0,3)\nspace origin: (4,5,6)", 12);
    write_nrrd(&path("along.nrrd"), "4 3", "space directions: (2,0,0) (0,3,0)\nspace origin: (4,5,6)", 12);
    write_nrrd(&path("flat.nrrd"), "4 3", "space directions: (2,0,0) (0,3,0)\nspace origin: (4,5,0)", 12);
    write_nrrd(&path("through.nrrd"), "4 3", "space directions: (0,2,0) (0,0,3)", 12);
    write_vti(&path("along.vti"), "0 3 0 2 0 0", 1, "Origin=\"1 2 7\" Spacing=\"0.5 2 4\"");
    let turned = "Origin=\"1 2 7\" Spacing=\"0.5 2 4\" Direction=\"0 0 1 1 0 0 0 1 0\"";
    write_vti(&path("across.vti"), "2 5 0 2 5 5", 1, turned);
    write_vti(&path("through.vti"), "0 3 0 2 0 0", 1, "Direction=\"0 0 1 1 0 0 0 1 0\"");
    let grid = |origin: [f64; 3], spacing: [f64; 3]| Grid::new(origin, spacing);
    let cases = [
        ("across.nrrd", grid([4.0, 5.0, 6.0], [2.0, 3.0, 1.0]).with_directions(Y_Z_X), &[6.0][..]),
        ("along.nrrd", grid([4.0, 5.0, 6.0], [2.0, 3.0, 1.0]), &[6.0]),
        ("flat.nrrd", grid([4.0, 5.0, 0.0], [2.0, 3.0, 1.0]), &[]),
        ("through.nrrd", grid([0.0; 3], [2.0, 3.0, 1.0]).with_directions(Y_Z_X), &[0.0]),
        ("along.vti", grid([1.0, 2.0, 7.0], [0.5, 2.0, 1.0]), &[7.0]),
        ("across.vti", grid([21.0, 3.0, 7.0], [0.5, 2.0, 1.0]).with_directions(Y_Z_X), &[7.0]),
        ("through.vti", grid([0.0; 3], [1.0; 3]).with_directions(Y_Z_X), &[0.0]),
    ];
    let endings: &[&str] =
        if cfg!(feature = "zarr") { &["vti", "pvti", "nrrd", "zarr"] } else { &["vti", "pvti", "nrrd"] };
    for (ranks, (name, grid, further)) in [1, 3].into_iter().flat_map(|ranks| cases.map(|case| (ranks, case))) {
        let volume = zippy_io::volume::open(path(name)).unwrap().grid();
        assert_eq!((volume.origin, volume.directions), (grid.origin, grid.directions), "{name}");
        run_with(Config::threads(ranks), |world| {
            let cut = |shape: [i64; 2]| Layout::new(shape).split_all(Split::Auto);
            let part = LoadOptions::new().section([1..4, 2..3]).step([2, 1]);
            let part_grid = grid.section([1, 2, 0], [2, 1, 1]);
            let found = load_with::<u8, 2>(world, path(name), "array", &LoadOptions::new(), cut)?;
            assert_eq!((found.metadata.grid(), &*found.metadata.further_origin), (Some(grid), further), "{name}");
            let metadata = load_with::<u8, 2>(world, path(name), "part", &part, cut)?.metadata;
            assert_eq!(metadata.grid(), Some(part_grid), "{name}");
            let metadata = Metadata { name: Some("slice".into()), ..found.metadata };
            for ending in endings {
                let saved = path(&format!("saved-{ranks}-{name}.{ending}"));
                save_with(world, &saved, found.array.at(..), &SaveOptions::new().metadata(metadata.clone()))?;
                let again = load_with::<u8, 2>(world, &saved, "again", &LoadOptions::new(), cut)?.metadata;
                // Directions in NRRD contain the spacing, those in VTI do not.
                assert_eq!((again.grid(), &again.further_origin), (Some(grid), &metadata.further_origin), "{saved:?}");
                assert_eq!((&again.directions, &again.name), (&metadata.directions, &metadata.name), "{saved:?}");
                let again = load_with::<u8, 2>(world, &saved, "again part", &part, cut)?.metadata;
                assert_eq!(again.grid(), Some(part_grid), "{saved:?}");
                if matches!(*ending, "vti" | "nrrd") {
                    assert_eq!(zippy_io::volume::open(&saved).unwrap().grid(), grid, "{saved:?}");
                }
            }
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn lines_in_space_keep_their_grid() {
    let directory = directory();
    let path = |name: &str| directory.path().join(name);
    write_nrrd(
        &path("line.nrrd"),
        "5",
        "space directions: (0,0,2)\nspace origin: (4,5,6)\nspace units: \"mm\" \"mm\" \"mm\"",
        5,
    );
    run_with(Config::threads(3), |world| {
        let cut = |shape: [i64; 1]| Layout::new(shape).split_all(Split::Auto);
        let found = load_with::<u8, 1>(world, path("line.nrrd"), "line", &LoadOptions::new(), cut)?;
        assert_eq!(found.metadata.further_origin, [5.0, 6.0]);
        assert_eq!(found.metadata.axes[0].unit.as_deref(), Some("mm"));
        for ending in ["nrrd", "vti"] {
            let saved = path(&format!("saved.{ending}"));
            let metadata = Metadata { name: Some("line".into()), ..found.metadata.clone() };
            save_with(world, &saved, found.array.at(..), &SaveOptions::new().metadata(metadata.clone()))?;
            let again = load_with::<u8, 1>(world, &saved, "again", &LoadOptions::new(), cut)?.metadata;
            assert_eq!(again, metadata, "{ending}");
            let range = 3..5;
            let part = LoadOptions::new().section([range]);
            let part = load_with::<u8, 1>(world, &saved, "part", &part, cut)?.metadata.grid().unwrap();
            assert_eq!((part.origin, part.steps()[0]), ([4.0, 5.0, 12.0], [0.0, 0.0, 2.0]), "{ending}");
            let volume = zippy_io::volume::open(&saved).unwrap().grid();
            assert_eq!((volume.origin, volume.steps()[0]), ([4.0, 5.0, 6.0], [0.0, 0.0, 2.0]), "{ending}");
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn further_origin_that_does_not_fit_is_refused() {
    let directory = directory();
    let axes = vec![Axis::default(); 2];
    let further = |further_origin: &[f64]| Metadata {
        axes: axes.clone(),
        further_origin: further_origin.to_vec(),
        ..Metadata::default()
    };
    let vectors = |all: [&[f64]; 2]| Some(all.map(<[f64]>::to_vec).to_vec());
    assert_eq!(further(&[1.0, 2.0]).grid(), None);
    assert_eq!(further(&[3.0]).grid(), Some(Grid::new([0.0, 0.0, 3.0], [1.0; 3])));
    let flat = vectors([&[1.0, 0.0], &[0.0, 1.0]]);
    let cases = [
        ("a.vti", further(&[f64::NAN]), "a further origin of [NaN]; all its numbers must be finite"),
        (
            "a.nrrd",
            Metadata { axes: Vec::new(), ..further(&[1.0]) },
            "a further origin of [1.0] without axes; give `axes` as well",
        ),
        ("a.nrrd", Metadata { directions: flat, ..further(&[1.0]) }, "each needs a vector of 3 numbers"),
        ("a.vti", further(&[1.0, 2.0]), "cannot have a space of 4 dimensions, only of 1 to 3"),
        ("a.pvti", further(&[1.0, 2.0]), "cannot have a space of 4 dimensions, only of 1 to 3"),
        ("a.nrrd", further(&[1.0; 7]), "cannot have a space of 9 dimensions; at most 8"),
    ];
    run_with(Config::threads(3), |world| {
        let array = world.array::<u8, 2>("array", &Layout::new([5, 4]).split_all(Split::Auto))?;
        for (name, metadata, wanted) in &cases {
            let options = SaveOptions::new().metadata(metadata.clone());
            let error = save_with(world, directory.path().join(name), array.at(..), &options).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}, not {wanted}");
        }
        Ok(())
    })
    .unwrap();
}
