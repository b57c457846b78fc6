//! Comparison of ordinary programs with hand-written wgpu, NumPy and C.

pub(crate) mod dense;
pub(crate) mod grids;
pub(crate) mod hand_written;
pub(crate) mod points;
pub(crate) mod reductions;
pub(crate) mod stencils;
pub(crate) mod values;

use std::time::Instant;

use serde_json::json;
use zippy::device::Device;
use zippy::{Error, Result, World};

use super::common::{Case, Figure, Run, Target};
use super::reference::ordinary::{NAMES, Ordinary};
use hand_written::HandWritten;
use values::Values;

const BY_HAND: &str = "by hand with wgpu";
const CHECKED_STEPS: usize = 3;
/// Steps before the memory measurement, in which the process releases memory of larger programs.
const SETTLING_STEPS: usize = 100;
const OBSERVED_STEPS: usize = 1000;
const SAMPLE_SECS: f64 = 30e-3;
const MAX_STEPS: f64 = 300.0;
const CASE_SECS: f64 = 1.2;
/// Upper limit for the ratio to the hand-written program, on one rank of a software adapter.
const MAX_RATIO_TO_HAND_WRITTEN: f64 = 1.2;

pub(crate) trait Program {
    /// Computes or submits the next step. Collective.
    fn step(&mut self) -> Result<()>;

    /// Sums of the current cells, and the scalar result of the last step. Collective.
    fn values(&self) -> Result<Values>;
}

/// Program at several sizes.
pub(crate) struct Row {
    pub name: &'static str,
    pub peer: &'static str,
    /// Edges of the grid, the largest first. Several ranks also measure memory growth at the
    /// smallest.
    pub sizes: &'static [i64],
    /// An edge with steps of several seconds: measured only if `--only` contains its number, and
    /// without the hand-written contender.
    pub on_request: Option<i64>,
    pub axes: u32,
    /// Minimum of moved bytes for each cell.
    pub bytes: u64,
    pub start: for<'w> fn(&'w World, i64) -> Result<Box<dyn Program + 'w>>,
    pub by_hand: Option<fn(&Device, usize) -> HandWritten>,
}

struct StepContender<'a> {
    name: &'static str,
    run_steps: Box<dyn FnMut(usize) -> Result<f64> + 'a>,
}

/// Measures a program at its sizes. Collective.
pub(crate) fn measure(run: &Run<'_>, peers: &mut [Option<Ordinary>; 2], row: &Row) -> Result<()> {
    let on_request = row.on_request.filter(|size| run.options.filter_contains(&size.to_string()));
    for &size in row.sizes.iter().chain(&on_request) {
        let label = if row.axes > 1 { format!("{size}^{}", row.axes) } else { size.to_string() };
        let name = run.named(&format!("{}, {label}", row.name));
        if !run.options.selects(&name) {
            continue;
        }
        let mut program = (row.start)(run.world, size)?;
        compare(run, peers, row, &name, size, &mut *program)?;
        // Several ranks use all memory that one rank uses, and messages.
        if row.sizes.last() == Some(&size) && run.world.size() > 1 {
            observe_memory(run, &name, &mut *program)?;
        }
    }
    Ok(())
}

