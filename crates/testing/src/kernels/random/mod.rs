//! Random kernels over the whole language, without data races.
//!
//! A [`Case`] is a syntax tree with its buffers. The result does not depend on the order of
//! invocations:
//!
//! * An invocation writes only its own elements of writable arrays, and changes other atomics only
//!   by operations that commute.
//! * An invocation reads only its own elements, bindings that no invocation writes, and memory of
//!   the workgroup across barriers.
//! * Bits of NaN never reach an integer.
//!
//! [`random_kernels`] compares an executor with the interpreter:
//!
//! ```ignore
//! #[test]
//! fn random_kernels_agree_with_interpreter() {
//!     let (count, seed) = (random::count(200), random::first_seed(0));
//!     let report = random::random_kernels(count, seed, executor::run);
//!     assert!(report.failures.is_empty(), "{report}");
//! }
//! ```
//!
//! `ZIPPY_RANDOM_KERNELS=100000` sets the number of kernels for a long run, `ZIPPY_RANDOM_SEED` the
//! first seed.

mod ast;
mod bindings;
mod builtins;
mod checksum;
mod data;
mod expressions;
mod floats;
mod generator;
mod index;
mod loops;
mod print;
mod program;
mod rng;
mod shrink;
mod statements;
mod workgroups;

use std::fmt;

use naga::Module;
use naga::valid::ModuleInfo;

use super::compare::{Failure, compare_with, compile};
use super::interpreter::{self, Buffers, Options};
use ast::Program;
use rng::Rng;

/// Types beyond `i32`, `u32`, `f32` and `bool`, and results beyond those that WGSL specifies, that
/// kernels may use.
#[derive(Debug, Clone, Copy)]
pub struct Extensions {
    pub half: bool,
    pub double: bool,
    pub wide_integers: bool,
    /// Rounded floats, NaN, infinities, denormals, zeros with a sign, indices out of range, and
    /// exchanges that may fail.
    pub unspecified_results: bool,
}

impl Extensions {
    pub const ALL: Self = Self { half: true, double: true, wide_integers: true, unspecified_results: true };
    pub const NONE: Self = Self { half: false, double: false, wide_integers: false, unspecified_results: false };
}

#[derive(Debug, Clone)]
pub struct Case {
    pub seed: u64,
    program: Program,
    pub buffers: Buffers,
    pub workgroups: [u32; 3],
}

impl Case {
    /// # Errors
    /// The text does not validate: a defect of the generator.
    pub fn generate(seed: u64, extensions: Extensions) -> Result<Self, Failure> {
        let mut rng = Rng::new(seed);
        let generated = program::generate(Rng::new(rng.next()), extensions);
        let (module, _) = compile(&generated.program.to_string()).map_err(Failure::Invalid)?;
        let buffers = data::fill(&mut rng, &module, &generated, extensions).map_err(Failure::Invalid)?;
        Ok(Self { seed, program: generated.program, buffers, workgroups: generated.workgroups })
    }

    pub fn text(&self) -> String {
        self.program.to_string()
    }

    pub fn compare(
        &self,
        options: &Options<'_>,
        executor: impl Fn(&Module, &ModuleInfo, &str, &mut Buffers, [u32; 3]) -> Result<(), String>,
    ) -> Result<(), Failure> {
        compare_with(options, &self.text(), &self.buffers, self.workgroups, executor)
    }

    /// Compares two opposite orders of invocations, and detects data races.
    pub fn check_order(&self) -> Result<(), Failure> {
        let forward = Options { max_steps: MAX_STEPS, ..Options::default() };
        let options = Options { reversed: true, check_races: true, max_steps: MAX_STEPS, ..Options::default() };
        self.compare(&forward, |module, info, entry, buffers, workgroups| {
            interpreter::run_with(&options, module, info, entry, buffers, workgroups)
        })
    }

