//! Tests that balanced boxes tile the shape, count their points, are better balanced than regular
//! blocks, and list their neighbours.

use zippy::region::Region;
use zippy::{Layout, Result, World};
use zippy_primitives::Primitives;
use zippy_primitives::kdtree::{BalancedBoxes, Point};

use crate::algorithms::sequences::pseudo_random_number;
use crate::algorithms::vectors::{Spread, vector};
use crate::support;

/// Returns a pseudo-random number between −1 and 1, concentrated near 0: a sum of uniform numbers.
fn pseudo_random_offset(i: usize) -> f64 {
    let unit = |i: usize| f64::from(pseudo_random_number(i)) / f64::from(u32::MAX);
    (0..12).map(|part| unit(13 * i + part) - 0.5).sum::<f64>() / 6.0
}

/// Returns points in four clusters of different sizes in a unit square or cube, scaled to a shape.
fn blobs<P: Point>(n: usize, shape: &[i64]) -> Vec<P> {
    const BLOBS: [([f64; 3], f64); 4] =
        [([0.2, 0.3, 0.6], 0.05), ([0.7, 0.25, 0.3], 0.02), ([0.6, 0.8, 0.5], 0.1), ([0.61, 0.79, 0.45], 0.01)];
    let point = |i: usize| {
        let (centre, size) = BLOBS[pseudo_random_number(i) as usize % 4];
        let mut parts = [0.0; 4];
        for (axis, &extent) in shape.iter().enumerate() {
            let at = centre[axis] + size * 2.0 * pseudo_random_offset(3 * i + axis);
            parts[axis] = ((at * extent as f64) as f32).clamp(0.0, extent as f32 - 1.0);
        }
        P::from_parts(parts)
    };
    (0..n).map(point).collect()
}

fn points_in_boxes<P: Point>(values: &[P], boxes: &[Region]) -> Vec<u64> {
    let is_in = |point: &P, region: &Region| {
        let at = point.position();
        (0..region.axes()).all(|axis| region.start[axis] as f32 <= at[axis] && at[axis] < region.end[axis] as f32)
    };
    boxes.iter().map(|region| values.iter().filter(|point| is_in(point, region)).count() as u64).collect()
}

/// True if two boxes are neighbours by definition: a cell of one box and a cell of the other differ
/// by at most one on every axis.
fn are_neighbours(a: &Region, b: &Region, shape: &[i64], periodic: &[bool]) -> bool {
    (0..shape.len()).all(|axis| {
        let shifts = if periodic[axis] { vec![-shape[axis], 0, shape[axis]] } else { vec![0] };
        shifts.iter().any(|by| a.start[axis] + by <= b.end[axis] && b.start[axis] <= a.end[axis] + by)
    })
}

/// Computes balanced boxes by definition: tries every plane of every axis.
fn balanced_boxes_by_definition<P: Point>(values: &[P], region: Region, count: usize, boxes: &mut Vec<Region>) {
    if count == 1 {
        return boxes.push(region);
    }
    let (extents, n) = (region.extents(), points_in_boxes(values, &[region])[0]);
    let halves = |axis: usize, at: i64| {
        let (mut lower, mut upper) = (region, region);
        (lower.end[axis], upper.start[axis]) = (at, at);
        [lower, upper]
    };
    let mut best = None;
    for axis in 0..extents.axes() {
        let mut of_axis: Option<(u64, [Region; 2])> = None;
        let enough = |at: &i64| {
            let [lower, upper] = halves(axis, *at);
            lower.cells() >= count as u64 / 2 && upper.cells() >= count.div_ceil(2) as u64
        };
        let mut planes: Vec<i64> = (region.start[axis] + 1..region.end[axis]).filter(enough).collect();
        if n == 0 {
            // In proportion to the numbers of boxes.
            let ideal = region.start[axis] + extents[axis] * (count as i64 / 2) / count as i64;
            planes.sort_by_key(|at| (at - ideal).abs());
            planes.truncate(1);
        }
        for at in planes {
            let (below, ideal) =
                (points_in_boxes(values, &halves(axis, at)[..1])[0] * count as u64, n * (count as u64 / 2));
            let error = below.abs_diff(ideal);
            // Of equal planes between points: the last plane with at most the wanted number below
            // it, or the first plane with more.
            if of_axis.is_none_or(|(least, _)| error < least || error == least && below <= ideal) {
                of_axis = Some((error, halves(axis, at)));
            }
        }
        if let Some((error, halves)) = of_axis {
            let merit = (error * 10_000 / (n.max(1) * count as u64), -extents[axis]);
            if best.is_none_or(|(least, _)| merit < least) {
                best = Some((merit, halves));
            }
        }
    }
    let (_, [lower, upper]) = best.expect("a plane that leaves both sides enough cells");
    balanced_boxes_by_definition(values, lower, count / 2, boxes);
    balanced_boxes_by_definition(values, upper, count - count / 2, boxes);
}

