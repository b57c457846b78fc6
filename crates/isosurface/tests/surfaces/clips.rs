//! Clips, against volumes in closed form; conformity of their cells.

use std::collections::{BTreeMap, BTreeSet};

use zippy::{Config, Layout, Split, run_with};
use zippy_isosurface::{Extractor, Grid, Side, volume_statistics};

use super::fields::Field;
use super::solid::{GRID, Solid, alone, assert_positive_volumes, faces};
use super::solids::{cells, corners, plain, volume_of};
use super::support::launcher;

/// Corners of the six tetrahedra of a cell, from the lowest to the highest corner along the axes in
/// each order.
fn tetrahedra(cell: [i64; 3]) -> Vec<[[i64; 3]; 4]> {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let path = |order: [usize; 3]| {
        let mut at = cell;
        let mut step = |axis: usize| {
            at[axis] += 1;
            at
        };
        [cell, step(order[0]), step(order[1]), step(order[2])]
    };
    orders.into_iter().map(path).collect()
}

/// Share of a tetrahedron where a linear function is positive.
fn share_above(values: [f64; 4]) -> f64 {
    let part = |i: usize| {
        let others = (0..4).filter(|&j| j != i).map(|j| values[i] - values[j]).product::<f64>();
        values[i].powi(3) / others
    };
    (0..4).filter(|&i| values[i] > 0.0).map(part).sum()
}

#[test]
fn clips_are_those_of_linear_tetrahedra() {
    // A ball with a rough surface: whole cells exist on both sides.
    let (shape, rough) = ([12, 11, 10], plain([12, 11, 10]));
    let field = Field::new(shape, |at| {
        let square: f32 = at.iter().map(|&i| (i as f32 - 4.9).powi(2)).sum();
        4.1 - square.sqrt() + 0.8 * rough.at(at)
    });
    let above: f64 = cells(shape)
        .flat_map(tetrahedra)
        .map(|four| share_above(four.map(|at| f64::from(field.at(at)))) * 0.5 * 0.75 * 1.25 / 6.0)
        .sum();
    let both = [Side::Above, Side::Below].map(|side| alone(&field, GRID, move |_, one| one.clip(0.0, side, &[])));
    for (solid, expected) in both.iter().zip([above, volume_of(shape) - above]) {
        assert!((solid.found.volume - expected).abs() < 1e-5 * expected, "{} {expected}", solid.found.volume);
    }
    // Points: samples on this side, and points on edges of tetrahedra to the other side.
    let is_above = |at: [i64; 3]| field.at(at) >= 0.0;
    let edges: BTreeSet<([i64; 3], [i64; 3])> = cells(shape)
        .flat_map(tetrahedra)
        .flat_map(|four| (0..4).flat_map(move |i| (i + 1..4).map(move |j| (four[i], four[j]))))
        .filter(|(one, other)| is_above(*one) != is_above(*other))
        .collect();
    let kept = field.samples.iter().filter(|value| **value >= 0.0).count();
    assert_eq!(both[0].found.points, (kept + edges.len()) as u64);
    assert_eq!(both[1].found.points, (field.samples.len() - kept + edges.len()) as u64);
    let whole = cells(shape).filter(|cell| corners(*cell).into_iter().all(is_above)).count();
    assert_eq!(both[0].found.cells.hexahedra, whole as u64);
    both.iter().for_each(|solid| faces_meet(solid, shape));
    both.iter().for_each(assert_positive_volumes);
}

