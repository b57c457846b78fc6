//! Shared benchmark harness: contenders that take turns in one run, medians, quartiles and JSON
//! output.
//!
//! Ratios between contenders are robust on a noisy machine: each sample runs every contender once,
//! a ratio compares two times of the same sample, and the harness reports the median and the
//! quartiles of these ratios.

#![allow(dead_code, reason = "no benchmark uses all items")]

mod options;
pub(crate) mod usage;

use std::time::Instant;

use serde_json::{Value, json};
use zippy::{Config, Result, World, run_with};

pub(crate) use self::options::Options;

const SAMPLE_SECS: f64 = 10e-3;
const MAX_REPEATS: f64 = 500.0;

/// A rename keeps the file complete.
pub(crate) fn write(cases: &[Value]) {
    let Some(path) = std::env::var_os("ZIPPY_BENCH_OUT") else { return };
    let draft = std::path::Path::new(&path).with_extension("draft");
    let written = std::fs::write(&draft, json!({ "cases": cases }).to_string());
    let written = written.and_then(|()| std::fs::rename(&draft, &path));
    written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// How the library accesses the bytes of chunks in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChunkAccess {
    /// Mapped host memory if the adapter supports it, else kernels.
    Mapped,
    Kernels,
}

pub(crate) struct Run<'w> {
    pub world: &'w World,
    pub options: &'w Options,
    pub access: ChunkAccess,
    /// Results so far, of all access modes.
    cases: std::cell::RefCell<Vec<Value>>,
}

/// Runs a benchmark once for each supported access mode, and writes the results.
pub(crate) fn on_ranks(
    name: &'static str,
    about: &'static str,
    modes: &[ChunkAccess],
    program: impl Fn(&Run<'_>) -> Result<()> + Send + Sync,
) -> Result<()> {
    let options = Options::parse(name, about);
    let mut cases: Vec<Value> = Vec::new();
    for &mode in modes {
        // SAFETY: the ranks of the previous run have ended and those of the next run have not
        // started, so that this is the only thread that reads or writes the environment.
        match mode {
            // SAFETY: as above.
            ChunkAccess::Mapped => unsafe { std::env::remove_var("ZIPPY_HOST_MAP") },
            // SAFETY: as above.
            ChunkAccess::Kernels => unsafe { std::env::set_var("ZIPPY_HOST_MAP", "0") },
        }
        let found = run_with(Config::new(), |world| {
            let is_mapped = world.gpu().host_mapped();
            // A benchmark with one mode runs on every adapter.
            let is_supported = mode == ChunkAccess::Kernels || is_mapped || !modes.contains(&ChunkAccess::Kernels);
            let access = if is_mapped { mode } else { ChunkAccess::Kernels };
            let run = Run { world, options: &options, access, cases: cases.clone().into() };
            if is_supported {
                program(&run)?;
            }
            Ok((world.rank() == 0).then(|| run.cases.take()))
        })?;
        cases = found.into_iter().flatten().next().unwrap_or_default();
    }
    Ok(())
}

pub(crate) struct Contender<'a> {
    pub name: &'static str,
    /// Untimed preparation of each run.
    setup: Option<Box<dyn FnMut() -> Result<()> + 'a>>,
    pub run: Box<dyn FnMut() -> Result<()> + 'a>,
}

pub(crate) fn contender<'a>(name: &'static str, run: impl FnMut() -> Result<()> + 'a) -> Contender<'a> {
    Contender { name, setup: None, run: Box::new(run) }
}

pub(crate) fn prepared<'a>(
    name: &'static str,
    setup: impl FnMut() -> Result<()> + 'a,
    run: impl FnMut() -> Result<()> + 'a,
) -> Contender<'a> {
    Contender { name, setup: Some(Box::new(setup)), run: Box::new(run) }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Case<'a> {
    pub name: &'a str,
    /// Bytes that each rank must move at least.
    pub bytes: u64,
    /// Cells of all ranks; if given, the report contains cells per second.
    pub cells: Option<u64>,
    pub target: Option<Target>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Target {
    /// Ratio to the time of the second contender.
    Ratio(f64),
    Secs(f64),
}