#[test]
fn boxes_are_cut_where_points_are_divided_best() {
    support::ranks(&[1, 3], |world| {
        for (n, count) in [(500, 7), (33, 4), (900, 12), (2, 5), (0, 6)] {
            for shape in [[61, 40], [300, 9]] {
                let values: Vec<[f32; 2]> = blobs(n, &shape);
                let mut expected = Vec::new();
                balanced_boxes_by_definition(&values, Region::new(&[0; 2], &shape)?, count, &mut expected);
                assert_eq!(
                    check_balanced_boxes(world, &values, &shape, count)?.boxes(),
                    expected,
                    "{n} points, {count} of {shape:?}"
                );
            }
        }
        // More planes than are counted in one pass.
        let shape = [700_i64, 5, 6];
        let values: Vec<[f32; 4]> = blobs(400, &shape);
        let mut expected = Vec::new();
        balanced_boxes_by_definition(&values, Region::new(&[0; 3], &shape)?, 9, &mut expected);
        assert_eq!(check_balanced_boxes(world, &values, &shape, 9)?.boxes(), expected);
        Ok(())
    });
}

fn check_balanced_boxes<P: Point>(world: &World, values: &[P], shape: &[i64], count: usize) -> Result<BalancedBoxes> {
    let label = format!("{} points in {shape:?} cells and {count} boxes", values.len());
    let points = vector(world, "points", values, Spread::Odd)?;
    let cuts = world.vectors().balanced_boxes(&points, shape, count)?;
    assert_eq!(cuts.boxes().len(), count, "{label}");
    assert!(cuts.boxes().iter().all(|region| !region.is_empty()), "{label}");
    // Fails unless the boxes are disjoint and cover the shape.
    Layout::from_shape(shape).boxes(cuts.boxes().to_vec()).resolve(world.size(), 4, u64::MAX)?;
    let expected = points_in_boxes(values, cuts.boxes());
    assert_eq!(cuts.points(), expected, "{label}");
    let (most, mean) = (*expected.iter().max().unwrap() as f64, values.len() as f64 / count as f64);
    assert!((cuts.imbalance() - if values.is_empty() { 1.0 } else { most / mean }).abs() < 1e-9, "{label}");
    for periods in 0..1 << shape.len() {
        let periodic: Vec<bool> = (0..shape.len()).map(|axis| periods >> axis & 1 == 1).collect();
        let neighbours = cuts.neighbours(&periodic)?;
        for (i, (a, found)) in cuts.boxes().iter().zip(&neighbours).enumerate() {
            let near = (0..count).filter(|&j| j != i && are_neighbours(a, &cuts.boxes()[j], shape, &periodic));
            assert_eq!(*found, near.collect::<Vec<_>>(), "neighbours of box {i}, periodic {periodic:?}, {label}");
        }
    }
    // All ranks must have the same result as one rank.
    let text = format!("{cuts:?}");
    let all = world.group().all_gather_v(Box::new(text.clone().into_bytes()))?;
    assert!(all.iter().all(|other| (**other).as_ref() == text.as_bytes()), "{label}");
    Ok(cuts)
}

