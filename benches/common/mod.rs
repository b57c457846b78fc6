//! What the benchmarks share: contenders timed in turn in one run, medians and spread, and the numbers as JSON.
//!
//! The machine may be noisy, so what counts are ratios: in every sample each contender has its turn, the ratio of two
//! is taken within the sample, and the median and the quartiles of these ratios are reported.

#![allow(dead_code)] // every benchmark uses its part of this

pub mod usage;

use std::time::Instant;

use clap::{Args, Command, FromArgMatches, Parser};
use serde_json::{Value, json};
use zippy::{Config, Result, World, run_with};

/// A sample lasts at least this long: short operations are repeated.
const SAMPLE_SECS: f64 = 10e-3;
/// The most repeats in one sample.
const MOST_REPEATS: f64 = 500.0;

/// The command line.
#[derive(Debug, Clone, Parser)]
pub struct Options {
    /// Samples of every figure.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Seconds that the samples of a case take at most, nearly.
    #[arg(long, default_value_t = 30.0)]
    case_secs: f64,
    /// Only the cases whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
    /// What `cargo bench` says; it changes nothing.
    #[arg(long, hide = true)]
    bench: bool,
}

impl Options {
    /// From the command line of the benchmark `name`.
    pub fn parse(name: &'static str, about: &'static str) -> Self {
        let more = "ZIPPY_RANKS=n runs n ranks as threads, an MPI launcher as processes. ZIPPY_BENCH_OUT=FILE takes the \
                    numbers as JSON.";
        let command = Options::augment_args(Command::new(name).about(about).after_help(more));
        // Where the benchmark is a part of another program, the command line is that program's.
        let matches = match std::env::var("ZIPPY_BENCH_ARGS") {
            Ok(words) => command.get_matches_from([name].into_iter().chain(words.split_whitespace())),
            Err(_) => command.get_matches(),
        };
        Options::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    /// Samples of every figure.
    pub fn samples(&self) -> usize {
        self.samples as usize
    }

    /// Seconds that the samples of a case take at most, nearly.
    pub fn case_secs(&self) -> f64 {
        self.case_secs
    }

    /// Whether a case was asked for.
    pub fn wants(&self, case: &str) -> bool {
        case.contains(&self.only)
    }

    /// Whether a case was asked for by a name that says so, as is best for what takes minutes.
    pub fn asks_for(&self, part: &str) -> bool {
        self.only.contains(part)
    }
}

/// Leaves the numbers where the runner looks for them: the file is always whole.
pub fn write(cases: &[Value]) {
    let Some(path) = std::env::var_os("ZIPPY_BENCH_OUT") else { return };
    let draft = std::path::Path::new(&path).with_extension("draft");
    let written = std::fs::write(&draft, json!({ "cases": cases }).to_string());
    let written = written.and_then(|()| std::fs::rename(&draft, &path));
    written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// How chunks are reached in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// As the adapter allows, which on a software or an integrated one is by mapping.
    Mapped,
    /// By kernels, on every adapter.
    Kernels,
}

/// One rank's part of a benchmark.
pub struct Run<'w> {
    pub world: &'w World,
    pub options: &'w Options,
    pub path: Path,
    /// Those of the paths before this one, too.
    cases: std::cell::RefCell<Vec<Value>>,
}

/// Runs a benchmark on its ranks, once for each path, and writes its numbers. A path that the adapter does not have is
/// left out.
pub fn on_ranks(
    name: &'static str,
    about: &'static str,
    paths: &[Path],
    program: impl Fn(&Run) -> Result<()> + Send + Sync,
) -> Result<()> {
    let options = Options::parse(name, about);
    let mut cases: Vec<Value> = Vec::new();
    for &path in paths {
        // SAFETY: the ranks of the last run have ended and those of the next have not begun; this is the only thread
        // that reads or writes the environment.
        match path {
            // SAFETY: as above.
            Path::Mapped => unsafe { std::env::remove_var("ZIPPY_HOST_MAP") },
            // SAFETY: as above.
            Path::Kernels => unsafe { std::env::set_var("ZIPPY_HOST_MAP", "0") },
        }
        let found = run_with(Config::new(), |world| {
            let is_mapped = world.gpu().host_mapped();
            // A benchmark of one path runs on every adapter, as that adapter allows.
            let wanted = path == Path::Kernels || is_mapped || !paths.contains(&Path::Kernels);
            let path = if is_mapped { path } else { Path::Kernels };
            let run = Run { world, options: &options, path, cases: cases.clone().into() };
            if wanted {
                program(&run)?;
            }
            Ok((world.rank() == 0).then(|| run.cases.take()))
        })?;
        cases = found.into_iter().flatten().next().unwrap_or_default();
    }
    Ok(())
}

