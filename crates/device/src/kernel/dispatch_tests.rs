//! Tests that evaluate dispatches on the host from their geometry words: for all splits, every
//! invocation runs once and workgroups are complete.

use std::collections::BTreeMap;

use super::dispatch::{Dispatch, Grid, Shape, dispatches};
use super::geometry::{DomainMap, MAX_BOXES_OF_DISPATCH, vectors};
use crate::extents::Index;

/// Returns the position of an invocation and the index of its workgroup (along x, y and z),
/// computed from the words of its dispatch.
fn position_and_workgroup(words: &[i32], axes: usize, id: [i64; 3], workgroup: [i64; 3]) -> Option<(Index, [i64; 3])> {
    let map = DomainMap::new(axes);
    let word = |vector: usize, k: usize| i64::from(words[4 * vector + k]);
    let passed =
        (0..MAX_BOXES_OF_DISPATCH).filter(|&k| word(0, 0) > 1 && id[2] >= word(map.starts + k / 4, k % 4)).count();
    let at = map.boxes + passed * map.vectors_per_box;
    let in_box = [id[0], id[1], id[2] - word(at, 3)];
    if (0..3).any(|k| !(0..word(at, k)).contains(&in_box[k])) {
        return None;
    }
    let number = std::array::from_fn(|k| (in_box[k] + word(at + 1, k)) / workgroup[k]);
    let tuple = |t: usize, k: usize| word(at + 2 + t * vectors(axes) + k / 4, k % 4);
    let mut p = Index::from_fn(axes, |axis| tuple(0, axis));
    if axes <= 4 {
        let mut along = [in_box[0], in_box[1], in_box[2], 0];
        if axes == 4 {
            let z = in_box[2] + word(at + 1, 2);
            let fold = word(at + 7, 0);
            along[2] = z % fold;
            along[3] = z / fold;
        }
        for (direction, steps) in along.into_iter().enumerate().take(axes.max(3)) {
            (0..axes).for_each(|axis| p[axis] += steps * tuple(1 + direction, axis));
        }
        return Some((p, number));
    }
    let mut folded = in_box[2] + word(at + 1, 2);
    for k in 0..axes {
        let (axis, extent) = (tuple(1, k) as usize, tuple(2, k));
        let steps = match k {
            0 => in_box[0],
            1 => in_box[1],
            _ => folded % extent,
        };
        folded /= if k > 1 { extent } else { 1 };
        p[axis] += steps * if axis == 0 { word(0, 1) } else { 1 };
    }
    Some((p, number))
}

/// Returns every position of the grid with the index of its workgroup. Asserts that no position
/// occurs twice and that no dispatch exceeds the limit.
fn collect_positions(grid: &Grid, shape: &Shape) -> BTreeMap<Index, [i64; 3]> {
    let workgroup = shape.workgroup.map(i64::from);
    let mut visited = BTreeMap::new();
    for Dispatch { words, groups } in dispatches(grid, shape).unwrap() {
        assert!(groups.iter().all(|&n| 0 < n && n <= shape.limit), "{groups:?} of {grid:?}");
        let [x, y, z] = std::array::from_fn(|k| i64::from(groups[k]) * workgroup[k]);
        // Invocations of one workgroup have one box, and their cells one number.
        for id in (0..z).flat_map(|z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z]))) {
            let Some((p, number)) = position_and_workgroup(&words, grid.lo.axes(), id, workgroup) else { continue };
            assert_eq!(visited.insert(p, number), None, "{p:?} twice, {grid:?} {shape:?}");
        }
    }
    visited
}

fn whole_domain_grid(extents: &[i64], in_order: bool) -> Grid {
    let extent = Index::new(extents);
    let lo = Index::zeros(extent.axes());
    Grid { boxes: vec![(lo, extent)], step: 1, lo, extent, in_order, separate: false }
}

