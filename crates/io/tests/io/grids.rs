//! Positions of voxels in each format, as grids.

use zippy_io::volume::{self, VolumeFile};
use zippy_plan::Grid;

use super::common::volumes::{Folder, bytes};

/// A rotation with a reflection, with short fractions.
const ROTATED: [[f64; 3]; 3] = [[0.6, 0.8, 0.0], [-0.48, 0.36, 0.8], [-0.64, 0.48, -0.6]];
const ORIGIN: [f64; 3] = [-12.5, 7.0, 100.25];
const SPACING: [f64; 3] = [0.5, 1.25, 4.0];

fn words(numbers: impl IntoIterator<Item = f64>) -> String {
    numbers.into_iter().map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
}

fn nrrd(folder: &Folder, more: &str) -> VolumeFile {
    let head = "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 4 3 2\nencoding: raw\n";
    volume::open(folder.file("a.nrrd", &[format!("{head}{more}\n").as_bytes(), &[7; 24]].concat())).unwrap()
}

fn metaimage(folder: &Folder, more: &str) -> VolumeFile {
    let head = "ObjectType = Image\nNDims = 3\nDimSize = 4 3 2\nElementType = MET_UCHAR\n";
    let text = format!("{head}{more}ElementDataFile = LOCAL\n");
    volume::open(folder.file("a.mha", &[text.as_bytes(), &[7; 24]].concat())).unwrap()
}

fn vti(folder: &Folder, extent: &str, more: &str) -> VolumeFile {
    let text = format!(
        "<?xml version=\"1.0\"?><VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\"><ImageData \
         WholeExtent=\"{extent}\" {more}><Piece Extent=\"{extent}\"><PointData><DataArray type=\"UInt8\" Name=\"s\" \
         format=\"ascii\">{}</DataArray></PointData></Piece></ImageData></VTKFile>",
        "7 ".repeat(24)
    );
    volume::open(folder.file("a.vti", text.as_bytes())).unwrap()
}

/// A NIfTI-1 file of 4 x 3 x 2 bytes, with numbers at byte offsets.
fn nifti(folder: &Folder, axes: i16, forms: (i16, i16), floats: &[(usize, &[f32])]) -> VolumeFile {
    let mut header = vec![0_u8; 352];
    let mut put = |at: usize, part: Vec<u8>| header[at..at + part.len()].copy_from_slice(&part);
    put(0, bytes(&[348_i32], false));
    put(40, bytes(&[axes, 4, 3, if axes == 3 { 2 } else { 1 }, 1, 1, 1, 1], false));
    put(70, bytes(&[2_i16, 8], false));
    put(76, bytes(&[1_f32, 0.5, 1.25, 4.0], false));
    put(108, bytes(&[352_f32], false));
    put(252, bytes(&[forms.0, forms.1], false));
    put(344, b"n+1\0".to_vec());
    floats.iter().for_each(|(at, numbers)| put(*at, bytes(numbers, false)));
    header.resize(352 + if axes == 3 { 24 } else { 12 }, 7);
    volume::open(folder.file("a.nii", &header)).unwrap()
}

fn near(found: &Grid, wanted: &Grid, most: f64) {
    let numbers = |grid: &Grid| [[grid.origin, grid.spacing], [grid.directions[0], grid.directions[1]]].concat();
    let pairs = numbers(found).into_iter().zip(numbers(wanted)).chain([(found.directions[2], wanted.directions[2])]);
    for (a, b) in pairs {
        assert!((0..3).all(|row| (a[row] - b[row]).abs() <= most * b[row].abs().max(1.0)), "{found:?}\n{wanted:?}");
    }
}

