//! Solid cells from surfaces and scans of spheres, boxes and planes.

use std::f64::consts::PI;
use std::ops::Range;

use zippy::{Config, Grid, Result, World, run_with};
use zippy_lbm::solids::{
    Placement, PlaneReceiver, ScanVolume, SolidMask, SolidShape, TriangleSurface, VoxelizationBox,
};
use zippy_lbm::{Cut, Flow, Problem, Side, VelocitySet};

use super::support::launcher;

type Triangle = [[f32; 3]; 3];

/// Sphere of radius 1 around a point, of `2 n (n - 1)` triangles.
pub(crate) fn sphere(n: usize, centre: [f32; 3]) -> Vec<Triangle> {
    let at = |i: usize, j: usize| -> [f32; 3] {
        let (polar, around) = (PI * i as f64 / n as f64, 2.0 * PI * (j % n) as f64 / n as f64);
        let unit = [polar.sin() * around.cos(), polar.sin() * around.sin(), polar.cos()];
        std::array::from_fn(|axis| unit[axis] as f32 + centre[axis])
    };
    let mut all = Vec::new();
    for i in 0..n {
        for j in 0..n {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            if i + 1 < n {
                all.push([a, b, c]);
            }
            if i > 0 {
                all.push([a, c, d]);
            }
        }
    }
    all
}

/// Cube of edge 4 with a corner at the origin.
fn cube() -> Vec<Triangle> {
    let corner = |bits: usize| [0, 1, 2].map(|axis| if bits >> axis & 1 == 1 { 4.0 } else { 0.0 });
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let halves = faces.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]);
    halves.map(|corners| corners.map(corner)).collect()
}

fn noise(number: usize) -> f64 {
    let mut x = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x >> 11) as f64 / (1_u64 << 53) as f64
}

fn points(count: usize) -> impl Iterator<Item = [f64; 3]> {
    (0..count).map(|k| [0, 1, 2].map(|axis| 3.0 * noise(3 * k + axis) - 1.5))
}

