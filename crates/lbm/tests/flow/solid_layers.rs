//! Volumes and areas of solid cells: boxes, plates, sheets and spheres at any position.

use std::collections::BTreeSet;
use std::f64::consts::PI;
use std::ops::Range;

use zippy::{Config, Result, World, run_with};
use zippy_lbm::solids::{
    Placement, PlaneReceiver, ScanVolume, SolidMask, SolidShape, TriangleSurface, VoxelizationBox,
};

use super::solids::sphere;
use super::support::launcher;

type Triangle = [[f32; 3]; 3];

/// The twelve triangles of a box between two corners.
fn block(low: [f64; 3], high: [f64; 3]) -> Vec<Triangle> {
    let corner = |bits: usize| [0, 1, 2].map(|axis| if bits >> axis & 1 == 1 { high } else { low }[axis] as f32);
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let halves = faces.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]);
    halves.map(|corners| corners.map(corner)).collect()
}

/// Placement that keeps the coordinates of a surface, in cells from the lower corner of the box.
fn keep_position(surface: &TriangleSurface, scale: f64) -> Placement {
    let [low, high] = surface.bounds();
    Placement { scale, centre: std::array::from_fn(|axis| 0.5 * (low[axis] + high[axis]) * scale - 0.5) }
}

/// Solid of triangles in cells, the same on all ranks.
fn solid(triangles: &[Triangle], scale: f64, room: VoxelizationBox) -> Result<SolidMask> {
    let solids = run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
        let surface = TriangleSurface::new(triangles)?;
        let solid = surface.voxelize(world, &keep_position(&surface, scale), &room)?;
        Ok(solid)
    })?;
    assert!(solids.windows(2).all(|pair| pair[0] == pair[1]));
    Ok(solids[0].clone())
}

fn cells(solid: &SolidMask, room: VoxelizationBox) -> BTreeSet<[i64; 3]> {
    let [nx, ny, nz] = room.cells;
    let all = (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])));
    all.filter(|&at| solid.contains(at)).collect()
}

/// Faces at cell centres, at edges of cells, and between. The unit is a cell, or a tenth of a cell,
/// which floats cannot represent.
#[test]
fn box_of_n_cells_has_n_layers_at_any_position() {
    let room = VoxelizationBox::from([24, 22, 20]);
    for (unit, n) in [(1.0, [3.0, 4.0, 5.0]), (0.1, [7.0, 6.0, 5.0])] {
        let mut first = None;
        for step in 0..40 {
            let low = [2.0 + 0.25 * f64::from(step), 2.0 + 0.125 * f64::from(step), 3.0 + 0.3 * f64::from(step)];
            let high: [f64; 3] = std::array::from_fn(|axis| low[axis] + n[axis]);
            let found = solid(&block(low.map(|x| x * unit), high.map(|x| x * unit)), 1.0 / unit, room).unwrap();
            let extents = found.bounds().map(|range| (range.end - range.start) as f64);
            assert_eq!(
                (extents, found.solid_cells() as f64),
                (n, n.iter().product()),
                "{low:?} to {high:?}, unit {unit}"
            );
            assert_eq!(found.warnings(), [""; 0], "{low:?}");
            // Moved by 1, 0.5 and 1.2 cells four steps later, and by 10, 5 and 12 after forty.
            let start = found.bounds().map(|range| range.start);
            let moved = first.get_or_insert((start, low));
            for axis in 0..3 {
                let by = low[axis] - moved.1[axis];
                if (by - by.round()).abs() < 1e-9 {
                    assert_eq!(start[axis] - moved.0[axis], by.round() as i64, "{low:?}");
                }
            }
        }
    }
}

/// Cells larger and smaller than voxels.
#[test]
fn scan_of_n_cells_has_n_layers_at_any_position() {
    for (voxels, n) in [(4, 8), (6, 3), (5, 5)] {
        for step in 0..16 {
            let middle = 9.0 + 0.125 * f64::from(step);
            let found = run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
                let read = scan([voxels; 3], |_| 1.0);
                let shape = ScanVolume {
                    shape: [voxels; 3],
                    grid: [1.0; 3].into(),
                    above: 0.5,
                    below: None,
                    read_planes: &read,
                };
                let placement = Placement { scale: n as f64 / voxels as f64, centre: [middle; 3] };
                shape.voxelize(world, &placement, &VoxelizationBox::from([20; 3]))
            });
            assert_eq!(found.unwrap()[0].solid_cells(), (n * n * n) as u64, "{voxels} voxels, middle {middle}");
        }
    }
}