impl Run<'_> {
    pub(crate) fn named(&self, case: &str) -> String {
        let access = if self.access == ChunkAccess::Mapped { "mapped" } else { "kernels" };
        format!("{case}, {access}")
    }

    /// Growth factor for the edges of arrays on this adapter, a power of two.
    ///
    /// `bytes` is the size of a rank's largest array without growth, and `axes` the number of
    /// growing axes. The grown array fits in a binding and, for all ranks together, in 1/24 of the
    /// adapter's memory. The factor is 1 on software adapters and if the size of the memory is
    /// unknown.
    pub(crate) fn growth(&self, bytes: u64, axes: u32) -> i64 {
        let (gpu, ranks) = (self.world.gpu(), self.world.size() as u64);
        if gpu.adapter().device_type == wgpu::DeviceType::Cpu {
            return 1;
        }
        let memory = gpu.adapter().memory_bytes.unwrap_or(0) / 24 / ranks;
        let limit = memory.min(gpu.limits().binding_bytes);
        let fits = |factor: &i64| bytes * (*factor as u64).pow(axes) <= limit;
        (0..8).map(|power| 1 << power).take_while(fits).last().unwrap_or(1)
    }

    /// Reports the ratio of the library's time to that of each other contender.
    ///
    /// The library is the first contender. The time of a sample is that of the slowest rank, per
    /// repeat. `bytes` is the number of bytes that a rank moves; `target` limits the ratio to the
    /// second contender. Collective.
    pub(crate) fn compare(
        &self,
        case: &str,
        bytes: u64,
        target: Option<f64>,
        contenders: Vec<Contender<'_>>,
    ) -> Result<()> {
        self.measure(Case { name: case, bytes, cells: None, target: target.map(Target::Ratio) }, contenders)
    }

    /// [`compare`](Self::compare) with all options. A case that takes seconds has fewer samples, at
    /// least three.
    pub(crate) fn measure(&self, case: Case<'_>, mut contenders: Vec<Contender<'_>>) -> Result<()> {
        let name = self.named(case.name);
        if !self.options.selects(&name) {
            return Ok(());
        }
        let mut round = 0.0;
        let mut repeats = Vec::new();
        for contender in &mut contenders {
            // Short operations warm up with three runs, long ones with one.
            let first = self.slowest(vec![self.sample(contender, 1)?])?[0];
            round += first;
            if first > 10.0 * SAMPLE_SECS {
                repeats.push(1);
                continue;
            }
            self.sample(contender, 2)?;
            let once = self.slowest(vec![self.sample(contender, 3)?])?[0];
            repeats.push((SAMPLE_SECS / once).clamp(1.0, MAX_REPEATS) as usize);
        }
        let mut secs = vec![Vec::new(); contenders.len()];
        let samples = ((self.options.case_secs() / round) as usize)
            .clamp(3, self.options.samples().max(3))
            .min(self.options.samples());
        for sample in 0..samples {
            for turn in 0..contenders.len() {
                let index = (sample + turn) % contenders.len();
                secs[index].push(self.sample(&mut contenders[index], repeats[index])?);
            }
        }
        let secs = secs.into_iter().map(|secs| self.slowest(secs)).collect::<Result<Vec<_>>>()?;
        let figures: Vec<Figure> =
            contenders.iter().zip(&secs).map(|(contender, own)| Figure::new(contender.name, own, &secs[0])).collect();
        self.report(&name, &case, samples, &figures);
        Ok(())
    }

    /// Times contenders that take seconds: one untimed run, then one run in each sample.
    ///
    /// Returns the seconds of the slowest rank for each contender and sample. Collective.
    pub(crate) fn alternate(&self, samples: usize, contenders: &mut [Contender<'_>]) -> Result<Vec<Vec<f64>>> {
        let mut secs = vec![Vec::new(); contenders.len()];
        for sample in 0..=samples {
            for turn in 0..contenders.len() {
                let index = (sample + turn) % contenders.len();
                let once = self.sample(&mut contenders[index], 1)?;
                if sample > 0 {
                    secs[index].push(once);
                }
            }
        }
        secs.into_iter().map(|secs| self.slowest(secs)).collect()
    }

    /// Seconds per repeat until the device has finished.
    fn sample(&self, contender: &mut Contender<'_>, repeats: usize) -> Result<f64> {
        self.world.barrier()?;
        let mut secs = 0.0;
        let mut begun = Instant::now();
        for _ in 0..repeats {
            if let Some(setup) = &mut contender.setup {
                setup()?;
                self.wait_for_device()?;
                begun = Instant::now();
            }
            (contender.run)()?;
            if contender.setup.is_some() {
                self.wait_for_device()?;
                secs += begun.elapsed().as_secs_f64();
            }
        }
        if contender.setup.is_none() {
            self.wait_for_device()?;
            secs = begun.elapsed().as_secs_f64();
        }
        Ok(secs / repeats as f64)
    }

    pub(crate) fn wait_for_device(&self) -> Result<()> {
        let device = self.world.gpu();
        device.wait()?;
        device.raw().poll(wgpu::PollType::wait_indefinitely()).expect("the device works");
        Ok(())
    }

    /// Largest value of each element over all ranks. Collective.
    pub(crate) fn slowest(&self, mut secs: Vec<f64>) -> Result<Vec<f64>> {
        self.world.group().all_reduce(&mut secs, |max, other| *max = max.max(*other))?;
        Ok(secs)
    }

    /// Prints a case on rank 0 and adds it to the results. The library is first.
    pub(crate) fn report(&self, name: &str, case: &Case<'_>, samples: usize, figures: &[Figure]) {
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

    /// Rank 0 writes all cases so far, so that an interrupted run keeps them.
    pub(crate) fn add(&self, case: Value) {
        self.cases.borrow_mut().push(case);
        if self.world.rank() == 0 {
            write(&self.cases.borrow());
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

impl Spread {
    /// Median and quartiles of `values`, which must not be empty.
    pub(crate) fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let quantile = |fraction: f64| sorted[(fraction * (sorted.len() - 1) as f64).round() as usize];
        Self { median: quantile(0.5), low: quantile(0.25), high: quantile(0.75) }
    }
}

/// Time of a contender, and the ratio of the library's time to it.
pub(crate) struct Figure {
    name: &'static str,
    pub secs: Spread,
    ratio: Spread,
}

impl Figure {
    pub(crate) fn new(name: &'static str, secs: &[f64], library: &[f64]) -> Self {
        let ratios: Vec<f64> = library.iter().zip(secs).map(|(library, secs)| library / secs).collect();
        Self { name, secs: Spread::of(secs), ratio: Spread::of(&ratios) }
    }

    fn print(&self, index: usize, case: &Case<'_>) {
        let Self { name, secs, ratio } = self;
        let micros = |secs: f64| secs * 1e6;
        print!("    {name:<32} {:>11.1} us [{:.1}, {:.1}]", micros(secs.median), micros(secs.low), micros(secs.high));
        if let Some(cells) = case.cells {
            print!(" {:>8.1} Mcells/s", cells as f64 / secs.median / 1e6);
        }
        print!("   ratio {:.2} [{:.2}, {:.2}]", ratio.median, ratio.low, ratio.high);
        let verdict = |met| if met { "met" } else { "MISSED" };
        match (index, case.target) {
            (0, Some(Target::Secs(limit))) => {
                print!("   target {:.1} ms: {}", limit * 1e3, verdict(secs.median <= limit));
            }
            (1, Some(Target::Ratio(limit))) => print!("   target {limit:.1}: {}", verdict(ratio.median <= limit)),
            _ => {}
        }
        println!();
    }

    pub(crate) fn json(&self) -> Value {
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
