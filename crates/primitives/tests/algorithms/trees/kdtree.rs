//! Tests that compare k-d trees with a plain builder.

use std::ops::Range;

use zippy::error::ErrorKind;
use zippy::{Config, Error, Result, World, run_with};
use zippy_primitives::Primitives;
use zippy_primitives::kdtree::{Bounds, Point, Position};

use crate::algorithms::sequences::pseudo_random_number;
use crate::algorithms::vectors::{Spread, all, vector};
use crate::support;

/// Returns a pseudo-random number in [0, 1).
pub(crate) fn unit(i: usize) -> f32 {
    (pseudo_random_number(i) >> 8) as f32 / (1 << 24) as f32
}

/// Returns a pseudo-random number concentrated near 0: a sum of uniform numbers.
fn blob(i: usize) -> f32 {
    (0..6).map(|part| unit(7 * i + part) - 0.5).sum::<f32>()
}

/// Function that returns the `i`-th of `n` points: coordinates and a payload.
pub(crate) type Kind = fn(usize, usize) -> [f32; 4];

/// Difficult sets of points with their names.
pub(crate) const KINDS: [(&str, Kind); 7] = [
    ("anywhere", |i, _| [unit(3 * i), unit(3 * i + 1) * 4.0 - 2.0, unit(3 * i + 2), i as f32]),
    ("in blobs", |i, _| {
        let centre = [3.0, -50.0, 0.25][i % 3];
        [centre + blob(3 * i), 2.0 * centre + blob(3 * i + 1) / 9.0, blob(3 * i + 2), -(i as f32)]
    }),
    ("on a lattice", |i, _| [(i % 11) as f32, (i / 11 % 13) as f32, (i / 143) as f32, 0.5]),
    ("on a line", |i, n| [(n - i) as f32, (n - i) as f32 * 2.0, 7.0, i as f32]),
    ("equal", |_, _| [0.1, -0.1, 5.0, 1.0]),
    ("few places", |i, _| {
        let zero = if i % 2 == 0 { 0.0 } else { -0.0 };
        [
            (pseudo_random_number(i) % 3) as f32 * zero,
            (pseudo_random_number(i + 9) % 2) as f32,
            zero,
            f32::from_bits(pseudo_random_number(i)),
        ]
    }),
    ("far apart", |i, _| {
        let sign = if pseudo_random_number(i).is_multiple_of(2) { 1.0 } else { -1.0 };
        [sign * f32::MAX * unit(i), f32::MIN_POSITIVE * unit(i + 1) / 8.0, sign * f32::MAX, 2.0]
    }),
];

pub(crate) fn points<P: Point>(kind: Kind, n: usize) -> Vec<P> {
    (0..n).map(|i| P::from_parts(kind(i, n))).collect()
}

/// Node of the plain tree: leaves, points, bounding box, axis and position of the cut.
type PlainNode = (Range<usize>, Range<u64>, [Position; 2], Option<(usize, f32)>);

/// k-d tree by definition, built node by node.
struct PlainTree {
    positions: Vec<Position>,
    leaves: usize,
    order: Vec<usize>,
    nodes: Vec<PlainNode>,
}

impl PlainTree {
    fn new<P: Point>(points: &[P], leaves: usize) -> Self {
        let positions = points.iter().map(|point| point.position()).collect();
        let mut plain = Self { positions, leaves, order: (0..points.len()).collect(), nodes: Vec::new() };
        plain.node(0..leaves);
        plain
    }

    fn first(&self, leaf: usize) -> usize {
        self.order.len() * leaf / self.leaves
    }

    fn bounds(&self, places: Range<usize>) -> [Position; 2] {
        let mut bounds = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
        for &i in &self.order[places] {
            for (axis, x) in self.positions[i].into_iter().enumerate() {
                bounds[0][axis] = x.min(bounds[0][axis]);
                bounds[1][axis] = x.max(bounds[1][axis]);
            }
        }
        bounds
    }

    fn node(&mut self, leaves: Range<usize>) {
        let places = self.first(leaves.start)..self.first(leaves.end);
        let [low, high] = self.bounds(places.clone());
        let mut cut = None;
        if leaves.len() > 1 {
            let mut axis = 0;
            for other in 1..3 {
                if high[other] - low[other] > high[axis] - low[axis] {
                    axis = other;
                }
            }
            let positions = &self.positions;
            let order = |a: &usize, b: &usize| positions[*a][axis].partial_cmp(&positions[*b][axis]).unwrap();
            self.order[places.clone()].sort_by(order);
            let middle = leaves.start + leaves.len() / 2;
            let upper = self.first(middle);
            let at = if upper < places.end { upper } else { upper.max(1) - 1 };
            let value = if places.is_empty() { 0.0 } else { self.positions[self.order[at]][axis] };
            cut = Some((axis, value));
            self.node(leaves.start..middle);
            self.node(middle..leaves.end);
        }
        self.nodes.push((leaves, places.start as u64..places.end as u64, [low, high], cut));
    }
}

