use std::collections::BTreeSet;
use std::ops::ControlFlow;

use proptest::prelude::*;

use super::*;

fn region(start: &[i64], end: &[i64]) -> Region {
    Region::new(start, end).unwrap()
}

fn cells(regions: &[Region]) -> Vec<Index> {
    regions.iter().flat_map(|region| region.points()).collect()
}

/// Random boxes in a small space, partly empty.
fn boxes(axes: usize) -> impl Strategy<Value = Region> {
    prop::collection::vec((-4_i64..6, 0_i64..5), axes).prop_map(|sides| {
        let start: Vec<_> = sides.iter().map(|(start, _)| *start).collect();
        let end: Vec<_> = sides.iter().map(|(start, extent)| start + extent).collect();
        region(&start, &end)
    })
}

fn two_boxes() -> impl Strategy<Value = (Region, Region)> {
    (1_usize..5).prop_flat_map(|axes| (boxes(axes), boxes(axes)))
}

fn widths(axes: usize) -> impl Strategy<Value = Index> {
    prop::collection::vec(0_i64..4, axes).prop_map(|widths| Index::new(&widths))
}

#[test]
fn user_input_is_checked() {
    assert!(Region::new(&[0, 3], &[4, 2]).unwrap_err().to_string().contains("axis 1"));
    assert!(matches!(Region::new(&[0], &[1, 2]), Err(RegionError::Axes { .. })));
    assert!(matches!(Region::new(&[], &[]), Err(RegionError::AxisCount { given: 0 })));
    assert!(matches!(Region::new(&[0; 8], &[1; 8]), Err(RegionError::AxisCount { given: 8 })));
    assert!(matches!(Region::new(&[i64::MIN], &[i64::MAX]), Err(RegionError::Overflow { .. })));
    assert!(matches!(Region::new(&[0, 0], &[1 << 40, 1 << 40]), Err(RegionError::Overflow { .. })));
    assert!(region(&[0, 0], &[i64::MAX, 0]).is_empty());
    assert_eq!(region(&[5], &[9]).translate(&Index::new(&[-7])), region(&[-2], &[2]));
}

#[test]
fn bounds_are_checked_for_empty_regions_too() {
    let bounds = Region::whole(Index::from([8, 6]));
    assert!(region(&[0, 0], &[8, 6]).check_within(&bounds, "array A").is_ok());
    assert!(region(&[8, 6], &[8, 6]).check_within(&bounds, "array A").is_ok());
    let error = region(&[9, 0], &[9, 6]).check_within(&bounds, "array A").unwrap_err();
    assert_eq!(error.to_string(), "region [9..9, 0..6] leaves array A, which is [0..8, 0..6], on axis 0");
    assert!(matches!(region(&[0], &[1]).check_within(&bounds, "A"), Err(RegionError::Axes { .. })));
}

#[test]
fn points_and_offsets_run_axis_zero_fastest() {
    let region = region(&[-1, 4, 2], &[2, 6, 5]);
    let points: Vec<_> = region.points().collect();
    assert_eq!(points.len() as u64, region.cells());
    assert_eq!(points[1], Index::from([0, 4, 2]));
    for (offset, point) in points.iter().enumerate() {
        assert_eq!(region.offset(point), offset as u64);
    }
}

#[test]
fn next_and_fold_of_points_equal_nested_loops() {
    let boxes = [
        (vec![3], vec![3]),
        (vec![-2], vec![5]),
        (vec![0, 4], vec![0, 9]),
        (vec![1, 4], vec![3, 4]),
        (vec![-1, 4, 2], vec![2, 6, 5]),
        (vec![0, -3, 1, 0, 5, 2, 7], vec![3, -1, 2, 2, 8, 4, 12]),
    ];
    for (start, end) in boxes {
        let region = region(&start, &end);
        let mut expected = vec![Vec::new()];
        for axis in (0..start.len()).rev() {
            let longer = |rest: &Vec<i64>| {
                let rest = rest.clone();
                (start[axis]..end[axis]).map(move |x| std::iter::once(x).chain(rest.clone()).collect::<Vec<i64>>())
            };
            expected = expected.iter().flat_map(longer).collect();
        }
        let mut points = region.points();
        let mut found = Vec::new();
        while let Some(point) = points.next() {
            found.push(point.to_vec());
            assert_eq!(points.size_hint(), (expected.len() - found.len(), Some(expected.len() - found.len())));
        }
        assert_eq!(found, expected, "{region}");
        for first in 0..=expected.len().min(5) {
            let mut rest = region.points();
            for _ in 0..first {
                rest.next();
            }
            let mut folded = Vec::new();
            rest.for_each(|point| folded.push(point.to_vec()));
            assert_eq!(folded, expected[first..], "{region} after {first}");
        }
        let rows: Vec<Vec<i64>> = expected.into_iter().filter(|point| point[0] == start[0]).collect();
        assert_eq!(region.rows().map(|row| row.to_vec()).collect::<Vec<_>>(), rows, "{region}");
    }
}

