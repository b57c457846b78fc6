//! Building of k-d trees and nearest-neighbour queries, compared with the crate `kiddo`.

mod common;

use std::hint::black_box;
use std::num::NonZero;

use kiddo::batch::Executor;
use kiddo::{ImmutableKdTree, SquaredEuclidean};
use zippy::{GlobalArray, Layout, Result, Split};
use zippy_primitives::Primitives;
use zippy_primitives::kdtree::KdTree;

use common::{Case, ChunkAccess, Contender, Run, contender, on_ranks};

const MI: usize = 1 << 20;
const QUERIES: usize = 100_000;
const NEIGHBOURS: NonZero<usize> = NonZero::new(8).expect("eight is not zero");
const POINTS_PER_LEAF: usize = 32;

/// Position in three dimensions; the fourth component is payload.
type Point = [f32; 4];
type KiddoTree = ImmutableKdTree<f32, 3>;

pub(crate) fn main() -> Result<()> {
    let about = "k-d trees of 1 Mi random points in three dimensions (16 Mi if --only contains \"16 Mi\"; by kernels of a \
                 software adapter only if --only contains \"kernels\"): build with leaves of 32 points; build with 4 \
                 leaves per rank until the first query is answered (hosts then have trees with leaves of 12 points); \
                 and the 8 nearest neighbours of 100,000 other points. Each is compared with kiddo's ImmutableKdTree on \
                 one core and on all cores. Queries are divided among the ranks; kiddo runs on rank 0.";
    on_ranks("primitives_kdtree", about, &[ChunkAccess::Mapped, ChunkAccess::Kernels], |run| {
        // Sorts by kernels on a software adapter take minutes.
        let slow = run.access == ChunkAccess::Kernels && run.world.gpu().adapter().device_type == wgpu::DeviceType::Cpu;
        if slow && !run.options.filter_contains("kernels") {
            return Ok(());
        }
        trees(run, if run.options.filter_contains("16 Mi") { 16 } else { 1 })
    })
}

/// Pseudo-random point of the unit cube. `stream` is 0 for the points of the tree and 1 for the
/// queries.
fn point(i: usize, stream: usize) -> Point {
    [0, 1, 2, 3].map(|axis| {
        let x = ((8 * i + 2 * axis + stream) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((x ^ (x >> 27)) >> 40) as f32 / (1 << 24) as f32
    })
}

fn position([x, y, z, _]: Point) -> [f32; 3] {
    [x, y, z]
}

fn trees(run: &Run<'_>, size: usize) -> Result<()> {
    let world = run.world;
    let (cells, is_first) = (size * MI, world.rank() == 0);
    let points = world.array::<Point, 1>("points", &Layout::new([cells as i64]).split([Split::Auto]))?;
    points.fill_with(|[i]| point(i as usize, 0))?;
    // kiddo runs on rank 0 alone.
    let on_first = |cells: usize| if is_first { cells } else { 0 };
    let plain: Vec<[f32; 3]> = (0..on_first(cells)).map(|i| position(point(i, 0))).collect();
    let queries: Vec<[f32; 3]> = (0..on_first(QUERIES)).map(|i| position(point(i, 1))).collect();
    let own = QUERIES * world.rank() / world.size()..QUERIES * (world.rank() + 1) / world.size();
    let own: Vec<Point> = own.map(|i| point(i, 1)).collect();
    let measure = |case: &str, cells: usize, contenders: Vec<Contender<'_>>| {
        let name = format!("{case}, {size} Mi");
        let bytes = (size_of::<Point>() * cells / world.size()) as u64;
        run.measure(Case { name: &name, bytes, cells: Some(cells as u64), target: None }, contenders)
    };
    let builds = || {
        let build = |all_cores: bool| {
            black_box(build_kiddo(&plain, all_cores));
            Ok(())
        };
        let on_rank_0 = move |all_cores| if is_first { build(all_cores) } else { Ok(()) };
        vec![
            contender("kiddo, one core", move || on_rank_0(false)),
            contender("kiddo, all cores", move || on_rank_0(true)),
        ]
    };
    let leaves = cells / POINTS_PER_LEAF;
    let whole = contender("zippy", || build_tree(run, &points, leaves).map(drop));
    measure("k-d tree, leaves of 32 points", cells, std::iter::once(whole).chain(builds()).collect())?;
    let few = 4 * world.size();
    let ready = contender("zippy", || {
        let tree = build_tree(run, &points, few)?;
        world.vectors().nearest(&tree, &own[..1], 1).map(drop)
    });
    measure("k-d tree, ready for queries", cells, std::iter::once(ready).chain(builds()).collect())?;
    if !run.options.selects(&run.named(&format!("8 nearest of 100,000, {size} Mi"))) {
        return Ok(());
    }
    let tree = build_tree(run, &points, few)?;
    let found = world.vectors().nearest(&tree, &own, NEIGHBOURS.get())?;
    let kiddo = is_first.then(|| build_kiddo(&plain, true));
    if let Some(kiddo) = &kiddo {
        for (found, query) in found.iter().zip(&queries) {
            let expected = kiddo.query(query).nearest_n::<SquaredEuclidean<f32>>(NEIGHBOURS).execute();
            let is_close = |(a, b): (f32, f32)| (a - b).abs() <= 1e-6 * b;
            let found_distances = found.iter().map(|neighbour| neighbour.squared_distance);
            let mut pairs = found_distances.zip(expected.iter().map(|neighbour| neighbour.distance));
            assert!(found.len() == expected.len() && pairs.all(is_close), "the neighbours are wrong");
        }
    }
    let run_batch = |executor: Executor| {
        let Some(kiddo) = &kiddo else { return Ok(()) };
        let batch = kiddo.query_batch(&queries).nearest_n::<SquaredEuclidean<f32>>(NEIGHBOURS);
        black_box(batch.with_executor(&executor).execute());
        Ok(())
    };
    let library = contender("zippy", || world.vectors().nearest(&tree, &own, NEIGHBOURS.get()).map(drop));
    let others = [
        contender("kiddo, one core", || run_batch(Executor::serial())),
        contender("kiddo, all cores", || run_batch(Executor::parallel())),
    ];
    measure("8 nearest of 100,000", QUERIES, std::iter::once(library).chain(others).collect())
}

fn build_tree(run: &Run<'_>, points: &GlobalArray<Point, 1>, leaves: usize) -> Result<KdTree<Point>> {
    run.world.vectors().kdtree("tree", points, leaves)
}

fn build_kiddo(points: &[[f32; 3]], all_cores: bool) -> KiddoTree {
    let builder = KiddoTree::builder();
    let built = if all_cores {
        builder.with_parallel_construction().build_from_slice(points)
    } else {
        builder.with_serial_construction().build_from_slice(points)
    };
    built.expect("the number of points fits in the tree's index type")
}