#[test]
fn every_format_gives_the_grid_of_a_turned_volume() {
    let folder = Folder::new();
    let wanted = Grid::new(ORIGIN, SPACING).with_directions(ROTATED);
    let vector = |axis: usize| wanted.steps()[axis].map(|part| part.to_string()).join(",");
    let place = |origin: &str| {
        let [x, y, z] = [0, 1, 2].map(vector);
        format!("space: right-anterior-superior\nspace directions: ({x}) ({y}) ({z})\nspace origin: ({origin})\n")
    };
    near(&nrrd(&folder, &place("-12.5,7,100.25")).grid(), &wanted, 1e-12);

    let rows = words(ROTATED.concat());
    let lines = format!("TransformMatrix = {rows}\nOffset = {}\nElementSpacing = {}\n", words(ORIGIN), words(SPACING));
    assert_eq!(metaimage(&folder, &lines).grid(), wanted);

    // VTK's matrix has the directions in its columns. The origin is that of point 0, which can be
    // outside of the image.
    let matrix = words((0..9).map(|at| ROTATED[at % 3][at / 3]));
    let place = format!("Origin=\"{}\" Spacing=\"{}\" Direction=\"{matrix}\"", words(ORIGIN), words(SPACING));
    assert_eq!(vti(&folder, "0 3 0 2 0 1", &place).grid(), wanted);
    near(&vti(&folder, "2 5 -1 1 10 11", &place).grid(), &wanted.section([2, -1, 10], [1; 3]), 1e-12);

    let steps = wanted.steps();
    let row = |row: usize| [steps[0][row], steps[1][row], steps[2][row], ORIGIN[row]].map(|part| part as f32);
    let rows = [row(0), row(1), row(2)].concat();
    near(&nifti(&folder, 3, (0, 1), &[(280, &rows)]).grid(), &wanted, 1e-6);
    // A quarter turn around z and a reflected third axis, by the quaternion; distances by pixdim.
    let root = 0.5_f32.sqrt();
    let parts: &[(usize, &[f32])] = &[(76, &[-1.0]), (256, &[0.0, 0.0, root]), (268, &[-12.5, 7.0, 100.25])];
    let quarter = [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, -1.0]];
    let quarter = Grid::new(ORIGIN, SPACING).with_directions(quarter);
    near(&nifti(&folder, 3, (1, 0), parts).grid(), &quarter, 1e-6);
}

/// The matrix has distances of its own, which can differ from pixdim.
#[test]
fn nifti_matrix_decides_over_pixdim() {
    let folder = Folder::new();
    let rows = [2.0, 0.0, 0.0, 1.0, 0.0, 0.0, -3.0, 2.0, 0.0, 0.5, 0.0, 3.0];
    let grid = nifti(&folder, 3, (0, 2), &[(280, &rows)]).grid();
    let directions = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]];
    assert_eq!(grid, Grid::new([1.0, 2.0, 3.0], [2.0, 0.5, 3.0]).with_directions(directions));
    let grid = nifti(&folder, 2, (0, 2), &[(280, &rows)]).grid();
    assert_eq!((grid.origin, grid.spacing), ([1.0, 2.0, 3.0], [2.0, 0.5, 1.0]));
    assert_eq!(grid.directions, [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]);
}