fn scan(shape: [i64; 3], value: impl Fn([i64; 3]) -> f64) -> impl Fn(Range<i64>, &mut PlaneReceiver<'_>) -> Result<()> {
    move |planes, take| {
        for z in planes {
            let voxels = (0..shape[1]).flat_map(|y| (0..shape[0]).map(move |x| [x, y, z]));
            take(z, &voxels.map(&value).collect::<Vec<_>>())?;
        }
        Ok(())
    }
}

/// Bodies of up to 1e30 cells around a box of 8³ cells, with and without a face in the box.
#[test]
fn huge_surface_is_cut_off_with_a_warning() {
    for thicken in [false, true] {
        let room = VoxelizationBox { thicken, ..VoxelizationBox::from([8; 3]) };
        for edge in [1e3, 1e9, 1e12, 1e17, 1e30] {
            for (face, layers) in [(-edge, 0..8), (4.0, 4..8)] {
                let surface = TriangleSurface::new(&block([face, -edge, -edge], [edge, edge, edge])).unwrap();
                // Above 1e4 cells, rounding of the centre may move the face.
                let wanted = if edge < 1e4 || face < 0.0 { layers } else { continue };
                let found = run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
                    surface.voxelize(world, &keep_position(&surface, 1.0), &room)
                });
                let solid = found.unwrap().swap_remove(0);
                assert_eq!(solid.solid_cells(), 64 * (wanted.end - wanted.start), "{edge} {thicken}");
                assert!(solid.warnings().iter().any(|warning| warning.contains("are cut off")), "{edge}");
            }
        }
        // Faces in the box of a body with distant edges.
        for edge in [1e12, 1e30, 1e38] {
            let surface = TriangleSurface::new(&block([-edge, -edge, -0.3 * edge], [edge, 0.2 * edge, edge])).unwrap();
            let scale = Placement { scale: 1e3, ..keep_position(&surface, 1e3) };
            let found = run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
                Ok(surface.voxelize(world, &Placement { centre: [4.0; 3], ..scale }, &room)?.solid_cells())
            });
            assert_eq!(found.unwrap()[0], 512, "{edge}");
        }
    }
}

#[test]
fn shape_of_many_periods_is_refused() {
    let cube = |edge: f64, at: f64| {
        let room = VoxelizationBox { periodic: [true, false, false], ..VoxelizationBox::from([8; 3]) };
        let triangles = block([at, 2.0, 2.0], [at + edge, 5.0, 5.0]);
        solid(&triangles, 1.0, room).map(|solid| cells(&solid, room).len())
    };
    assert_eq!(cube(24.0, 0.0).unwrap(), 8 * 9);
    for edge in [40.0, 1e6, 1e20] {
        let error = cube(edge, 0.0).expect_err("too long").to_string();
        assert!(error.contains("more than 4 periods of 8 cells") && error.contains("smaller unit"), "{error}");
    }
    let error = cube(1e7, 1e12).expect_err("many periods away").to_string();
    assert!(error.contains("along the periodic axis 0"), "{error}");
}

/// Values that differ by 1e-4 near 1e5, which 32-bit floats would round to one number.
#[test]
fn scan_with_a_large_offset_has_the_cells_above_the_threshold() {
    let found = run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
        let read = scan([8; 3], |voxel| 101325.0 + 1e-4 * voxel[0] as f64);
        let shape =
            ScanVolume { shape: [8; 3], grid: [1.0; 3].into(), above: 101325.00035, below: None, read_planes: &read };
        shape.voxelize(world, &Placement { scale: 1.0, centre: [3.5; 3] }, &VoxelizationBox::from([8; 3]))
    });
    let solid = found.unwrap().swap_remove(0);
    assert_eq!((solid.solid_cells(), solid.bounds()[0].clone()), (4 * 64, 4..8));
}

#[test]
fn boxes_that_share_a_face_share_no_cell() {
    let room = VoxelizationBox::from([16; 3]);
    for step in 0..8 {
        let [from, face, to] = [2.0, 5.0, 9.0].map(|x| x + 0.125 * f64::from(step));
        let part =
            |low: f64, high: f64| cells(&solid(&block([low, 2.0, 2.0], [high, 6.0, 6.0]), 1.0, room).unwrap(), room);
        let (one, other, both) = (part(from, face), part(face, to), part(from, to));
        assert!(one.is_disjoint(&other));
        assert_eq!(one.union(&other).copied().collect::<BTreeSet<_>>(), both);
    }
}