/// One of those that are timed in turn.
pub struct Contender<'a> {
    pub name: &'static str,
    /// What comes before each run and is not timed.
    before: Option<Box<dyn FnMut() -> Result<()> + 'a>>,
    pub run: Box<dyn FnMut() -> Result<()> + 'a>,
}

/// A contender from a closure.
pub fn contender<'a>(name: &'static str, run: impl FnMut() -> Result<()> + 'a) -> Contender<'a> {
    Contender { name, before: None, run: Box::new(run) }
}

/// One that needs something set right before each run, which is not timed.
pub fn prepared<'a>(
    name: &'static str,
    before: impl FnMut() -> Result<()> + 'a,
    run: impl FnMut() -> Result<()> + 'a,
) -> Contender<'a> {
    Contender { name, before: Some(Box::new(before)), run: Box::new(run) }
}

/// What is measured.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    pub name: &'a str,
    /// What a rank moves at least.
    pub bytes: u64,
    /// How many cells are worked on by all ranks together, where speeds are told by them.
    pub cells: Option<u64>,
    pub target: Option<Target>,
}

/// The most that the library should take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    /// In terms of the second contender.
    Ratio(f64),
    Secs(f64),
}

impl Run<'_> {
    /// The name of a case with the path that this run takes.
    pub fn named(&self, case: &str) -> String {
        let path = if self.path == Path::Mapped { "mapped" } else { "kernels" };
        format!("{case}, {path}")
    }

    /// Factor for the edges of a benchmark whose largest array takes `bytes` a rank: a power of two, so
    /// that the grown array fills a binding or a twenty-fourth of the adapter's memory at most. 1 on
    /// software adapters, and where the memory is not known.
    pub fn growth(&self, bytes: u64, axes: u32) -> i64 {
        let (gpu, ranks) = (self.world.gpu(), self.world.size() as u64);
        if gpu.adapter().device_type == wgpu::DeviceType::Cpu {
            return 1;
        }
        let memory = gpu.adapter().memory_bytes.unwrap_or(0) / 24 / ranks;
        let most = memory.min(gpu.limits().binding_bytes);
        let grown = |factor: &i64| bytes * (*factor as u64).pow(axes) <= most;
        (0..8).map(|power| 1 << power).take_while(grown).last().unwrap_or(1)
    }

    /// Times contenders, the library first, and reports the ratios of its time to each other's. A sample's time is that
    /// of the slowest rank, per repeat. `bytes` is what a rank moves; `target` is the most that the ratio to the second
    /// contender should be. Collective.
    pub fn compare(&self, case: &str, bytes: u64, target: Option<f64>, contenders: Vec<Contender>) -> Result<()> {
        self.measure(Case { name: case, bytes, cells: None, target: target.map(Target::Ratio) }, contenders)
    }

    /// [`compare`](Self::compare) with all that can be said of a case. What takes seconds has fewer samples, at least three.
    pub fn measure(&self, case: Case, mut contenders: Vec<Contender>) -> Result<()> {
        let name = self.named(case.name);
        if !self.options.wants(&name) {
            return Ok(());
        }
        let mut round = 0.0;
        let mut repeats = Vec::new();
        for contender in &mut contenders {
            // Three times are enough to get going, and once for what takes long.
            let first = self.slowest(vec![self.sample(contender, 1)?])?[0];
            round += first;
            if first > 10.0 * SAMPLE_SECS {
                repeats.push(1);
                continue;
            }
            self.sample(contender, 2)?;
            let once = self.slowest(vec![self.sample(contender, 3)?])?[0];
            repeats.push((SAMPLE_SECS / once).clamp(1.0, MOST_REPEATS) as usize);
        }
        let mut secs = vec![Vec::new(); contenders.len()];
        let samples = ((self.options.case_secs / round) as usize)
            .clamp(3, self.options.samples().max(3))
            .min(self.options.samples());
        for sample in 0..samples {
            for turn in 0..contenders.len() {
                let which = (sample + turn) % contenders.len();
                secs[which].push(self.sample(&mut contenders[which], repeats[which])?);
            }
        }
        let secs = secs.into_iter().map(|secs| self.slowest(secs)).collect::<Result<Vec<_>>>()?;
        let figures: Vec<Figure> =
            contenders.iter().zip(&secs).map(|(c, own)| Figure::new(c.name, own, &secs[0])).collect();
        self.report(&name, &case, samples, &figures);
        Ok(())
    }

    /// Seconds of each contender, of the slowest rank, in each of so many samples, in which they have their turns. Each runs
    /// once before. For what takes seconds, and where several contenders are the library's. Collective.
    pub fn alternate(&self, samples: usize, contenders: &mut [Contender]) -> Result<Vec<Vec<f64>>> {
        let mut secs = vec![Vec::new(); contenders.len()];
        for sample in 0..=samples {
            for turn in 0..contenders.len() {
                let which = (sample + turn) % contenders.len();
                let once = self.sample(&mut contenders[which], 1)?;
                if sample > 0 {
                    secs[which].push(once);
                }
            }
        }
        secs.into_iter().map(|secs| self.slowest(secs)).collect()
    }

    /// Seconds per repeat, the work that the device still does included.
    fn sample(&self, contender: &mut Contender, repeats: usize) -> Result<f64> {
        self.world.barrier()?;
        let mut secs = 0.0;
        let mut begun = Instant::now();
        for _ in 0..repeats {
            if let Some(before) = &mut contender.before {
                before()?;
                self.settled()?;
                begun = Instant::now();
            }
            (contender.run)()?;
            if contender.before.is_some() {
                self.settled()?;
                secs += begun.elapsed().as_secs_f64();
            }
        }
        if contender.before.is_none() {
            self.settled()?;
            secs = begun.elapsed().as_secs_f64();
        }
        Ok(secs / repeats as f64)
    }

    /// Waits for all work of the device.
    pub fn settled(&self) -> Result<()> {
        let device = self.world.gpu();
        device.wait()?;
        device.raw().poll(wgpu::PollType::wait_indefinitely()).expect("the device works");
        Ok(())
    }

    /// Each figure's largest value over the ranks.
    pub fn slowest(&self, mut secs: Vec<f64>) -> Result<Vec<f64>> {
        self.world.group().all_reduce(&mut secs, |most, other| *most = most.max(*other))?;
        Ok(secs)
    }

    /// Prints figures, the library's first, and adds them to the numbers.
    pub fn report(&self, name: &str, case: &Case, samples: usize, figures: &[Figure]) {
        if self.world.rank() != 0 {
            return;
        }
        println!("{name}: {} bytes a rank", case.bytes);
        figures.iter().enumerate().for_each(|(index, figure)| figure.print(index, case));
        let (ratio, secs) = match case.target {
            Some(Target::Ratio(ratio)) => (Some(ratio), None),
            Some(Target::Secs(secs)) => (None, Some(secs)),
            None => (None, None),
        };
        self.add(json!({
            "case": name,
            "bytes_per_rank": case.bytes,
            "cells": case.cells,
            "samples": samples,
            "target": ratio,
            "target_secs": secs,
            "figures": figures.iter().map(Figure::json).collect::<Vec<_>>(),
        }));
    }

    /// Adds a case to the numbers; those of rank 0 count. A run that is stopped leaves the cases before.
    pub fn add(&self, case: Value) {
        self.cases.borrow_mut().push(case);
        if self.world.rank() == 0 {
            write(&self.cases.borrow());
        }
    }
}

