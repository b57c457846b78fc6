//! Ordinary programs as a user writes them with the library, and their comparison with other
//! contenders.

pub mod dense;
pub mod grids;
pub mod hand_written;
pub mod points;
pub mod reductions;
pub mod stencils;
pub mod values;

use std::time::Instant;

use serde_json::json;
use zippy::device::Device;
use zippy::{Error, Result, World};

use super::common::{Case, Figure, Run, Target};
use super::reference::ordinary::{NAMES, Ordinary};
use hand_written::HandWritten;
use values::Values;

/// Name of the contender with wgpu alone.
const BY_HAND: &str = "by hand with wgpu";
/// Steps after which all contenders must have the same values.
const CHECKED_STEPS: usize = 3;
/// Steps before the memory of the process is observed: they release the memory of larger programs.
const SETTLING_STEPS: usize = 100;
/// Steps during which the memory of the process is observed.
const OBSERVED_STEPS: usize = 1000;
/// The library's steps of a sample take at least this long.
const SAMPLE_SECS: f64 = 30e-3;
/// Most steps of a sample.
const MOST_STEPS: f64 = 300.0;
/// Seconds that the samples of a case take at most, nearly.
const CASE_SECS: f64 = 1.2;
/// The most that a program takes in terms of its kernels by hand on one rank of a software adapter.
const MOST_OF_HAND_WRITTEN: f64 = 1.2;

/// One rank's part of a program.
pub trait Program {
    /// Does the next step, or queues it. Collective.
    fn step(&mut self) -> Result<()>;

    /// The cells now, and the number that the last step has read. Collective.
    fn values(&self) -> Result<Values>;
}

/// A program that is measured at several sizes.
pub struct Row {
    pub name: &'static str,
    /// Name of the program in C and NumPy.
    pub peer: &'static str,
    /// Edges of the grid, the largest first. Several ranks also observe memory at the smallest.
    pub sizes: &'static [i64],
    /// An edge whose steps take seconds: measured only where `--only` contains its number, and not
    /// by hand.
    pub asked_for: Option<i64>,
    /// Number of axes with this edge.
    pub axes: u32,
    /// Bytes of a cell that a step moves at least.
    pub bytes: u64,
    pub start: for<'w> fn(&'w World, i64) -> Result<Box<dyn Program + 'w>>,
    pub by_hand: Option<fn(&Device, usize) -> HandWritten>,
}

/// A name, and the seconds that a number of steps take on this rank.
type Timed<'a> = (&'static str, Box<dyn FnMut(usize) -> Result<f64> + 'a>);

/// Measures a program at its sizes. Collective.
///
/// # Errors
/// Contenders that compute other values than the library, and failures of the world.
pub fn measure(run: &Run, peers: &mut [Option<Ordinary>; 2], row: &Row) -> Result<()> {
    let asked_for = row.asked_for.filter(|size| run.options.asks_for(&size.to_string()));
    for &size in row.sizes.iter().chain(&asked_for) {
        let label = if row.axes > 1 { format!("{size}^{}", row.axes) } else { size.to_string() };
        let name = run.named(&format!("{}, {label}", row.name));
        if !run.options.wants(&name) {
            continue;
        }
        let mut program = (row.start)(run.world, size)?;
        compare(run, peers, row, &name, size, &mut *program)?;
        // A program on several ranks has all that one rank has, and messages.
        if row.sizes.last() == Some(&size) && run.world.size() > 1 {
            observe_memory(run, &name, &mut *program)?;
        }
    }
    Ok(())
}