fn compare_with_plain_tree<P: Point>(
    world: &World,
    values: &[P],
    leaves: usize,
    spread: Spread,
    label: &str,
) -> Result<()> {
    let points = vector(world, "points", values, spread)?;
    let tree = world.vectors().kdtree("tree", &points, leaves)?;
    let plain = PlainTree::new(values, leaves);
    let mut nodes: Vec<PlainNode> = Vec::new();
    for node in tree.all_nodes() {
        let cut = node.cut.map(|cut| (cut.axis, cut.value));
        nodes.push((node.leaves.clone(), node.points.clone(), [node.bounds.low, node.bounds.high], cut));
        for (child, expected) in node.cut.iter().flat_map(|cut| cut.children).zip([node.leaves.start, node.leaves.end])
        {
            let leaves = &tree.all_nodes()[child].leaves;
            assert!(leaves.start == expected || leaves.end == expected, "{label}");
        }
    }
    let mut expected = plain.nodes.clone();
    nodes.sort_by_key(|(leaves, ..)| (leaves.start, leaves.end));
    expected.sort_by_key(|(leaves, ..)| (leaves.start, leaves.end));
    assert_eq!(nodes, expected, "{label}");
    let order: Vec<usize> =
        all(world, tree.indices())?.into_iter().map(|[low, high]| low as usize | (high as usize) << 32).collect();
    assert_eq!(order, plain.order, "{label}");
    let moved: Vec<P> = order.iter().map(|&i| values[i]).collect();
    assert!(bits(&all(world, tree.points())?) == bits(&moved), "points of {label}");
    let counts = (0..leaves).map(|leaf| Ok(tree.leaf(leaf).region()?.cells())).collect::<Result<Vec<u64>>>()?;
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(most - least <= 1 && counts.iter().sum::<u64>() == values.len() as u64, "{label}: {counts:?}");
    for (leaf, &count) in counts.iter().enumerate() {
        let here = tree.leaf(leaf).local_parts()?.iter().map(|part| part.region().unwrap().cells()).sum::<u64>();
        let owner = tree.rank_of(leaf).unwrap();
        assert_eq!(here, if owner == world.rank() { count } else { 0 }, "leaf {leaf} of {label}");
    }
    Ok(())
}

fn bits<P: Point>(values: &[P]) -> Vec<u32> {
    values.iter().flat_map(|point| point.to_parts()).map(f32::to_bits).collect()
}

const LEAVES: [usize; 6] = [1, 2, 3, 5, 8, 13];

#[test]
fn trees_of_every_kind_of_points() {
    support::ranks(&[1, 3, 8], |world| {
        for (number, (kind, point)) in KINDS.into_iter().enumerate() {
            // Few kinds of points are sufficient for small trees.
            let small = if [0, 4, 5].contains(&number) { &[0, 1, 2, 3, 100][..] } else { &[100] };
            for &n in small {
                let some =
                    LEAVES.into_iter().filter(|leaves| if n < 100 { *leaves == 2 } else { (number + leaves) % 3 > 0 });
                for leaves in some.chain([n + 3]) {
                    let label = format!("{n} points {kind}, {leaves} leaves");
                    let spread = [Spread::Auto, Spread::Odd, Spread::Dealt][(number + leaves) % 3];
                    match leaves % 2 {
                        0 => compare_with_plain_tree::<[f32; 2]>(world, &points(point, n), leaves, spread, &label)?,
                        _ => compare_with_plain_tree::<[f32; 4]>(world, &points(point, n), leaves, spread, &label)?,
                    }
                }
            }
        }
        Ok(())
    });
}

#[test]
fn trees_of_many_points() {
    support::ranks(&[1, 5], |world| {
        for (kind, point) in KINDS {
            let label = format!("5000 points {kind}");
            compare_with_plain_tree::<[f32; 2]>(world, &points(point, 5000), 13, Spread::Odd, &label)?;
            compare_with_plain_tree::<[f32; 4]>(world, &points(point, 5000), 64, Spread::Dealt, &label)?;
        }
        compare_with_plain_tree::<[f32; 4]>(
            world,
            &points(KINDS[0].1, 5000),
            5003,
            Spread::Auto,
            "5000 points, 5003 leaves",
        )
    });
}