/// Compares the values of all contenders, then times their steps.
fn compare(
    run: &Run<'_>,
    peers: &mut [Option<Ordinary>; 2],
    row: &Row,
    name: &str,
    size: i64,
    program: &mut dyn Program,
) -> Result<()> {
    let world = run.world;
    (0..CHECKED_STEPS).try_for_each(|_| program.step())?;
    let expected = program.values()?;
    // The array of the size `on_request` is larger than a binding.
    let has_hand_written = row.by_hand.is_some() && row.on_request != Some(size);
    // The other contenders use all cores, so only rank 0 runs them.
    let start = row.by_hand.filter(|_| has_hand_written && world.rank() == 0);
    let mut by_hand = start.map(|start| start(world.gpu(), size as usize));
    let checked = by_hand.as_mut().map_or(Ok(()), |by_hand| {
        by_hand.steps(CHECKED_STEPS);
        expected.check(BY_HAND, by_hand.values())
    });
    world.agree(name, checked)?;
    let present = world.agree(name, start_peers(peers, row, size, &expected))?;
    let mut present = present.map(u8::from);
    world.group().all_reduce(&mut present, |max, other| *max = (*max).max(*other))?;

    let library = |steps: usize| {
        let begun = Instant::now();
        (0..steps).try_for_each(|_| program.step())?;
        run.wait_for_device()?;
        Ok(begun.elapsed().as_secs_f64())
    };
    let mut contenders = vec![StepContender { name: "zippy", run_steps: Box::new(library) }];
    if has_hand_written {
        let steps = |steps: usize| {
            let begun = Instant::now();
            by_hand.iter_mut().for_each(|by_hand| by_hand.steps(steps));
            run.wait_for_device()?;
            Ok(begun.elapsed().as_secs_f64())
        };
        contenders.push(StepContender { name: BY_HAND, run_steps: Box::new(steps) });
    }
    for ((peer, name), is_present) in peers.iter_mut().zip(NAMES).zip(present) {
        let steps = |steps: usize| peer.as_mut().map_or(Ok(0.0), |peer| peer.steps(steps).map_err(Error::program));
        if is_present > 0 {
            contenders.push(StepContender { name, run_steps: Box::new(steps) });
        }
    }
    let secs = time(run, &mut contenders)?;
    let names = contenders.iter().map(|contender| contender.name);
    let figures: Vec<Figure> = names.zip(&secs).map(|(name, own)| Figure::new(name, own, &secs[0])).collect();
    let cells = (size as u64).pow(row.axes);
    let is_software = world.gpu().adapter().device_type == wgpu::DeviceType::Cpu;
    let target = Some(Target::Ratio(MAX_RATIO_TO_HAND_WRITTEN));
    let target = target.filter(|_| has_hand_written && is_software && world.size() == 1);
    let case = Case { name, bytes: row.bytes * cells / world.size() as u64, cells: Some(cells), target };
    run.report(name, &case, secs[0].len(), &figures);
    Ok(())
}

/// Compares the values of the peers with the library's. Returns true for each peer that has the
/// program.
fn start_peers(peers: &mut [Option<Ordinary>; 2], row: &Row, size: i64, expected: &Values) -> Result<[bool; 2]> {
    let mut present = [false; 2];
    for ((peer, name), is_present) in peers.iter_mut().zip(NAMES).zip(&mut present) {
        let Some(peer) = peer else { continue };
        *is_present = peer.start(row.peer, size).map_err(Error::program)?;
        if *is_present {
            peer.steps(CHECKED_STEPS).map_err(Error::program)?;
            let [sum, magnitude, scalar] = peer.values().map_err(Error::program)?;
            expected.check(name, Values { sum, magnitude, scalar })?;
        }
    }
    Ok(present)
}

/// Seconds of a step on the slowest rank, for each contender and sample.
fn time(run: &Run<'_>, contenders: &mut [StepContender<'_>]) -> Result<Vec<Vec<f64>>> {
    let sample = |contender: &mut StepContender<'_>, steps: usize| -> Result<f64> {
        run.world.barrier()?;
        Ok((contender.run_steps)(steps)? / steps as f64)
    };
    let once = run.slowest(vec![sample(&mut contenders[0], 1)?])?[0];
    let steps = (SAMPLE_SECS / once).clamp(1.0, MAX_STEPS).ceil() as usize;
    let mut round = 0.0;
    for contender in &mut *contenders {
        round += steps as f64 * sample(contender, steps)?;
    }
    let round = run.slowest(vec![round])?[0];
    let max_samples = run.options.samples();
    let samples = ((run.options.case_secs().min(CASE_SECS) / round) as usize).clamp(max_samples.min(3), max_samples);
    let mut secs = vec![Vec::new(); contenders.len()];
    for sample_index in 0..samples {
        for turn in 0..contenders.len() {
            let index = (sample_index + turn) % contenders.len();
            secs[index].push(sample(&mut contenders[index], steps)?);
        }
    }
    secs.into_iter().map(|secs| run.slowest(secs)).collect()
}

/// Reports the growth of the resident memory during many steps. Collective.
fn observe_memory(run: &Run<'_>, name: &str, program: &mut dyn Program) -> Result<()> {
    (0..SETTLING_STEPS).try_for_each(|_| program.step())?;
    let before = run.resident_now()?;
    (0..OBSERVED_STEPS).try_for_each(|_| program.step())?;
    let after = run.resident_now()?;
    // One rank of each process knows the value, not always rank 0.
    let mut bytes = before.zip(after).map_or([0; 2], |(before, after)| [before, after]);
    run.world.group().all_reduce(&mut bytes, |sum, more| *sum += more)?;
    let [before, after] = bytes;
    if run.world.rank() == 0 && before > 0 {
        let growth = after as i64 - before as i64;
        println!("    memory after {OBSERVED_STEPS} steps: {:+} KiB", growth / 1024);
        run.add(json!({
            "case": format!("{name}, memory"),
            "steps": OBSERVED_STEPS,
            "resident_before": before,
            "growth_bytes": growth,
        }));
    }
    Ok(())
}