/// Compares the values of all contenders and times their steps in turn.
fn compare(
    run: &Run,
    peers: &mut [Option<Ordinary>; 2],
    row: &Row,
    name: &str,
    size: i64,
    program: &mut dyn Program,
) -> Result<()> {
    let world = run.world;
    (0..CHECKED_STEPS).try_for_each(|_| program.step())?;
    let expected = program.values()?;
    // An array of the size on request is larger than a binding.
    let has_hand_written = row.by_hand.is_some() && row.asked_for != Some(size);
    // Each of the other contenders uses all cores of the machine, so that one rank runs them.
    let start = row.by_hand.filter(|_| has_hand_written && world.rank() == 0);
    let mut by_hand = start.map(|start| start(world.gpu(), size as usize));
    let checked = by_hand.as_mut().map_or(Ok(()), |by_hand| {
        by_hand.steps(CHECKED_STEPS);
        expected.check(BY_HAND, by_hand.values())
    });
    world.agree(name, checked)?;
    let present = world.agree(name, start_peers(peers, row, size, &expected))?;
    let mut present = present.map(u8::from);
    world.group().all_reduce(&mut present, |most, other| *most = (*most).max(*other))?;

    let library = |steps: usize| {
        let begun = Instant::now();
        (0..steps).try_for_each(|_| program.step())?;
        run.settled()?;
        Ok(begun.elapsed().as_secs_f64())
    };
    let mut contenders: Vec<Timed> = vec![("zippy", Box::new(library))];
    if has_hand_written {
        let steps = |steps: usize| {
            let begun = Instant::now();
            by_hand.iter_mut().for_each(|by_hand| by_hand.steps(steps));
            run.settled()?;
            Ok(begun.elapsed().as_secs_f64())
        };
        contenders.push((BY_HAND, Box::new(steps)));
    }
    for ((peer, name), is_present) in peers.iter_mut().zip(NAMES).zip(present) {
        let steps = |steps: usize| peer.as_mut().map_or(Ok(0.0), |peer| peer.steps(steps).map_err(Error::program));
        if is_present > 0 {
            contenders.push((name, Box::new(steps)));
        }
    }
    let secs = time(run, &mut contenders)?;
    let names = contenders.iter().map(|(name, _)| *name);
    let figures: Vec<Figure> = names.zip(&secs).map(|(name, own)| Figure::new(name, own, &secs[0])).collect();
    let cells = (size as u64).pow(row.axes);
    let is_software = world.gpu().adapter().device_type == wgpu::DeviceType::Cpu;
    let target = Some(Target::Ratio(MOST_OF_HAND_WRITTEN));
    let target = target.filter(|_| has_hand_written && is_software && world.size() == 1);
    let case = Case { name, bytes: row.bytes * cells / world.size() as u64, cells: Some(cells), target };
    run.report(name, &case, secs[0].len(), &figures);
    Ok(())
}

/// Starts a program on the peers and compares their values with the library's. The result is true
/// for each peer that has the program.
fn start_peers(peers: &mut [Option<Ordinary>; 2], row: &Row, size: i64, expected: &Values) -> Result<[bool; 2]> {
    let mut present = [false; 2];
    for ((peer, name), is_present) in peers.iter_mut().zip(NAMES).zip(&mut present) {
        let Some(peer) = peer else { continue };
        *is_present = peer.start(row.peer, size).map_err(Error::program)?;
        if *is_present {
            peer.steps(CHECKED_STEPS).map_err(Error::program)?;
            let [sum, magnitude, read] = peer.values().map_err(Error::program)?;
            expected.check(name, Values { sum, magnitude, read })?;
        }
    }
    Ok(present)
}

/// Seconds of a step of each contender on the slowest rank, in each sample. Contenders take turns
/// within a sample.
fn time(run: &Run, contenders: &mut [Timed]) -> Result<Vec<Vec<f64>>> {
    let sample = |contender: &mut Timed, steps: usize| -> Result<f64> {
        run.world.barrier()?;
        Ok(contender.1(steps)? / steps as f64)
    };
    let once = run.slowest(vec![sample(&mut contenders[0], 1)?])?[0];
    let steps = (SAMPLE_SECS / once).clamp(1.0, MOST_STEPS).ceil() as usize;
    let mut round = 0.0;
    for contender in &mut *contenders {
        round += steps as f64 * sample(contender, steps)?;
    }
    let round = run.slowest(vec![round])?[0];
    let most = run.options.samples();
    let samples = ((run.options.case_secs().min(CASE_SECS) / round) as usize).clamp(most.min(3), most);
    let mut secs = vec![Vec::new(); contenders.len()];
    for index in 0..samples {
        for turn in 0..contenders.len() {
            let which = (index + turn) % contenders.len();
            secs[which].push(sample(&mut contenders[which], steps)?);
        }
    }
    secs.into_iter().map(|secs| run.slowest(secs)).collect()
}

/// Reports the growth of the process during many steps. Collective.
fn observe_memory(run: &Run, name: &str, program: &mut dyn Program) -> Result<()> {
    (0..SETTLING_STEPS).try_for_each(|_| program.step())?;
    let before = run.resident_now()?;
    (0..OBSERVED_STEPS).try_for_each(|_| program.step())?;
    let after = run.resident_now()?;
    // One rank of each process knows, which need not be the first.
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