const SHAPES: [&[i64]; 12] = [
    &[1],
    &[97],
    &[13, 29],
    &[40, 1],
    &[7, 3, 11],
    &[33, 5, 2],
    &[3, 4, 5, 7],
    &[5, 1, 9, 1],
    &[3, 2, 3, 4, 5],
    &[2, 3, 2, 3, 2, 4],
    &[3, 2, 2, 3, 2, 2, 3],
    &[35, 1, 2, 1, 3],
];

const WORKGROUPS: [[u32; 3]; 6] = [[1, 1, 1], [4, 1, 1], [8, 2, 1], [2, 2, 2], [1, 1, 4], [3, 1, 5]];

#[test]
fn workgroups_in_order_are_the_same_in_every_cut() {
    for extents in SHAPES {
        for workgroup in WORKGROUPS {
            let size = workgroup.map(i64::from);
            for limit in [1, 2, 3, 7, 1000] {
                let visited = collect_positions(&whole_domain_grid(extents, true), &Shape { workgroup, limit });
                let of = |axis: usize| extents.get(axis).copied().unwrap_or(1);
                let cells = extents.iter().product::<i64>();
                assert_eq!(visited.len() as i64, cells);
                for (p, number) in visited {
                    // By definition: axis 0, axis 1, and the others folded, the slowest last.
                    let folded = (2..extents.len()).rev().fold(0, |sum, axis| sum * of(axis) + p[axis]);
                    let along = [p[0], if extents.len() > 1 { p[1] } else { 0 }, folded];
                    let expected: [i64; 3] = std::array::from_fn(|k| along[k] / size[k]);
                    assert_eq!(number, expected, "{p:?} of {extents:?}, {workgroup:?}, at most {limit}");
                }
            }
        }
    }
}

#[test]
fn every_invocation_runs_once_in_any_axis_order() {
    for extents in SHAPES {
        for workgroup in WORKGROUPS {
            for limit in [1, 2, 5, 1000] {
                let visited = collect_positions(&whole_domain_grid(extents, false), &Shape { workgroup, limit });
                assert_eq!(visited.len() as i64, extents.iter().product::<i64>(), "{extents:?}");
                let inside = |p: &Index| p.iter().zip(extents).all(|(p, n)| (0..*n).contains(p));
                assert!(visited.keys().all(inside), "{extents:?}");
            }
        }
    }
}

#[test]
fn boxes_and_words_of_several_cells_are_run_once() {
    for (in_order, separate) in [(false, false), (true, false), (true, true)] {
        for step in [1, 2, 4] {
            let boxes: Vec<_> = (0..40)
                .map(|k| (Index::from([step * (30 * (k % 5)) - 3, 20 * k]), Index::from([1 + k % 29, 1 + k % 19])))
                .collect();
            let (lo, extent) = (Index::from([-3, 0]), Index::from([150, 820]));
            let grid = Grid { boxes: boxes.clone(), step, lo, extent, in_order, separate };
            let visited = collect_positions(&grid, &Shape { workgroup: [8, 1, 2], limit: 9 });
            let mut expected = Vec::new();
            for (origin, extents) in boxes {
                for y in 0..extents[1] {
                    expected.extend((0..extents[0]).map(|x| Index::from([origin[0] + x * step, origin[1] + y])));
                }
            }
            expected.sort();
            assert_eq!(visited.into_keys().collect::<Vec<_>>(), expected);
        }
    }
}

#[test]
fn too_many_parts_or_folded_axes_are_errors() {
    let shape = Shape { workgroup: [1, 1, 1], limit: 65_535 };
    let error = dispatches(&whole_domain_grid(&[1 << 30, 1 << 30], true), &shape).unwrap_err();
    assert!(error.contains("1073741824 x 1073741824 invocations") && error.contains("65536 are possible"), "{error}");
    let error = dispatches(&whole_domain_grid(&[1, 1, 1 << 16, 1 << 15], true), &shape).unwrap_err();
    assert!(error.contains("from axis 2 on") && error.contains("2147483648 invocations"), "{error}");
    assert_eq!(dispatches(&whole_domain_grid(&[(1 << 31) - 1], true), &shape).unwrap().len(), 32_769);
}