/// Plate of 0.3 x 20 x 16 cells between two layers of cell centres.
fn plate() -> Vec<Triangle> {
    block([5.1, 3.0, 3.0], [5.4, 23.0, 19.0])
}

#[test]
fn plate_thinner_than_a_cell_is_a_warning_with_areas_and_thickened_one_layer() {
    let room = VoxelizationBox::from([20, 26, 22]);
    let alone = solid(&plate(), 1.0, room).unwrap_err().to_string();
    assert!(
        alone.contains("along axis 0 it reaches from 5.100 to 5.400 cells") && alone.contains("thicken"),
        "{alone}"
    );
    let both = [plate(), block([8.0, 4.0, 4.0], [14.0, 10.0, 10.0])].concat();
    let found = solid(&both, 1.0, room).unwrap();
    let coverage = *found.coverage().unwrap();
    let area = [320.0 + 36.0, 0.3 * 16.0 + 36.0, 0.3 * 20.0 + 36.0];
    assert!((0..3).all(|axis| (coverage.surface[axis] - area[axis]).abs() < 1e-3), "{coverage:?}");
    let whole = [2.0 * (320.0 + 4.8 + 6.0), 6.0 * 36.0];
    assert!((coverage.uncovered - whole[0] / (whole[0] + whole[1])).abs() < 1e-3, "{coverage:?}");
    assert_eq!((found.solid_cells(), coverage.solid, coverage.flipped_edges), (216, [36; 3], 0));
    let [warning] = found.warnings() else { panic!("{:?}", found.warnings()) };
    assert!(
        warning.contains("projected areas are 356.0, 40.8 and 42.0 cells², those of the solid 36, 36 and 36"),
        "{warning}"
    );
    assert!(warning.contains("75.4 % of the surface") && warning.contains("thicken"), "{warning}");

    let thick = VoxelizationBox { thicken: true, ..room };
    let found = solid(&plate(), 1.0, thick).unwrap();
    assert_eq!((found.solid_cells(), found.bounds()), (320, [5..6, 3..23, 3..19]));
    assert_eq!(found.warnings(), [""; 0]);
    let found = solid(&both, 1.0, thick).unwrap();
    assert_eq!((found.solid_cells(), found.warnings()), (320 + 216, &[][..]));
}

/// A sphere without caps: the volume with flat faces over the holes is known.
#[test]
fn open_surface_is_a_warning_with_its_edges_and_volume() {
    let (room, radius) = (VoxelizationBox::from([24; 3]), 8.0_f64);
    let whole: Vec<Triangle> =
        sphere(60, [0.0; 3]).into_iter().map(|corners| corners.map(|corner| corner.map(|x| 8.0 * x + 12.0))).collect();
    let most = whole.as_flattened().iter().map(|corner| corner[2]).fold(0.0, f32::max);
    assert_eq!(solid(&whole, 1.0, room).unwrap().warnings(), [""; 0]);
    for (ends, rims) in [([-9.0, 5.0], 1.0), ([-5.0, 5.0], 2.0)] {
        // The sphere has 60 rings of 3 degrees.
        let [low, high] = ends.map(|x| x as f32 + 12.0);
        let open: Vec<Triangle> =
            whole.iter().filter(|one| one.iter().all(|corner| (low..=high).contains(&corner[2]))).copied().collect();
        let rim = open.as_flattened().iter().map(|corner| corner[2]).fold(0.0, f32::max);
        assert!(rim < most);
        let found = solid(&open, 1.0, room).unwrap();
        let [warning] = found.warnings() else { panic!("{:?}", found.warnings()) };
        assert!(warning.starts_with(&format!("the surface is open: {} of its", 60.0 * rims)), "{warning}");
        // A cap of height h has the volume π h² (r - h / 3).
        let height = radius - f64::from(rim - 12.0);
        let volume = 4.0 / 3.0 * PI * radius.powi(3) - rims * PI * height.powi(2) * (radius - height / 3.0);
        let text = warning.split("it encloses ").nth(1).unwrap().split(' ').next().unwrap();
        let enclosed: f64 = text.parse().unwrap();
        assert!((enclosed / volume - 1.0).abs() < 0.01, "{enclosed} {volume}");
        assert!(warning.contains(&format!("the solid has {}:", found.solid_cells())), "{warning}");
    }
}