/// The middle of some values, and the quarters around it.
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

impl Spread {
    /// Median and quartiles.
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |part: f64| sorted[(part * (sorted.len() - 1) as f64).round() as usize];
        Self { median: at(0.5), low: at(0.25), high: at(0.75) }
    }
}

/// What one contender took, and the library's time in terms of it.
pub struct Figure {
    name: &'static str,
    pub secs: Spread,
    ratio: Spread,
}

impl Figure {
    /// From the samples of this contender and of the library.
    pub fn new(name: &'static str, own: &[f64], library: &[f64]) -> Self {
        let ratios: Vec<f64> = library.iter().zip(own).map(|(library, own)| library / own).collect();
        Self { name, secs: Spread::of(own), ratio: Spread::of(&ratios) }
    }

    /// One line, of the contender of this number.
    fn print(&self, index: usize, case: &Case) {
        let Self { name, secs, ratio } = self;
        let micros = |secs: f64| secs * 1e6;
        print!("    {name:<32} {:>11.1} us [{:.1}, {:.1}]", micros(secs.median), micros(secs.low), micros(secs.high));
        if let Some(cells) = case.cells {
            print!(" {:>8.1} Mcells/s", cells as f64 / secs.median / 1e6);
        }
        print!("   ratio {:.2} [{:.2}, {:.2}]", ratio.median, ratio.low, ratio.high);
        let verdict = |met| if met { "met" } else { "MISSED" };
        match (index, case.target) {
            (0, Some(Target::Secs(most))) => {
                print!("   target {:.1} ms: {}", most * 1e3, verdict(secs.median <= most));
            }
            (1, Some(Target::Ratio(most))) => print!("   target {most:.1}: {}", verdict(ratio.median <= most)),
            _ => {}
        }
        println!();
    }

    /// The same for machines.
    pub fn json(&self) -> Value {
        let Self { name, secs, ratio } = self;
        json!({
            "who": name,
            "median_secs": secs.median,
            "quartiles_secs": [secs.low, secs.high],
            "library_to_this": ratio.median,
            "library_to_this_quartiles": [ratio.low, ratio.high],
        })
    }
}