#[test]
fn sections_have_trees() {
    support::ranks(&[1, 3], |world| {
        let values: Vec<[f32; 2]> = points(KINDS[0].1, 500);
        let array = vector(world, "all", &values, Spread::Odd)?;
        let tree = world.vectors().kdtree("tree", array.at(40..300), 6)?;
        let plain = PlainTree::new(&values[40..300], 6);
        let order: Vec<usize> = all(world, tree.indices())?.into_iter().map(|[low, _]| low as usize).collect();
        assert_eq!(order, plain.order, "places are counted from the section's first cell");
        Ok(())
    });
}

#[test]
fn mistakes_in_trees_return_errors() {
    support::ranks(&[1, 3], |world| {
        let on = world.vectors();
        let good = vector(world, "good", &points::<[f32; 2]>(KINDS[0].1, 50), Spread::Auto)?;
        let error = on.kdtree("none", &good, 0).err().unwrap().to_string();
        assert!(error.contains("0 leaves") && error.contains("1 to 16777216"), "{error}");
        assert!(on.kdtree("many", &good, usize::MAX).is_err());
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut values: Vec<[f32; 2]> = points(KINDS[0].1, 50);
            (values[31], values[47]) = ([2.5, bad], [bad, 0.0]);
            let array = vector(world, "bad", &values, Spread::Odd)?;
            let error = on.kdtree("bad: tree", &array, 4).err().unwrap().to_string();
            assert!(error.contains("point 31 of") && error.contains(&format!("[2.5, {bad:?}]")), "{error}");
        }
        let mut values: Vec<[f32; 4]> = points(KINDS[0].1, 50);
        values[3][3] = f32::NAN;
        let array = vector(world, "rides along", &values, Spread::Auto)?;
        let tree = on.kdtree("fine", &array, 4)?;
        assert!(on.kdtree("fine", &array, 4).err().unwrap().to_string().contains("\"fine\""), "the name is taken");
        assert!(tree.leaf(4).region().is_err() && tree.rank_of(4).is_none());
        Ok(())
    });
}

#[test]
fn ranks_with_different_arguments_get_errors() {
    let differing: [fn(&World, usize) -> Result<()>; 4] = [
        |world, odd| {
            let points = vector(world, "points", &[[0.5_f32; 2]; 9], Spread::Auto)?;
            world.vectors().kdtree("tree", &points, 2 + odd).map(drop)
        },
        |world, odd| {
            let points = vector(world, "points", &[[0.5_f32; 2]; 9], Spread::Auto)?;
            let tree = world.vectors().kdtree("tree", &points, 2)?;
            world.vectors().nearest(&tree, &[[0.5; 2]], 2 + odd).map(drop)
        },
        |world, odd| {
            let points = vector(world, "points", &[[0.5_f32; 2]; 9], Spread::Auto)?;
            let tree = world.vectors().kdtree("tree", &points, 2)?;
            world.vectors().within(&tree, &[[0.5; 2]], 2.0 + odd as f32).map(drop)
        },
        |world, odd| {
            let points = vector(world, "points", &[[0.5_f32; 2]; 9], Spread::Auto)?;
            world.vectors().balanced_boxes(&points, &[4, 4], 2 + odd).map(drop)
        },
    ];
    for ranks in support::launcher::counts(&[2, 3]) {
        for (number, call) in differing.into_iter().enumerate() {
            for check in [true, false] {
                let program = |world: &World| call(world, usize::from(world.rank() == 1));
                let result = run_with(Config::threads(ranks).check(check), program);
                assert!(
                    matches!(result.as_ref().map_err(Error::kind), Err(ErrorKind::Differing { .. })),
                    "call {number} on {ranks}: {result:?}"
                );
            }
        }
    }
}

#[test]
fn bounds_contain_their_points() {
    let bounds = Bounds::of([[1.0, 5.0, 0.0], [2.0, -1.0, 0.0]]);
    assert_eq!((bounds.low, bounds.high, bounds.widest()), ([1.0, -1.0, 0.0], [2.0, 5.0, 0.0], 1));
    assert_eq!(bounds.squared_distance(&[4.0, 8.0, 0.5]), 4.0 + 9.0 + 0.25);
    assert!(Bounds::NONE.is_empty() && !Bounds::NONE.meets(&bounds) && !bounds.is_empty());
}
