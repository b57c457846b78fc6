//! Reductions, fills and elementwise expressions, beside the same by hand on plain vectors: naive loops, whose sums are
//! rounded at every step and depend on the number of ranks, and one all-reduce.

mod common;

use std::hint::black_box;

use zippy::algorithms::reduce::Bins;
use zippy::{GlobalArray, Layout, Result, Split};

use common::{Path, Run, contender, on_ranks};

/// Cells of one rank along each axis.
const N: i64 = 128;

fn main() -> Result<()> {
    let about = "Sum, dot product, extremes and histogram (256 bins) of 128^3 f32 per rank, with one ghost cell; fill, and y = a x + \
                 y. Each beside a naive loop over a plain vector and, for reductions, one all-reduce. Exact sums are the same \
                 bits for every number of ranks; naive ones are not.";
    on_ranks("ranks_compute", about, &[Path::Mapped, Path::Kernels], |run| {
        let shape = [N, N, N * run.world.size() as i64];
        let layout =
            Layout::new(shape).split([Split::Whole, Split::Whole, Split::Even(run.world.size())]).ghost([1; 3]);
        let x = run.world.array::<f32, 3>("x", &layout)?;
        let y = run.world.array::<f32, 3>("y", &layout)?;
        x.fill_with(|[x, y, z]| ((x * 7 + y * 13 + z * 31) % 1009) as f32 / 1024.0)?;
        y.fill_with(|[x, y, z]| ((x * 3 + y * 5 + z * 11) % 503) as f32 / 512.0)?;
        let (a, b) = (x.local()?.all().read()?, y.local()?.all().read()?);
        sums(run, [&x, &y], [&a, &b])?;
        orders(run, &x, &a)?;
        cells(run, [&x, &y], &a, b)
    })
}

/// A sum over the ranks.
fn total(run: &Run, own: f64) -> Result<f64> {
    let mut sum = [own];
    run.world.group().all_reduce(&mut sum, |sum, more| *sum += more)?;
    Ok(sum[0])
}

fn sums(run: &Run, [x, y]: [&GlobalArray<f32, 3>; 2], [a, b]: [&[f32]; 2]) -> Result<()> {
    let world = run.world;
    let bytes = size_of_val(a) as u64;
    let by_hand = || total(run, a.iter().map(|&v| f64::from(v)).sum());
    // Multiples of 2^-10 below 2^43: here the naive sum is exact as well.
    assert_eq!(world.sum(x.at(..))?, by_hand()?);
    run.compare(
        "sum",
        bytes,
        None,
        vec![
            contender("zippy", || world.sum(x.at(..)).map(drop)),
            contender("naive f64 sum", || by_hand().map(drop)),
            contender("naive f32 sum", || total(run, black_box(a.iter().sum::<f32>()).into()).map(drop)),
        ],
    )?;
    let by_hand = || total(run, a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum());
    assert_eq!(world.dot(x.at(..), y.at(..))?, by_hand()?);
    run.compare(
        "dot",
        2 * bytes,
        None,
        vec![
            contender("zippy", || world.dot(x.at(..), y.at(..)).map(drop)),
            contender("naive f64 dot", || by_hand().map(drop)),
        ],
    )
}

fn orders(run: &Run, x: &GlobalArray<f32, 3>, a: &[f32]) -> Result<()> {
    let world = run.world;
    let bytes = size_of_val(a) as u64;
    let by_hand = || -> Result<[f32; 2]> {
        let fold = |[low, high]: [f32; 2], &v: &f32| [low.min(v), high.max(v)];
        let [low, high] = a.iter().fold([f32::INFINITY, f32::NEG_INFINITY], fold);
        let mut found = [low, -high];
        world.group().all_reduce(&mut found, |least, other| *least = least.min(*other))?;
        Ok([found[0], -found[1]])
    };
    let found = world.extremes(x.at(..))?.expect("there are cells");
    assert_eq!([found.min, found.max], by_hand()?);
    run.compare(
        "extremes",
        bytes,
        None,
        vec![
            contender("zippy", || world.extremes(x.at(..)).map(drop)),
            contender("naive loop", || by_hand().map(drop)),
        ],
    )?;
    let bins = Bins::even(0.0, 1.0, 256)?;
    let by_hand = || -> Result<Vec<u64>> {
        let mut counts = vec![0_u64; 256];
        a.iter().for_each(|v| counts[((v * 256.0) as usize).min(255)] += 1);
        world.group().all_reduce(&mut counts, |sum, more| *sum += more)?;
        Ok(counts)
    };
    assert_eq!(world.histogram(x.at(..), &bins)?.counts, by_hand()?);
    run.compare(
        "histogram, 256 bins",
        bytes,
        None,
        vec![
            contender("zippy", || world.histogram(x.at(..), &bins).map(drop)),
            contender("naive loop", || by_hand().map(drop)),
        ],
    )
}

fn cells(run: &Run, [x, y]: [&GlobalArray<f32, 3>; 2], a: &[f32], mut b: Vec<f32>) -> Result<()> {
    let world = run.world;
    let bytes = size_of_val(a) as u64;
    let axpy = world.elementwise("a * x + y");
    run.compare(
        "y = a x + y",
        3 * bytes,
        None,
        vec![
            contender("zippy", || axpy.call().read("x", x.at(..)).param("a", 0.5_f32).write("y", y.at(..))),
            contender("naive loop", || {
                b.iter_mut().zip(a).for_each(|(b, a)| *b += 0.5 * a);
                black_box(&mut b);
                Ok(())
            }),
        ],
    )?;
    run.compare(
        "fill",
        bytes,
        None,
        vec![
            contender("zippy", || y.at(..).fill(0.25)),
            contender("naive loop", || {
                black_box(&mut b).fill(0.25);
                Ok(())
            }),
        ],
    )
}
