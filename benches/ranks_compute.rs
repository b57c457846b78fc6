//! Reductions, fills and elementwise expressions, compared with naive loops over host vectors and
//! one all-reduce; and calls of a small kernel, compared with a hand-written dispatch into the same
//! encoder.
//!
//! The naive sums are rounded at every step and depend on the number of ranks.

mod common;
mod reference;

use std::hint::black_box;
use std::time::Instant;

use zippy::algorithms::reduce::Bins;
use zippy::kernel::Domain;
use zippy::{GlobalArray, KernelSource, Layout, Result, Split};

use common::{Case, ChunkAccess, Contender, Figure, Run, contender, on_ranks};
use reference::dispatch::BareDispatch;

const N: i64 = 128;

pub(crate) fn main() -> Result<()> {
    let about = "Sum, dot product, extremes and histogram (256 bins) of 128^3 f32 per rank with one ghost layer; fill, and \
                 y = a x + y. Each is compared with a naive loop over a host vector and, for reductions, one all-reduce. \
                 Exact sums have the same bits for every number of ranks; naive sums do not. Call::run of a kernel over 64 \
                 cells, with a section, extents or a count on the device as domain, compared with a wgpu dispatch into the \
                 same encoder: seconds per call, of 500 calls, until they are recorded and until they have finished.";
    on_ranks("ranks_compute", about, &[ChunkAccess::Mapped, ChunkAccess::Kernels], |run| {
        // With larger arrays the hand-written loops take more than a second.
        let n = N * run.growth((4 * N * N * N) as u64, 3).min(2);
        let shape = [n, n, n * run.world.size() as i64];
        let layout =
            Layout::new(shape).split([Split::Whole, Split::Whole, Split::Even(run.world.size())]).ghost([1; 3]);
        let x = run.world.array::<f32, 3>("x", &layout)?;
        let y = run.world.array::<f32, 3>("y", &layout)?;
        x.fill_with(|[x, y, z]| ((x * 7 + y * 13 + z * 31) % 1009) as f32 / 1024.0)?;
        y.fill_with(|[x, y, z]| ((x * 3 + y * 5 + z * 11) % 503) as f32 / 512.0)?;
        let (a, b) = (x.local()?.all().read()?, y.local()?.all().read()?);
        sums(run, [&x, &y], [&a, &b])?;
        extremes_and_histogram(run, &x, &a)?;
        axpy_and_fill(run, [&x, &y], &a, b)?;
        calls(run)
    })
}

const CALLS: usize = 500;

fn calls(run: &Run<'_>) -> Result<()> {
    let case = run.named("call of a kernel, 64 cells");
    if !run.options.selects(&case) {
        return Ok(());
    }
    let (world, gpu) = (run.world, run.world.gpu());
    let kernel = |domain: &str| {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> x: array<f32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                let p = {domain}_position(id);
                if {domain}_inside(p) {{ x_store(p, x_load(p) + 1.0); }}
            }}"
        );
        world.kernel(KernelSource::text("call.wgsl", text))
    };
    let (over_cells, over_domain) = (kernel("x")?, kernel("domain")?);
    let x = world.local_array::<f32, 1>("x", &Layout::new([64]))?;
    let count = world.local_array::<u32, 1>("count", &Layout::new([1]))?;
    count.all().write(&[64])?;
    let by_hand = BareDispatch::new(gpu, 64);
    let mut contenders = [
        contender("zippy", || over_cells.call().update("x", x.all()).run()),
        contender("bare wgpu dispatch", || {
            by_hand.record(gpu);
            Ok(())
        }),
        contender("zippy, over extents", || over_domain.call().update("x", x.all()).over([64]).run()),
        contender("zippy, counted on the device", || {
            over_domain.call().update("x", x.all()).over(Domain::counted(count.all(), 64)).run()
        }),
    ];
    let mut secs = vec![[Vec::new(), Vec::new()]; contenders.len()];
    for sample in 0..=run.options.samples() {
        for turn in 0..contenders.len() {
            let index = (sample + turn) % contenders.len();
            let [recorded, done] = call_secs(run, &mut contenders[index])?;
            // The first sample is a warm-up.
            if sample > 0 {
                secs[index][0].push(recorded);
                secs[index][1].push(done);
            }
        }
    }
    for (event, event_name) in ["recorded", "done"].into_iter().enumerate() {
        let secs = secs.iter().map(|events| run.slowest(events[event].clone())).collect::<Result<Vec<_>>>()?;
        let figures: Vec<_> = contenders.iter().zip(&secs).map(|(c, own)| Figure::new(c.name, own, &secs[0])).collect();
        let name = format!("{case}, {event_name}");
        let case = Case { name: &name, bytes: 256, cells: None, target: None };
        run.report(&name, &case, run.options.samples(), &figures);
    }
    Ok(())
}

/// Seconds per call until all calls are recorded, and until all have finished.
fn call_secs(run: &Run<'_>, contender: &mut Contender<'_>) -> Result<[f64; 2]> {
    run.world.gpu().wait()?;
    run.world.barrier()?;
    let start = Instant::now();
    (0..CALLS).try_for_each(|_| (contender.run)())?;
    let recorded = start.elapsed();
    run.world.gpu().wait()?;
    Ok([recorded, start.elapsed()].map(|secs| secs.as_secs_f64() / CALLS as f64))
}

/// Sums a value over the ranks. Collective.
fn total(run: &Run<'_>, value: f64) -> Result<f64> {
    let mut sum = [value];
    run.world.group().all_reduce(&mut sum, |sum, more| *sum += more)?;
    Ok(sum[0])
}

fn sums(run: &Run<'_>, [x, y]: [&GlobalArray<f32, 3>; 2], [a, b]: [&[f32]; 2]) -> Result<()> {
    let world = run.world;
    let bytes = size_of_val(a) as u64;
    let by_hand = || total(run, a.iter().map(|&v| f64::from(v)).sum());
    // The cells are multiples of 2^-10 and their sum is below 2^43, so that the naive sum is exact,
    // too.
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

fn extremes_and_histogram(run: &Run<'_>, x: &GlobalArray<f32, 3>, a: &[f32]) -> Result<()> {
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

fn axpy_and_fill(run: &Run<'_>, [x, y]: [&GlobalArray<f32, 3>; 2], a: &[f32], mut b: Vec<f32>) -> Result<()> {
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