fn radius(at: [f64; 3]) -> f64 {
    at.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Errors of moments are small near the surface and far from it.
#[test]
fn winding_number_of_a_sphere_is_one_inside_and_zero_outside() {
    let surface = TriangleSurface::new(&sphere(60, [0.0; 3])).unwrap();
    // Depth of facets below the sphere.
    let chord = 1.0 - (PI / 60.0).cos();
    let mut largest = 0.0_f64;
    for at in points(4000) {
        let (winding, r) = (surface.winding_number(at), radius(at));
        if r > 1.0 || r < 1.0 - 3.0 * chord {
            let exact = f64::from(u8::from(r < 1.0));
            largest = largest.max((winding - exact).abs());
            assert_eq!(surface.contains(at), r < 1.0);
        }
    }
    assert!(largest < 0.05, "{largest}");
}

/// A hole, duplicate triangles, and flipped triangles.
#[test]
fn broken_sphere_has_the_same_inside() {
    let whole = sphere(60, [0.0; 3]);
    let hole: Vec<_> = whole.iter().copied().filter(|one| one[0][2] < 0.97).collect();
    assert!(hole.len() + 100 < whole.len());
    let twice: Vec<_> = whole.iter().copied().chain(whole.iter().copied().take(whole.len() / 3)).collect();
    let mut turned = whole.clone();
    let flipped: Vec<usize> = (0..whole.len()).filter(|&k| noise(k) < 0.02).collect();
    assert!(flipped.len() > 50);
    flipped.iter().for_each(|&k| turned[k].swap(0, 1));
    let inside_out: Vec<_> = whole.iter().map(|&[a, b, c]| [b, a, c]).collect();
    // Triangles have edges of about 0.1.
    for (name, triangles, margin) in
        [("hole", &hole, 0.4), ("twice", &twice, 0.01), ("turned", &turned, 0.12), ("inside out", &inside_out, 0.01)]
    {
        let surface = TriangleSurface::new(triangles).unwrap();
        for at in points(3000).filter(|&at| (radius(at) - 1.0).abs() > margin) {
            let winding = surface.winding_number(at);
            assert_eq!(surface.contains(at), radius(at) < 1.0, "{name}: {at:?}, {winding}");
        }
    }
}

/// Solid that must be the same on all ranks of all numbers of ranks.
fn solid_on_all_ranks(make: impl Fn(&World) -> Result<SolidMask> + Sync) -> SolidSummary {
    let mut all = Vec::new();
    for count in launcher::counts(&[1, 2, 3]) {
        let found = run_with(Config::threads(count), |world| {
            let solid = make(world)?;
            let range = -3..40_i64;
            let cells: Vec<[i64; 3]> = range
                .clone()
                .flat_map(|z| range.clone().flat_map(move |y| (-3..40_i64).map(move |x| [x, y, z])))
                .filter(|&at| solid.contains(at))
                .collect();
            assert_eq!(cells.len() as u64, solid.solid_cells());
            Ok(SolidSummary {
                cells,
                bounds: solid.bounds(),
                shadow: [0, 1, 2].map(|axis| solid.shadow_area(axis)),
                centre: solid.centroid(),
            })
        });
        all.extend(found.unwrap());
    }
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
    all.swap_remove(0)
}

#[derive(Debug, PartialEq)]
struct SolidSummary {
    cells: Vec<[i64; 3]>,
    bounds: [Range<i64>; 3],
    shadow: [u64; 3],
    centre: [f64; 3],
}

/// Cells with centres on the faces of a cube.
#[test]
fn cells_on_lower_faces_are_solid_and_on_upper_faces_are_not() {
    let placement = Placement { scale: 1.0, centre: [5.0, 4.0, 3.0] };
    let found = solid_on_all_ranks(|world| {
        TriangleSurface::new(&cube())?.voxelize(world, &placement, &VoxelizationBox::from([12, 9, 7]))
    });
    assert_eq!(found.bounds, [3..7, 2..6, 1..5]);
    assert_eq!((found.cells.len(), found.shadow, found.centre), (64, [16; 3], [4.5, 3.5, 2.5]));
    // Faces between cell centres; a part is outside of the box.
    let placement = Placement { scale: 2.5, centre: [5.5, 4.5, 2.0] };
    let found = solid_on_all_ranks(|world| {
        TriangleSurface::new(&cube())?.voxelize(world, &placement, &VoxelizationBox::from([12, 9, 7]))
    });
    assert_eq!(found.bounds, [1..11, 0..9, 0..7]);
    assert_eq!(found.cells.len(), 10 * 9 * 7);
}

#[test]
fn cells_with_centres_inside_are_solid_also_with_a_hole() {
    let hole: Vec<_> = sphere(40, [0.3, -0.1, 0.0]).into_iter().filter(|one| one[0][2] < 0.8).collect();
    let placement = Placement { scale: 14.7, centre: [18.2, 17.9, 16.4] };
    let found = solid_on_all_ranks(|world| {
        TriangleSurface::new(&hole)?.voxelize(world, &placement, &VoxelizationBox::from([36, 36, 34]))
    });
    let surface = TriangleSurface::new(&hole).unwrap();
    let [low, high] = surface.bounds();
    let mut wanted = Vec::new();
    for (z, y, x) in (0..34).flat_map(|z| (0..36).flat_map(move |y| (0..36).map(move |x| (z, y, x)))) {
        let at = std::array::from_fn(|axis| {
            0.5 * (low[axis] + high[axis]) + ([x, y, z][axis] as f64 - placement.centre[axis]) / placement.scale
        });
        if (0..3).all(|axis| (low[axis]..=high[axis]).contains(&at[axis])) && surface.contains(at) {
            wanted.push([x, y, z]);
        }
    }
    assert!(wanted.len() > 8000, "{}", wanted.len());
    assert_eq!(found.cells, wanted);
}

/// Interpolation of a linear function is exact.
#[test]
fn scan_is_interpolated_between_voxels() {
    let (shape, spacing) = ([6, 5, 4], [1.0, 2.0, 0.5]);
    let value = |at: [f64; 3]| at[0] + 2.0 * at[1] + 3.0 * at[2];
    let middle = |voxel: [i64; 3]| std::array::from_fn(|axis| (voxel[axis] as f64 + 0.5) * spacing[axis]);
    let placement = Placement { scale: 3.0, centre: [10.3, 16.1, 4.2] };
    let grid = Grid::from(spacing);
    let make = |above: f64, below: Option<f64>| {
        move |world: &World| {
            // The closure must not leave the rank.
            let read = scan(shape, move |voxel| value(middle(voxel)));
            ScanVolume { shape, grid, above, below, read_planes: &read }.voxelize(
                world,
                &placement,
                &VoxelizationBox::from([32, 40, 10]),
            )
        }
    };
    let (above, below) = (9.0, 15.0);
    let found = solid_on_all_ranks(make(above, Some(below)));
    let mut wanted = Vec::new();
    for (z, y, x) in (0..10).flat_map(|z| (0..40).flat_map(move |y| (0..32).map(move |x| (z, y, x)))) {
        let at: [f64; 3] = std::array::from_fn(|axis| {
            0.5 * shape[axis] as f64 * spacing[axis] + ([x, y, z][axis] as f64 - placement.centre[axis]) / 3.0
        });
        let in_it = (0..3).all(|axis| (0.0..=shape[axis] as f64 * spacing[axis]).contains(&at[axis]));
        let at =
            std::array::from_fn(|axis| at[axis].clamp(0.5 * spacing[axis], (shape[axis] as f64 - 0.5) * spacing[axis]));
        if in_it && value(at) > above && value(at) <= below {
            wanted.push([x, y, z]);
        }
    }
    assert!(wanted.len() > 500);
    assert_eq!(found.cells, wanted);
}

/// Grids with mirrored, exchanged, rotated and sheared axes, far from the origin.
#[test]
fn scan_on_turned_or_sheared_grid_fills_expected_cells() {
    let (shape, spacing) = ([9, 7, 5], [1.0, 1.25, 2.0]);
    // The last one is a rotation by 180 degrees about y with a rounded sine.
    let directions = [
        [[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [-1.0, 0.0, 0.0]],
        [[0.6, 0.8, 0.0], [-0.48, 0.36, 0.8], [-0.64, 0.48, -0.6]],
        [[1.0, 0.0, 0.0], [0.28, 0.96, 0.0], [-0.36, 0.48, 0.8]],
        [[-1.0, 0.0, -1e-18], [0.0, 1.0, 0.0], [1e-18, 0.0, -1.0]],
    ];
    let value = |index: [f64; 3]| 3.0 * index[0] + 5.0 * index[1] + 11.0 * index[2];
    // No cell has one of these values, and no cell centre is on the border of the scan.
    let (above, below) = (30.4871, Some(77.5133));
    for (number, directions) in directions.into_iter().enumerate() {
        // Cells in planes of voxels, for the rounded sine.
        let (scale, z) = if number < 4 { (2.0, 14.2037) } else { (1.5, 14.0) };
        let placement = Placement { scale, centre: [16.3071, 15.9113, z] };
        let grid = Grid::new([4e3, -6e3, 11.5], spacing).with_directions(directions);
        let found = solid_on_all_ranks(move |world: &World| {
            let read = scan(shape, move |voxel| value(voxel.map(|at| at as f64)));
            ScanVolume { shape, grid, above, below, read_planes: &read }.voxelize(
                world,
                &placement,
                &VoxelizationBox::from([34, 33, 31]),
            )
        });
        let middle = grid.position(shape.map(|n| (n - 1) as f64 / 2.0));
        let mut wanted = Vec::new();
        for (z, y, x) in (0..31).flat_map(|z| (0..33).flat_map(move |y| (0..34).map(move |x| (z, y, x)))) {
            let at =
                std::array::from_fn(|axis| middle[axis] + ([x, y, z][axis] as f64 - placement.centre[axis]) / scale);
            let index = grid.index(at);
            let is_in_scan = (0..3).all(|axis| (-0.5..=shape[axis] as f64 - 0.5).contains(&index[axis]));
            let value = value(std::array::from_fn(|axis| index[axis].clamp(0.0, (shape[axis] - 1) as f64)));
            if is_in_scan && value > above && below.is_none_or(|below| value <= below) {
                wanted.push([x, y, z]);
            }
        }
        assert!(wanted.len() > 1000, "{} on {grid:?}", wanted.len());
        let missing = wanted.iter().filter(|cell| !found.cells.contains(cell)).count();
        let surplus = found.cells.len() + missing - wanted.len();
        assert!(found.cells == wanted, "{missing} are missing, {surplus} too many, on {grid:?}");
    }
}

/// Reader of a scan with computed values.
fn scan(shape: [i64; 3], value: impl Fn([i64; 3]) -> f64) -> impl Fn(Range<i64>, &mut PlaneReceiver<'_>) -> Result<()> {
    move |planes, take| {
        for z in planes {
            let cells = (0..shape[1]).flat_map(|y| (0..shape[0]).map(move |x| [x, y, z]));
            take(z, &cells.map(&value).collect::<Vec<_>>())?;
        }
        Ok(())
    }
}

#[test]
fn surface_scan_and_function_of_a_ball_have_the_same_cells_and_forces() {
    let (extents, middle, radius) = ([36, 20, 20], [11.5, 9.5, 9.5], 4.25);
    let far = move |at: [f64; 3]| -> f64 { (0..3).map(|axis| (at[axis] - middle[axis]).powi(2)).sum::<f64>().sqrt() };
    let forces = run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
        let placement = Placement { scale: radius, centre: middle };
        let surface = TriangleSurface::new(&sphere(80, [3.0, 0.0, -2.0]))?.voxelize(
            world,
            &placement,
            &VoxelizationBox::from(extents),
        )?;
        let read = scan([60, 60, 60], |voxel| {
            1.0 - (0..3).map(|axis| (voxel[axis] as f64 - 29.5).powi(2)).sum::<f64>().sqrt() / 20.0
        });
        let voxels = ScanVolume { shape: [60; 3], grid: [0.25; 3].into(), above: 0.0, below: None, read_planes: &read };
        let voxels = voxels.voxelize(
            world,
            &Placement { scale: radius / 5.0, centre: middle },
            &VoxelizationBox::from(extents),
        )?;
        let function = move |at: [i64; 3]| far(at.map(|x| x as f64)) < radius;
        let stream = std::rc::Rc::new(|_| [0.05, 0.0, 0.0]);
        let mut all = Vec::new();
        let problem = || {
            Problem::new(VelocitySet::D3Q19, extents)
                .sides(0, Side::Velocity(stream.clone()), Side::Outlet(1.0))
                .viscosity(0.02)
                .initial_flow(|_| 1.0, |_| [0.05, 0.0, 0.0])
        };
        for problem in [
            problem().body(middle, function),
            problem().body(surface.centroid(), surface.predicate()),
            problem().body(voxels.centroid(), voxels.predicate()),
        ] {
            let mut flow = Flow::new(world, &problem, &Cut::Auto)?;
            flow.run(40)?;
            all.push((flow.fluid_cells(), flow.hash()?, flow.body_forces()?));
        }
        assert_eq!(surface.centroid(), middle);
        Ok(all)
    });
    for all in forces.unwrap() {
        assert_eq!(all[0], all[1]);
        assert_eq!(all[0], all[2]);
        assert!(all[0].2[0].force[0] > 0.1, "{:?}", all[0].2);
    }
}