#[test]
fn join_returns_a_box_or_none() {
    let a = region(&[0, 0], &[2, 3]);
    assert_eq!(a.join(&region(&[2, 0], &[5, 3])), Some(region(&[0, 0], &[5, 3])));
    assert_eq!(region(&[2, 0], &[5, 3]).join(&a), Some(region(&[0, 0], &[5, 3])));
    assert_eq!(a.join(&region(&[2, 0], &[5, 2])), None);
    assert_eq!(a.join(&region(&[3, 0], &[5, 3])), None);
    assert_eq!(a.join(&region(&[1, 0], &[5, 3])), None);
    assert_eq!(a.join(&a), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn algebra_agrees_with_sets_of_cells((a, b) in two_boxes()) {
        let (in_a, in_b): (BTreeSet<_>, BTreeSet<_>) = (a.points().collect(), b.points().collect());
        let common: BTreeSet<_> = a.intersect(&b).map_or(BTreeSet::new(), |region| region.points().collect());
        prop_assert_eq!(&common, &in_a.intersection(&in_b).copied().collect());
        prop_assert_eq!(a.intersects(&b), !common.is_empty());
        prop_assert_eq!(a.covers(&b), in_b.is_subset(&in_a));
        let pieces = a.subtract(&b);
        let rest = cells(&pieces);
        prop_assert!(pieces.len() <= 2 * a.axes());
        prop_assert!(pieces.iter().all(|piece| !piece.is_empty()));
        prop_assert_eq!(rest.len(), rest.iter().collect::<BTreeSet<_>>().len(), "pieces overlap");
        prop_assert_eq!(rest.into_iter().collect::<BTreeSet<_>>(), &in_a - &in_b);
        if let Some(joined) = a.join(&b).filter(|_| !a.is_empty() && !b.is_empty()) {
            prop_assert_eq!(joined.points().collect::<BTreeSet<_>>(), &in_a | &in_b);
        }
    }

    #[test]
    fn shells_and_tiles_partition(
        (a, lo, hi) in (1_usize..5).prop_flat_map(|axes| (boxes(axes), widths(axes), widths(axes)))
    ) {
        let all: BTreeSet<_> = a.points().collect();
        let shell = cells(&a.shell(&lo, &hi));
        let near = |cell: &Index| (0..a.axes())
            .any(|axis| cell[axis] < a.start[axis] + lo[axis] || cell[axis] >= a.end[axis] - hi[axis]);
        prop_assert_eq!(shell.iter().copied().collect::<BTreeSet<_>>(),
            all.iter().copied().filter(near).collect::<BTreeSet<_>>());
        prop_assert_eq!(shell.len(), shell.iter().collect::<BTreeSet<_>>().len());
        prop_assert!(a.covers(&a.shrink(&lo, &hi)));
        prop_assert_eq!(a.grow(&lo, &hi).shrink(&lo, &hi), a);
        let tiles: Vec<_> = a.tiles(&lo).collect();
        prop_assert!(tiles.iter().all(|tile| (0..a.axes()).all(|axis| tile.extents()[axis] <= lo[axis].max(1))));
        let tiled = cells(&tiles);
        prop_assert_eq!(tiled.len(), all.len());
        prop_assert_eq!(tiled.into_iter().collect::<BTreeSet<_>>(), all);
    }

    #[test]
    fn region_tree_finds_exactly_the_overlaps(
        (list, query) in (1_usize..4).prop_flat_map(|axes| (prop::collection::vec(boxes(axes), 0..60), boxes(axes)))
    ) {
        let tree = RegionTree::new(&list);
        let mut found = Vec::new();
        let _ = tree.visit(&query, &mut |item, part| { found.push((item, part)); ControlFlow::Continue(()) });
        found.sort_unstable();
        let expected: Vec<_> = list.iter().enumerate()
            .filter_map(|(item, region)| region.intersect(&query).map(|part| (item, part))).collect();
        prop_assert_eq!(found, expected);
        let overlap = (0..list.len()).any(|a| (0..a).any(|b| list[a].intersects(&list[b])));
        prop_assert_eq!(tree.overlapping_pair().is_some(), overlap);
        if let Some((a, b)) = tree.overlapping_pair() {
            prop_assert!(a != b && list[a].intersects(&list[b]));
        }
    }
}