/// Checks that each face has a reversed twin, lies on the border, or is one of two triangles on a
/// hexahedron's face.
fn faces_meet(solid: &Solid, shape: [i64; 3]) {
    // Samples keep their own values; points on cut edges have zero.
    let is_cut = |point: usize| solid.value(point, 0).abs() < 1e-6;
    let borders = shape.map(|n| (n - 1) as f64);
    let on_border = |face: &[usize]| {
        (0..3).any(|axis| {
            let first = GRID.origin[axis];
            [first, first + GRID.spacing[axis] * borders[axis]]
                .iter()
                .any(|side| face.iter().all(|&point| (solid.position(point)[axis] - side).abs() < 1e-6))
        })
    };
    let mut open: BTreeMap<Vec<usize>, (Vec<usize>, bool)> = BTreeMap::new();
    for cell in &solid.cells {
        for face in faces(cell) {
            let mut key = face.clone();
            key.sort_unstable();
            match open.remove(&key) {
                Some((other, _)) => {
                    let start = other.iter().position(|&point| point == face[0]).unwrap();
                    let back: Vec<usize> =
                        (0..face.len()).map(|i| other[(start + face.len() - i) % face.len()]).collect();
                    assert_eq!(face, back, "seen from both sides");
                }
                None => drop(open.insert(key, (face, cell.len() == 8))),
            }
        }
    }
    let alone: Vec<(Vec<usize>, bool)> = open
        .values()
        .filter(|(face, _)| !on_border(face) && !face.iter().all(|&point| is_cut(point)))
        .cloned()
        .collect();
    let triangles: BTreeSet<Vec<usize>> = open.keys().filter(|key| key.len() == 3).cloned().collect();
    let mut met = 0;
    for (face, of_hexahedron) in &alone {
        if !of_hexahedron {
            continue;
        }
        let sum = |point: usize| solid.position(point).iter().sum::<f64>();
        let low = (0..4).min_by(|&a, &b| sum(face[a]).total_cmp(&sum(face[b]))).unwrap();
        let corner = |i: usize| face[(low + i) % 4];
        for half in [[corner(0), corner(1), corner(2)], [corner(0), corner(2), corner(3)]] {
            let mut half = half.to_vec();
            half.sort_unstable();
            assert!(triangles.contains(&half), "{face:?}");
            met += 1;
        }
    }
    assert!(met > 20, "{met}");
    assert_eq!(alone.iter().filter(|(_, of_hexahedron)| !of_hexahedron).count(), met);
}

#[test]
fn half_spaces_are_exact() {
    let shape = [12, 9, 11];
    // A plane along cells (through samples or not), and corners of the box: (x + y + z <= s) has
    // volume s^3 / 6.
    let axis = Field::new(shape, |[x, ..]| 4.3 - x as f32);
    let corner = |s: f32| Field::new(shape, move |[x, y, z]| s - (x + y + z) as f32);
    let all = 11.0 * 8.0 * 10.0;
    for (field, isovalue, expected) in [
        (axis.clone(), 0.0, 4.3 * 80.0),
        (axis, -0.7, 5.0 * 80.0),
        (corner(4.5), 0.0, 4.5_f64.powi(3) / 6.0),
        (corner(5.0), 0.0, 125.0 / 6.0),
    ] {
        let volumes = [Side::Above, Side::Below].map(|side| {
            alone(&field, Grid::default(), move |_, extractor| extractor.clip(isovalue, side, &[])).found.volume
        });
        assert!((volumes[0] - expected).abs() < 1e-4, "{volumes:?} {expected}");
        assert!((volumes[0] + volumes[1] - all).abs() < 1e-4, "{volumes:?}");
    }
}

#[test]
fn balls_converge() {
    let errors = [17, 33, 65].map(|n| {
        let field = Field::new([n; 3], |at| {
            let square: f64 = at.iter().map(|&i| (2.0 * i as f64 / (n - 1) as f64 - 1.0).powi(2)).sum();
            (0.7 - square.sqrt()) as f32
        });
        let grid = Grid::new([-1.0; 3], [2.0 / (n - 1) as f64; 3]);
        let ranks = launcher::counts(&[2])[0];
        let cut = |layout: Layout| layout.split_all(Split::Auto);
        run_with(Config::threads(ranks), |world| {
            let array = field.array(world, &cut(Layout::new(field.shape)), None)?;
            let mesh = Extractor::new(world, &array, grid)?.clip(0.0, Side::Above, &[])?;
            Ok(volume_statistics(world, &mesh)?.volume)
        })
        .unwrap()[0]
            / (4.0 / 3.0 * std::f64::consts::PI * 0.7_f64.powi(3))
            - 1.0
    });
    // Second order: each halving of the distance divides the error by four.
    assert!(errors.windows(2).all(|pair| (3.4..4.6).contains(&(pair[0] / pair[1]))), "{errors:?}");
}