#[test]
fn invalid_shape_is_the_same_error_on_every_rank() {
    let error = |make: &(dyn Fn(&World) -> Result<SolidMask> + Sync)| {
        let errors = run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
            let error = make(world).expect_err("a mistake").to_string();
            world.barrier()?;
            Ok(error)
        });
        let errors = errors.unwrap();
        assert!(errors.windows(2).all(|pair| pair[0] == pair[1]), "{errors:?}");
        errors.into_iter().next().unwrap()
    };
    let cell = |scale: f64| Placement { scale, centre: [4.0; 3] };
    let ball = |scale: f64| {
        move |world: &World| {
            TriangleSurface::new(&sphere(8, [0.0; 3]))?.voxelize(world, &cell(scale), &VoxelizationBox::from([9; 3]))
        }
    };
    let voxels = |above: f64, below: Option<f64>| {
        move |world: &World| {
            let read = scan([4; 3], |voxel| voxel[0] as f64);
            ScanVolume { shape: [4; 3], grid: [1.0; 3].into(), above, below, read_planes: &read }.voxelize(
                world,
                &cell(2.0),
                &VoxelizationBox::from([9; 3]),
            )
        }
    };
    let sheet = |world: &World| {
        let sheet = [[[0.0_f32; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]];
        TriangleSurface::new(&sheet)?.voxelize(world, &cell(6.0), &VoxelizationBox::from([9; 3]))
    };
    let checks: [(String, &str); 10] = [
        (error(&|_| Ok(TriangleSurface::new(&[]).map(|_| unreachable!())?)), "no triangles"),
        (error(&|_| Ok(TriangleSurface::new(&[[[f32::NAN; 3]; 3]]).map(|_| unreachable!())?)), "triangle 0"),
        (error(&ball(0.0)), "cells for a unit of a shape is 0"),
        (error(&ball(f64::NAN)), "NaN"),
        (
            error(&|world| {
                TriangleSurface::new(&cube())?.voxelize(
                    world,
                    &Placement { scale: 1.0, centre: [40.0, 4.0, 4.0] },
                    &VoxelizationBox::from([9; 3]),
                )
            }),
            "38.500 to 42.500",
        ),
        (error(&sheet), "no cell inside"),
        (error(&voxels(3.0, None)), "values are from 0 to 3"),
        (error(&voxels(1.0, Some(0.5))), "the second number must be larger"),
        (error(&voxels(f64::INFINITY, None)), "must be finite"),
        (
            error(&|world| {
                let far = Placement { scale: 1e9, centre: [8e6; 3] };
                TriangleSurface::new(&cube())?.voxelize(world, &far, &VoxelizationBox::from([1 << 24; 3]))
            }),
            "needs more memory than there is",
        ),
    ];
    for (found, wanted) in checks {
        assert!(found.contains(wanted), "{found:?} does not say {wanted:?}");
    }
}
