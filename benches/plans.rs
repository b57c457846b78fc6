//! Time and memory of building one rank's plan, for many simulated ranks.

mod common;
mod reference;

use std::alloc::{GlobalAlloc, Layout as Memory, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use serde_json::json;
use zippy::locate::Placement;
use zippy::plan::{CopySpec, GhostSpec, RankPlan, copy, ghosts};
use zippy::{Layout, Result, Split};

use common::{Options, Spread, write};
use reference::halo::{Reach, halo};

/// Upper limit for the time of a rank's ghost plan, for any number of ranks.
const TARGET_SECS: f64 = 10e-3;

struct Counting;

static NOW: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

fn count(bytes: i64) {
    let now = NOW.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(now, Ordering::Relaxed);
}

// SAFETY: all calls are forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Memory) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller upholds the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Memory) {
        count(-(layout.size() as i64));
        // SAFETY: the caller upholds the contract of `GlobalAlloc::dealloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> Result<()> {
    let about = "Time and memory of building the plan of one of 64, 4,096 and 65,536 simulated ranks: ghost update with \
                 26 neighbours, and copy of blocks to slabs. Compared with a hand-written list of boxes for the same \
                 halo exchange.";
    let options = Options::parse("plans", about);
    let mut cases = Vec::new();
    for grid in [[4, 4, 4], [16, 16, 16], [64, 32, 32]] {
        let ranks: usize = grid.iter().product();
        let shape = grid.map(|n| n * 128);
        let blocks = Layout::new(shape).split(grid.map(Split::Even)).ghost([1; 3]).periodic([true; 3]);
        let slabs = Layout::new(shape).split([Split::Whole, Split::Whole, Split::Even(ranks)]);
        let resolve = |layout: &Layout| -> Result<Placement> {
            Ok(Placement::balanced(layout.resolve(ranks, 4, u64::MAX)?, ranks))
        };
        let placement = resolve(&blocks)?;
        let slabs = resolve(&slabs)?;
        let rank = ranks / 2 + grid[0] / 2;
        let mut measure = |case: &str, target: Option<f64>, f: &mut dyn FnMut() -> Result<Box<dyn std::any::Any>>| {
            let case = format!("{case}, one of {ranks} ranks");
            if options.selects(&case) { sample(&options, &case, target, f, &mut cases) } else { Ok(()) }
        };
        measure("layout and owners", None, &mut || Ok(Box::new(resolve(&blocks)?)))?;
        measure("ghost plan, 26 neighbours", Some(TARGET_SECS), &mut || {
            Ok(Box::new(ghosts(&[(&placement, &GhostSpec::default())], rank)?))
        })?;
        measure("the same boxes by hand", None, &mut || Ok(Box::new(halo(rank, grid, 128, true, Reach::All))))?;
        measure("copy plan, blocks to slabs", None, &mut || Ok(Box::new(blocks_to_slabs(&placement, &slabs, rank)?)))?;
    }
    write(&cases);
    Ok(())
}

fn blocks_to_slabs(src: &Placement, dst: &Placement, rank: usize) -> Result<RankPlan> {
    let whole = src.chunks().whole();
    let spec = CopySpec { src, src_region: whole, dst, dst_region: whole, aliased: false, permutation: None };
    Ok(copy(&spec, rank)?)
}

fn sample(
    options: &Options,
    case: &str,
    target: Option<f64>,
    f: &mut dyn FnMut() -> Result<Box<dyn std::any::Any>>,
    cases: &mut Vec<serde_json::Value>,
) -> Result<()> {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let plan = f()?;
    let (kept, peak) = (NOW.load(Ordering::Relaxed) - before, PEAK.load(Ordering::Relaxed) - before);
    drop(plan);
    let once = |f: &mut dyn FnMut() -> Result<Box<dyn std::any::Any>>| -> Result<f64> {
        let start = Instant::now();
        black_box(f()?);
        Ok(start.elapsed().as_secs_f64())
    };
    // About four seconds in total, but at least three samples.
    let samples = ((4.0 / once(f)?) as usize).clamp(3, options.samples().max(3));
    let secs = Spread::of(&(0..samples).map(|_| once(f)).collect::<Result<Vec<_>>>()?);
    let verdict = target.map_or(String::new(), |target| {
        format!("   target {} ms: {}", target * 1e3, if secs.median < target { "met" } else { "MISSED" })
    });
    let [median, low, high] = [secs.median, secs.low, secs.high].map(|secs| secs * 1e6);
    println!("{case:<48} {median:>12.1} us [{low:.1}, {high:.1}]   {kept:>9} bytes kept, {peak:>9} at most{verdict}");
    cases.push(json!({
        "case": case,
        "median_secs": secs.median,
        "quartiles_secs": [secs.low, secs.high],
        "bytes_kept": kept,
        "bytes_peak": peak,
        "target_secs": target,
    }));
    Ok(())
}