    /// Reduces the case to a smaller one that fails in the same way.
    pub fn shrink(&self, fails: impl Fn(&Case) -> bool) -> Self {
        shrink::shrink(self, &fails)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "// seed {}, workgroups {:?}", self.seed, self.workgroups)?;
        let text = self.text();
        for ((group, binding), bytes) in &self.buffers {
            if !text.contains(&format!("@group({group}) @binding({binding}) ")) {
                continue;
            }
            let words = bytes.chunks(4).take(24).map(|word| {
                let digits = word.iter().rev().map(|byte| format!("{byte:02x}"));
                digits.collect::<String>()
            });
            let is_zero = bytes.iter().all(|byte| *byte == 0);
            let words = if is_zero { "zero".into() } else { words.collect::<Vec<_>>().join(" ") };
            writeln!(f, "// group {group}, binding {binding}: {} bytes: {words}", bytes.len())?;
        }
        f.write_str(&text)
    }
}

#[derive(Debug, Default)]
pub struct Report {
    pub compared: usize,
    /// Seeds with an invalid text, or too many steps for the interpreter.
    pub discarded: Vec<(u64, Failure)>,
    /// Reduced cases, at most [`MAX_FAILURES`].
    pub failures: Vec<(Case, Failure)>,
}

const MAX_STEPS: u64 = 5_000_000;

/// Failures after which a run of random kernels ends.
pub const MAX_FAILURES: usize = 3;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} kernels compared, {} discarded", self.compared, self.discarded.len())?;
        self.failures.iter().try_for_each(|(case, failure)| writeln!(f, "{failure}\n{case}"))
    }
}

/// Number of kernels: `ZIPPY_RANDOM_KERNELS`, or `default`.
pub fn count(default: usize) -> usize {
    let variable = std::env::var("ZIPPY_RANDOM_KERNELS").ok();
    variable.and_then(|count| count.parse().ok()).unwrap_or(default)
}

/// First seed: `ZIPPY_RANDOM_SEED`, or `default`.
pub fn first_seed(default: u64) -> u64 {
    let variable = std::env::var("ZIPPY_RANDOM_SEED").ok();
    variable.and_then(|seed| seed.parse().ok()).unwrap_or(default)
}

/// Compares the kernels of `count` seeds with the interpreter.
pub fn random_kernels(
    count: usize,
    first_seed: u64,
    executor: impl Fn(&Module, &ModuleInfo, &str, &mut Buffers, [u32; 3]) -> Result<(), String>,
) -> Report {
    random_kernels_with(&Options::default(), Extensions::ALL, count, first_seed, executor)
}

/// [`random_kernels`] with settings of the interpreter and types of the kernels.
pub fn random_kernels_with(
    options: &Options<'_>,
    extensions: Extensions,
    count: usize,
    first_seed: u64,
    executor: impl Fn(&Module, &ModuleInfo, &str, &mut Buffers, [u32; 3]) -> Result<(), String>,
) -> Report {
    let mut report = Report::default();
    for seed in first_seed..first_seed + count as u64 {
        let case = match Case::generate(seed, extensions) {
            Ok(case) => case,
            Err(failure) => {
                report.discarded.push((seed, failure));
                continue;
            }
        };
        report.compared += 1;
        match case.compare(options, &executor) {
            Ok(()) => {}
            Err(failure @ (Failure::Invalid(_) | Failure::Interpreter(_))) => report.discarded.push((seed, failure)),
            Err(failure) => {
                // A reduction may remove the end of a loop.
                let short = Options { max_steps: MAX_STEPS, ..*options };
                let small =
                    case.shrink(|case| case.compare(&short, &executor).is_err_and(|other| other.is_like(&failure)));
                let failure = small.compare(options, &executor).err().unwrap_or(failure);
                report.failures.push((small, failure));
                if report.failures.len() == MAX_FAILURES {
                    break;
                }
            }
        }
    }
    report
}