/// nibabel's `get_best_affine` and FSL choose in the same order: first the matrix, then the
/// quaternion.
#[test]
fn nifti_with_both_transforms_has_the_grid_of_the_matrix() {
    let folder = Folder::new();
    let root = 0.5_f32.sqrt();
    let rows = [2.0, 0.0, 0.0, 1.0, 0.0, 0.0, -3.0, 2.0, 0.0, 0.5, 0.0, 3.0];
    let both: &[(usize, &[f32])] = &[(256, &[0.0, 0.0, root]), (268, &[-12.5, 7.0, 100.25]), (280, &rows)];
    let matrix = Grid::from_steps([1.0, 2.0, 3.0], [[2.0, 0.0, 0.0], [0.0, 0.0, 0.5], [0.0, -3.0, 0.0]]);
    let turn = [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
    let quaternion = Grid::new(ORIGIN, SPACING).with_directions(turn);
    for forms in [(1, 1), (1, 4), (4, 1), (0, 1)] {
        assert_eq!(nifti(&folder, 3, forms, both).grid(), matrix, "{forms:?}");
    }
    for forms in [(1, 0), (4, 0), (1, -1)] {
        near(&nifti(&folder, 3, forms, both).grid(), &quaternion, 1e-6);
    }
    assert_eq!(nifti(&folder, 3, (0, 0), both).grid(), Grid::from(SPACING));
}

#[test]
fn files_without_positions_have_the_default_grid() {
    let folder = Folder::new();
    assert_eq!(nrrd(&folder, "").grid(), Grid::default());
    assert_eq!(metaimage(&folder, "").grid(), Grid::default());
    assert_eq!(vti(&folder, "0 3 0 2 0 1", "").grid(), Grid::default());
    assert_eq!(nifti(&folder, 3, (0, 0), &[]).grid(), Grid::from(SPACING));
    assert_eq!(nrrd(&folder, "spacings: 0.5 1.25 4\n").grid(), Grid::from(SPACING));
}

/// The least position of cells is half a cell before the first centre.
#[test]
fn nrrd_axis_minima_are_positions_of_centres_or_of_cells() {
    let folder = Folder::new();
    let more = "spacings: 0.5 1.25 4\naxis mins: 10 20 30\ncenters: cell node ???\n";
    assert_eq!(nrrd(&folder, more).grid(), Grid::new([10.25, 20.0, 0.0], SPACING));
    let more = "space: right-anterior-superior\nspace directions: (0.5,0,0) (0,1.25,0) (0,0,4)\naxis mins: 1 2 3\ncenters: node node node\n";
    assert_eq!(nrrd(&folder, more).grid(), Grid::from(SPACING));
    let head = "NRRD0004\ntype: uint8\ndimension: 2\nspace dimension: 3\nsizes: 4 3\nencoding: raw\n";
    let text = format!("{head}space directions: (0,2,0) (0,0,3)\nspace origin: (4,5,6)\n\n");
    let file = volume::open(folder.file("s.nrrd", &[text.as_bytes(), &[7; 12]].concat())).unwrap();
    let directions = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]];
    assert_eq!(file.grid(), Grid::new([4.0, 5.0, 6.0], [2.0, 3.0, 1.0]).with_directions(directions));
}