#[test]
fn faces_between_cells_are_not_thickened_and_sheets_have_one_layer() {
    let thick = VoxelizationBox { thicken: true, ..VoxelizationBox::from([20, 26, 22]) };
    for x in [4.0, 4.25, 4.5, 4.999] {
        let at = |y: f32, z: f32| [x, y, z];
        let sheet = [[at(3.0, 3.0), at(23.0, 3.0), at(23.0, 19.0)], [at(3.0, 3.0), at(23.0, 19.0), at(3.0, 19.0)]];
        let found = solid(&sheet, 1.0, thick).unwrap();
        assert_eq!((found.solid_cells(), found.shadow_area(0)), (320, 320), "{x}");
    }
    let found = solid(&block([3.0; 3], [9.0, 8.0, 7.0]), 1.0, thick).unwrap();
    assert_eq!((found.solid_cells(), found.bounds()), (6 * 5 * 4, [3..9, 3..8, 3..7]));
    let found = solid(&block([3.2; 3], [9.2, 8.2, 7.2]), 1.0, thick).unwrap();
    assert_eq!(found.solid_cells(), 7 * 6 * 5);
}

/// No path leads through the sheet, not even across corners of cells.
#[test]
fn thickened_oblique_sheet_is_closed() {
    let thick = VoxelizationBox { thicken: true, ..VoxelizationBox::from([14; 3]) };
    for slope in [[0.3, 0.7], [1.0, 0.0], [1.0, 1.0], [0.05, 0.0]] {
        let at = |y: f32, z: f32| [7.0 + slope[0] * (y - 7.0) + slope[1] * (z - 7.0), y, z];
        let (low, high) = (-9.0, 23.0);
        let sheet = [[at(low, low), at(high, low), at(high, high)], [at(low, low), at(high, high), at(low, high)]];
        let found = solid(&sheet, 1.0, thick).unwrap();
        let solid = cells(&found, thick);
        let mut open = vec![[0_i64, 7, 7]];
        let mut seen: BTreeSet<[i64; 3]> = open.iter().copied().collect();
        while let Some(at) = open.pop() {
            for k in 0..27 {
                let next = [at[0] + k % 3 - 1, at[1] + k / 3 % 3 - 1, at[2] + k / 9 - 1];
                if next.iter().all(|x| (0..14).contains(x)) && !solid.contains(&next) && seen.insert(next) {
                    open.push(next);
                }
            }
        }
        assert!(!seen.contains(&[13, 7, 7]), "{slope:?}");
        assert!(seen.len() + solid.len() < 14 * 14 * 14);
    }
}

/// Projected areas of a sphere are those of its circle. Flipped triangles are repaired, or a
/// warning.
#[test]
fn sphere_is_covered_and_flipped_triangles_are_repaired() {
    let room = VoxelizationBox::from([24; 3]);
    let cell = |triangles: Vec<Triangle>| -> Vec<Triangle> {
        triangles.into_iter().map(|corners| corners.map(|corner| corner.map(|x| 8.3 * x + 12.1))).collect()
    };
    let whole = cell(sphere(60, [0.0; 3]));
    let found = solid(&whole, 1.0, room).unwrap();
    let coverage = found.coverage().unwrap();
    let circle = PI * 8.3 * 8.3;
    for axis in 0..3 {
        assert!((coverage.surface[axis] / circle - 1.0).abs() < 0.01, "{coverage:?}");
        assert!((coverage.solid[axis] as f64 / circle - 1.0).abs() < 0.03, "{coverage:?}");
    }
    assert_eq!((coverage.uncovered, found.warnings()), (0.0, &[][..]));
    // Cells on the surface are at most half their diagonal away from it.
    let thick = VoxelizationBox { thicken: true, ..room };
    let (plain, thick) = (cells(&found, room), cells(&solid(&whole, 1.0, thick).unwrap(), room));
    assert!(plain.is_subset(&thick));
    let radius = |at: [i64; 3]| at.iter().map(|&x| (x as f64 + 0.5 - 12.1).powi(2)).sum::<f64>().sqrt();
    let most = thick.iter().map(|&at| radius(at)).fold(0.0, f64::max);
    assert!((8.3..8.3 + 0.75_f64.sqrt()).contains(&most), "{most}");

    // A third of the triangles is flipped, alone and in groups.
    let mut flipped = whole.clone();
    let flips: Vec<usize> = (0..whole.len()).filter(|&k| whole[k][0][2] < 8.0 || k % 13 == 5).collect();
    flips.iter().for_each(|&k| flipped[k].swap(0, 1));
    let found = solid(&flipped, 1.0, room).unwrap();
    assert_eq!(cells(&found, room), plain);
    let expected = format!("{} of {} triangles of the surface faced another way", flips.len(), whole.len());
    assert!(found.warnings().len() == 1 && found.warnings()[0].starts_with(&expected), "{:?}", found.warnings());

    // Triangles without common edges have no neighbours, and uncovered parts are a warning.
    let apart = |(k, one): (usize, &Triangle)| one.map(|corner| corner.map(|x| x + 1e-5 * (k % 97) as f32));
    let mut flipped: Vec<Triangle> = whole.iter().enumerate().map(apart).collect();
    flipped.iter_mut().filter(|one| one[0][2] < 12.1).for_each(|one| one.swap(0, 1));
    let found = solid(&flipped, 1.0, room).unwrap();
    let coverage = found.coverage().unwrap();
    assert!(coverage.uncovered > 0.2, "{coverage:?}");
    let warning = &found.warnings()[0];
    assert!(warning.contains("% of the surface has no solid cell next to it"), "{warning}");
}

