//! Tests that compare queries of k-d trees with a search over all points.

use zippy::{Result, World};
use zippy_primitives::Primitives;
use zippy_primitives::kdtree::{Neighbour, Point, Position};

use super::kdtree::{KINDS, points, unit};
use crate::algorithms::sequences::pseudo_random_number;
use crate::algorithms::vectors::{Spread, vector};
use crate::support;

fn distance(a: &Position, b: &Position) -> f32 {
    let mut sum = 0.0;
    for axis in 0..3 {
        sum += (a[axis] - b[axis]) * (a[axis] - b[axis]);
    }
    sum
}

/// Returns all points as neighbours of a query, sorted by distance and index.
fn neighbours_by_distance<P: Point>(values: &[P], query: P) -> Vec<Neighbour> {
    let near = |(index, point): (usize, &P)| Neighbour {
        index: index as u64,
        squared_distance: distance(&point.position(), &query.position()),
    };
    let mut near: Vec<Neighbour> = values.iter().enumerate().map(near).collect();
    near.sort_by(|a, b| a.squared_distance.total_cmp(&b.squared_distance).then(a.index.cmp(&b.index)));
    near
}

fn indices_in_box<P: Point>(values: &[P], [low, high]: [P; 2]) -> Vec<u64> {
    let (low, high) = (low.position(), high.position());
    let is_in = |at: Position| (0..3).all(|axis| low[axis] <= at[axis] && at[axis] <= high[axis]);
    (0..values.len()).filter(|&i| is_in(values[i].position())).map(|i| i as u64).collect()
}

/// Returns query positions on points, between points and outside of them. Some ranks have no query.
fn queries<P: Point>(world: &World, values: &[P]) -> Vec<P> {
    if world.rank() % 3 == 2 {
        return Vec::new();
    }
    let some = |i: usize| {
        let seed = pseudo_random_number(i + 100 * world.rank()) as usize;
        let [mut x, mut y, mut z, w] = values.get(seed % values.len().max(1)).map_or([0.5; 4], |one| one.to_parts());
        if i % 2 == 1 {
            (x, y, z) = (x + unit(seed) - 0.5, y - unit(seed + 1), z * unit(seed + 2));
        }
        if i % 5 == 4 {
            (x, y) = (-40.0 * y.clamp(-1e30, 1e30), x / 3.0);
        }
        P::from_parts([x, y, z, w])
    };
    (0..8).map(some).collect()
}

fn compare_queries_with_search_over_all_points<P: Point>(
    world: &World,
    kind: &str,
    values: &[P],
    leaves: usize,
) -> Result<()> {
    let array = vector(world, "asked", values, Spread::Auto)?;
    let tree = world.vectors().kdtree("asked: tree", &array, leaves)?;
    let queries = queries(world, values);
    let expected: Vec<Vec<Neighbour>> = queries.iter().map(|&query| neighbours_by_distance(values, query)).collect();
    let label = format!("{} points {kind}, {leaves} leaves", values.len());
    for k in [1, 2, 7, 60, values.len() + 5, usize::MAX] {
        let found = world.vectors().nearest(&tree, &queries, k)?;
        let nearest: Vec<&[Neighbour]> = expected.iter().map(|list| &list[..k.min(list.len())]).collect();
        assert_eq!(found, nearest, "{k} of {label}");
    }
    for radius in [0.0, 0.3, 1.0, 2.5, 100.0, 1e30, f32::INFINITY] {
        let found = world.vectors().within(&tree, &queries, radius)?;
        let near = |list: &Vec<Neighbour>| {
            list.iter().copied().filter(|one| one.squared_distance <= radius * radius).collect::<Vec<_>>()
        };
        assert_eq!(found, expected.iter().map(near).collect::<Vec<_>>(), "radius {radius}, {label}");
    }
    let mut boxes = Vec::new();
    for (i, query) in queries.iter().enumerate() {
        let size = [0.0, 0.5, 4.0, f32::INFINITY][i % 4];
        let corner = |size: f32| P::from_parts(query.to_parts().map(|x| x + size));
        boxes.push([corner(-size), corner(size)]);
    }
    let found = world.vectors().in_boxes(&tree, &boxes)?;
    assert_eq!(found, boxes.iter().map(|&query| indices_in_box(values, query)).collect::<Vec<_>>(), "boxes, {label}");
    Ok(())
}

#[test]
fn queries_agree_with_search_over_all_points() {
    support::ranks(&[1, 2, 5], |world| {
        for (kind, point) in KINDS {
            for (n, leaves) in [(0, 3), (1, 1), (3, 8), (100, 1), (100, 13), (1200, 8)] {
                match leaves {
                    8 => {
                        compare_queries_with_search_over_all_points::<[f32; 2]>(world, kind, &points(point, n), leaves)?
                    }
                    _ => {
                        compare_queries_with_search_over_all_points::<[f32; 4]>(world, kind, &points(point, n), leaves)?
                    }
                }
            }
            compare_queries_with_search_over_all_points::<[f32; 2]>(world, kind, &points(point, 90), 5)?;
        }
        Ok(())
    });
}

#[test]
fn mistakes_in_queries_return_errors() {
    support::ranks(&[1, 3], |world| {
        let on = world.vectors();
        let good = vector(world, "good", &points::<[f32; 2]>(KINDS[0].1, 50), Spread::Auto)?;
        let tree = on.kdtree("tree", &good, 4)?;
        assert!(on.nearest(&tree, &[], 0).unwrap_err().to_string().contains("request 1 or more"));
        for radius in [-1.0, f32::NAN, f32::NEG_INFINITY] {
            let error = on.within(&tree, &[], radius).unwrap_err().to_string();
            assert!(error.contains(&format!("{radius}")), "{error}");
        }
        // Only the last rank makes these mistakes.
        let last = world.rank() + 1 == world.size();
        let queries: &[[f32; 2]] = if last { &[[0.0, 1.0], [f32::NAN, 0.0]] } else { &[[0.5, 0.5]] };
        let boxes: &[[[f32; 2]; 2]] = if last { &[[[0.0, 3.0], [1.0, 2.0]]] } else { &[] };
        let nan: &[[[f32; 2]; 2]] = if last { &[[[0.0, 3.0], [f32::NAN, 4.0]]] } else { &[] };
        for (error, text) in [
            (on.nearest(&tree, queries, 2).unwrap_err(), "query 1 is at [NaN, 0.0]"),
            (on.within(&tree, queries, 2.0).unwrap_err(), "query 1 is at [NaN, 0.0]"),
            (on.in_boxes(&tree, boxes).unwrap_err(), "box 0 goes from 3 to 2 on axis 1"),
            (on.in_boxes(&tree, nan).unwrap_err(), "box 0 goes from 0 to NaN on axis 0"),
        ] {
            assert!(error.to_string().contains(text), "{error}");
        }
        assert_eq!(on.nearest(&tree, &[[0.5, 0.5]], 3)?[0].len(), 3, "the world is as good as before");
        Ok(())
    });
}