#[test]
fn boxes_tile_and_are_counted_on_any_grid() {
    support::ranks(support::RANKS, |world| {
        for count in [1, 2, 3, 5, 8, 13, 40] {
            for n in [0, 1, 7, 3000] {
                check_balanced_boxes::<[f32; 2]>(world, &blobs(n, &[61, 40]), &[61, 40], count)?;
            }
            check_balanced_boxes::<[f32; 4]>(world, &blobs(2000, &[20, 33, 17]), &[20, 33, 17], count)?;
        }
        // As many boxes as cells, or nearly as many.
        for (shape, count) in [([3, 3], 9), ([3, 3], 8), ([1, 7], 7), ([5, 4], 19), ([2, 9], 17)] {
            check_balanced_boxes::<[f32; 2]>(world, &blobs(100, &shape), &shape, count)?;
        }
        let equal = vec![[30.5_f32, 2.0]; 200];
        check_balanced_boxes(world, &equal, &[61, 40], 6)?;
        check_balanced_boxes(world, &equal, &[1 << 40, 1 << 20], 6)?;
        Ok(())
    });
}

/// Returns the imbalance of regular blocks: maximum number of points divided by the mean.
fn imbalance_of_regular_blocks<P: Point>(values: &[P], shape: &[i64], blocks: &[i64]) -> f64 {
    let mut counts = vec![0_u64; blocks.iter().product::<i64>() as usize];
    for point in values {
        let at = point.position();
        let place = (0..shape.len()).rev().fold(0, |place, axis| {
            place * blocks[axis] + (at[axis] as i64 * blocks[axis] / shape[axis]).min(blocks[axis] - 1)
        });
        counts[place as usize] += 1;
    }
    *counts.iter().max().unwrap() as f64 * counts.len() as f64 / values.len() as f64
}

#[test]
fn clustered_points_are_balanced_where_regular_blocks_are_not() {
    support::ranks(&[1, 4], |world| {
        let shape = [1 << 16; 2];
        let values: Vec<[f32; 2]> = blobs(40_000, &shape);
        for (count, blocks) in [(16, [4, 4]), (13, [13, 1]), (36, [6, 6])] {
            let balanced = check_balanced_boxes(world, &values, &shape, count)?.imbalance();
            let even = imbalance_of_regular_blocks(&values, &shape, &blocks);
            assert!(balanced <= 1.01, "{count} boxes: {balanced}");
            assert!(even > 3.0, "{count} blocks: {even}");
        }
        let shape = [1 << 15; 3];
        let values: Vec<[f32; 4]> = blobs(40_000, &shape);
        let balanced = check_balanced_boxes(world, &values, &shape, 27)?.imbalance();
        let even = imbalance_of_regular_blocks(&values, &shape, &[3, 3, 3]);
        assert!(balanced <= 1.01 && even > 5.0, "27 boxes: {balanced}, blocks {even}");
        Ok(())
    });
}

#[test]
fn boxes_do_not_depend_on_ranks() {
    let found = std::sync::Mutex::new(None);
    support::ranks(support::RANKS, |world| {
        let cuts = check_balanced_boxes::<[f32; 2]>(world, &blobs(5000, &[500, 300]), &[500, 300], 11)?;
        let mut found = found.lock().unwrap();
        assert_eq!(*found.get_or_insert(cuts.clone()), cuts);
        Ok(())
    });
}

#[test]
fn mistakes_return_errors() {
    support::ranks(&[1, 3], |world| {
        let on = world.vectors();
        let mut values: Vec<[f32; 2]> = blobs(50, &[20, 30]);
        let good = vector(world, "good", &values, Spread::Auto)?;
        let says = |shape: &[i64], boxes, text: &str| {
            let error = on.balanced_boxes(&good, shape, boxes).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        };
        says(&[20, 30], 0, "into 0 boxes");
        says(&[20, 30], 601, "at most 600");
        says(&[0, 30], 1, "at most 0");
        says(&[20, 30, 4], 3, "the shape has 3 axes, but the points have 2");
        says(&[20, -1], 3, "backwards");
        for bad in [[-0.5, 2.0], [20.0, 2.0], [3.0, f32::NAN], [3.0, f32::INFINITY]] {
            values[41] = bad;
            let array = vector(world, "bad", &values, Spread::Odd)?;
            let error = on.balanced_boxes(&array, &[20, 30], 4).unwrap_err().to_string();
            assert!(error.contains("point 41 of") && error.contains("20 x 30"), "{error}");
            assert!(error.contains(&format!("{bad:?}")), "{error}");
        }
        let cuts = on.balanced_boxes(&good, &[20, 30], 4)?;
        let error = cuts.neighbours(&[true]).unwrap_err().to_string();
        assert!(error.contains("the list of periodic axes has 1 axes"), "{error}");
        Ok(())
    });
}