/// Images have the cells of a ball in the middle; other sides cut it off with a warning.
#[test]
fn surfaces_have_images_along_periodic_axes() {
    let ball = |middle: [f32; 3]| -> Vec<Triangle> {
        let all = sphere(40, [0.0; 3]).into_iter();
        all.map(|corners| corners.map(|corner| std::array::from_fn(|axis| 4.3 * corner[axis] + middle[axis]))).collect()
    };
    let room = VoxelizationBox { periodic: [true, false, true], ..VoxelizationBox::from([16, 14, 12]) };
    let whole = solid(&ball([8.0, 7.0, 6.0]), 1.0, room).unwrap();
    let moved: BTreeSet<[i64; 3]> =
        cells(&whole, room).into_iter().map(|[x, y, z]| [(x + 8) % 16, y, (z + 7) % 12]).collect();
    let across = solid(&ball([16.0, 7.0, 13.0]), 1.0, room).unwrap();
    assert_eq!((cells(&across, room), across.solid_cells()), (moved, whole.solid_cells()));
    assert_eq!((whole.warnings(), across.warnings()), (&[][..], &[][..]));

    let cut = solid(&ball([16.0, 7.0, 13.0]), 1.0, VoxelizationBox { periodic: [false; 3], ..room }).unwrap();
    assert!(cut.solid_cells() < whole.solid_cells() / 2);
    let expected = "along axis 0 the shape reaches from 11.70 to 20.30 cells and the box from 0 to 16: 4.30 cells";
    assert!(cut.warnings()[0].starts_with(expected), "{:?}", cut.warnings());
    assert!(cut.warnings()[1].starts_with("along axis 2"), "{:?}", cut.warnings());
    let outside =
        solid(&ball([30.0, 7.0, 6.0]), 1.0, VoxelizationBox { periodic: [false; 3], ..room }).unwrap_err().to_string();
    assert!(
        outside.contains("from 25.700 to 34.300 cells from the corner of the box, outside of the box of 16 cells"),
        "{outside}"
    );
}

#[test]
fn thickened_scan_has_its_thin_walls() {
    let found = |thicken: bool| {
        run_with(Config::threads(launcher::counts(&[2])[0]), |world: &World| {
            // Walls of one voxel in cells of four voxels.
            let read = scan([32; 3], |voxel| if voxel[0] == 16 || voxel[1] == 2 { 1.0 } else { 0.0 });
            let shape =
                ScanVolume { shape: [32; 3], grid: [1.0; 3].into(), above: 0.9, below: None, read_planes: &read };
            let room = VoxelizationBox { thicken, ..VoxelizationBox::from([10; 3]) };
            shape.voxelize(world, &Placement { scale: 0.25, centre: [4.5; 3] }, &room).map(|solid| solid.solid_cells())
        })
    };
    assert!(found(false).unwrap_err().to_string().contains("no cell of the scan is solid"));
    // Layers of 8 x 8 cells across x and y, with 8 common cells.
    assert_eq!(found(true).unwrap()[0], 64 + 64 - 8);
}