/// Between the ends of an axis lie `n` steps with cells, and `n - 1` steps with nodes.
#[test]
fn nrrd_ends_of_axes_give_spacing_and_origin() {
    let folder = Folder::new();
    let ends = "axis mins: 0 -4 10\naxis maxs: 10 5 12\n";
    let grid = |more: &str| nrrd(&folder, &format!("{ends}{more}")).grid();
    assert_eq!(grid("centers: cell cell cell\n"), Grid::new([1.25, -2.5, 10.5], [2.5, 3.0, 1.0]));
    assert_eq!(grid("centers: node node node\n"), Grid::new([0.0, -4.0, 10.0], [10.0 / 3.0, 4.5, 2.0]));
    // An axis with unknown `centers` has no position. A spacing of the file decides over the ends.
    assert_eq!(grid("centers: cell ??? node\n"), Grid::new([1.25, 0.0, 10.0], [2.5, 1.0, 2.0]));
    let spacings = "centers: cell cell node\nspacings: 0.5 nan 3\n";
    assert_eq!(grid(spacings), Grid::new([0.25, -2.5, 10.0], [0.5, 3.0, 3.0]));
    assert_eq!(nrrd(&folder, "axis maxs: 10 5 12\ncenters: cell node cell\n").grid(), Grid::default());
    // An axis that runs backwards has the opposite direction.
    let backwards = "axis mins: 10 -4 nan\naxis maxs: 0 5 12\ncenters: cell node cell\n";
    let mirrored = [[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    assert_eq!(
        nrrd(&folder, backwards).grid(),
        Grid::new([8.75, -4.0, 0.0], [2.5, 4.5, 1.0]).with_directions(mirrored)
    );
    // Equal ends give no spacing, and neither does an end that is not finite.
    let same = "axis mins: 3 -4 10\naxis maxs: 3 inf 12\ncenters: cell node node\n";
    assert_eq!(nrrd(&folder, same).grid(), Grid::new([3.5, -4.0, 10.0], [1.0, 1.0, 2.0]));
    // The axis of components comes before the axes of voxels.
    let head = "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 3 4 1\nkinds: vector domain domain\nencoding: raw\n";
    let text = format!("{head}axis mins: 5 0 7\naxis maxs: 6 10 8\ncenters: cell cell node\n\n");
    let file = volume::open(folder.file("v.nrrd", &[text.as_bytes(), &[7; 12]].concat())).unwrap();
    assert_eq!((file.components(), file.grid()), (3, Grid::new([1.25, 7.0, 0.0], [2.5, 1.0, 1.0])));
}

/// Voxel `i` of an axis has the position `i * spacing * direction`.
#[test]
fn lengths_of_directions_multiply_the_spacing() {
    let folder = Folder::new();
    // The columns have lengths 2, 5 and 0.25; the last two axes are turned.
    let columns = [[2.0, 0.0, 0.0], [0.0, 3.0, 4.0], [0.0, 0.2, -0.15]];
    let directions = [[1.0, 0.0, 0.0], [0.0, 0.6, 0.8], [0.0, 0.8, -0.6]];
    let matrix = words((0..9).map(|at| columns[at % 3][at / 3]));
    let (along, plain) = (format!("Direction=\"{matrix}\""), Grid::new([0.0; 3], [2.0, 5.0, 0.25]));
    near(&vti(&folder, "0 3 0 2 0 1", &along).grid(), &plain.with_directions(directions), 1e-15);
    let place = format!("Origin=\"{}\" Spacing=\"{}\" {along}", words(ORIGIN), words(SPACING));
    let wanted = Grid::new(ORIGIN, [1.0, 6.25, 1.0]).with_directions(directions);
    let file = vti(&folder, "3 6 -1 1 10 11", &place);
    // The expected position is origin + columns * spacing * (3, -1, 10).
    let first = [-12.5 + 3.0, 7.0 - 3.75 + 8.0, 100.25 - 5.0 - 6.0];
    near(&file.grid(), &Grid { origin: first, ..wanted }, 1e-13);
    near(&file.grid(), &wanted.section([3, -1, 10], [1; 3]), 1e-13);
    assert_eq!(file.spacing(), file.grid().spacing);
    let text = "Direction=\"2 0 0 0 1 0 0 0 1\" Spacing=\"1 1 1\"";
    assert_eq!(
        vti(&folder, "3 6 0 2 0 1", &format!("{text} Origin=\"0 0 0\"")).grid().position([1.0; 3]),
        [8.0, 1.0, 1.0]
    );

    assert_eq!(vti(&folder, "3 6 0 2 0 1", text).grid(), Grid::new([6.0, 0.0, 0.0], [2.0, 1.0, 1.0]));

    let lines = format!("TransformMatrix = {}\nOffset = {}\n", words(columns.concat()), words(ORIGIN));
    near(&metaimage(&folder, &lines).grid(), &Grid { spacing: [2.0, 5.0, 0.25], ..wanted }, 1e-15);
    let lines = format!("{lines}ElementSpacing = {}\n", words(SPACING));
    near(&metaimage(&folder, &lines).grid(), &wanted, 1e-15);
}

/// Directions in a plane are an error only when the grid is used; the voxels can still be read.
#[test]
fn directions_in_a_plane_are_refused_by_the_check() {
    let folder = Folder::new();
    for rows in ["1 0 0 0 1 0 0.6 0.8 0", "1 0 0 0 0 0 0 0 1"] {
        let file = metaimage(&folder, &format!("TransformMatrix = {rows}\n"));
        assert!(file.grid().check().is_err(), "{rows}");
    }
}
