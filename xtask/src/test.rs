//! `cargo xtask test`: everything that has to hold, as a list of steps.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::args::{Parsed, SETUP_FLAGS, Spec, switch, value};
use crate::context::Context;
use crate::examples::{self, Ranks};
use crate::{mpi, setup};

/// One step: its name, what it shows, whether it needs MPI, and how it is done.
struct Step {
    name: &'static str,
    about: &'static str,
    mpi: bool,
    run: fn(&Bench) -> Result<Counts, String>,
}

/// What the steps share.
struct Bench {
    context: Context,
    mpi: Option<mpi::Mpi>,
}

/// Tests, or runs of examples, that a step has counted.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Counts {
    passed: usize,
    failed: usize,
}

const STEPS: [Step; 9] = [
    Step { name: "format", about: "rustfmt finds nothing to change", mpi: false, run: format },
    Step { name: "lints", about: "clippy finds nothing, in every target", mpi: false, run: lints },
    Step {
        name: "default-build",
        about: "the build without MPI compiles, in every target",
        mpi: true,
        run: default_build,
    },
    Step { name: "docs", about: "the documentation builds without a warning", mpi: false, run: docs },
    Step { name: "build", about: "every test and example builds", mpi: false, run: build },
    Step {
        name: "tests",
        about: "unit, integration and documentation tests; ranks as threads",
        mpi: false,
        run: tests,
    },
    Step {
        name: "no-host-map",
        about: "tests that open a world, again with host mapping off",
        mpi: false,
        run: no_host_map,
    },
    Step { name: "mpi", about: "the same suites under the launcher with 2, 3 and 4 ranks", mpi: true, run: under_mpi },
    Step {
        name: "examples",
        about: "every example, with 1 and 4 thread ranks and 3 MPI ranks",
        mpi: false,
        run: run_examples,
    },
];

fn spec() -> Spec {
    let mut about = "\
cargo xtask test [OPTIONS]

Sets this machine up (asks once before installing anything), then runs these steps and prints a summary; the exit code
is 0 only if all of them pass. Everything is built once, in one profile.
"
    .to_string();
    for step in &STEPS {
        about += &format!("\n  {:14} {}", step.name, step.about);
    }
    let own = [
        value("--only", "STEP", "run only this step (may be repeated)"),
        value("--skip", "STEP", "leave this step out (may be repeated)"),
        switch("--no-mpi", "default features only: neither install, build nor run anything with MPI"),
        switch("--list", "print the names of the steps"),
    ];
    Spec {
        command: "test",
        about: Box::leak((about + "\n").into_boxed_str()),
        flags: own.into_iter().chain(SETUP_FLAGS).collect(),
        rest: false,
    }
}

/// Runs the command.
pub fn run(arguments: &[String]) -> Result<u8, String> {
    let Some(parsed) = spec().parse(arguments)? else { return Ok(0) };
    let steps = chosen(&parsed)?;
    if parsed.has("--list") {
        steps.iter().for_each(|step| println!("{}", step.name));
        return Ok(0);
    }
    let with_mpi = !parsed.has("--no-mpi");
    let mut context = Context::new()?;
    let needs = if with_mpi { setup::MPI } else { setup::GRAPHICS };
    setup::ensure(&mut context, &[setup::CHECKS, needs].concat(), &parsed)?;
    let mpi = if with_mpi { Some(mpi::find(&context)?) } else { None };
    let bench = Bench { context, mpi };
    let mut results = Vec::new();
    for step in steps {
        println!("\n==> {}: {}", step.name, step.about);
        let start = Instant::now();
        let outcome = (step.run)(&bench);
        if let Err(message) = &outcome {
            println!("--- {} failed: {message}", step.name);
        }
        results.push((step.name, start.elapsed(), outcome));
    }
    println!("\n{}", summary(&results));
    Ok(u8::from(results.iter().any(|(_, _, outcome)| outcome.is_err())))
}

/// The steps that the flags leave.
fn chosen(parsed: &Parsed) -> Result<Vec<&'static Step>, String> {
    let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
    let (only, skip) = (parsed.all("--only"), parsed.all("--skip"));
    if let Some(unknown) = only.iter().chain(&skip).find(|name| !names.contains(name)) {
        let hint = crate::args::suggest(unknown, &names);
        return Err(format!("there is no step {unknown:?}{hint}\nThere are: {}", names.join(" ")));
    }
    let kept = |step: &&Step| {
        (only.is_empty() || only.contains(&step.name))
            && !skip.contains(&step.name)
            && !(step.mpi && parsed.has("--no-mpi"))
    };
    let steps: Vec<&Step> = STEPS.iter().filter(kept).collect();
    if steps.is_empty() { Err("these flags leave no step to run".into()) } else { Ok(steps) }
}

fn summary(results: &[(&str, Duration, Result<Counts, String>)]) -> String {
    let mut text = format!("{:14} {:>9} {:>7} {:>7}  result\n", "step", "seconds", "passed", "failed");
    for (name, elapsed, outcome) in results {
        let counts = outcome.clone().unwrap_or_default();
        let number = |count: usize| if counts == Counts::default() { "-".into() } else { count.to_string() };
        let verdict = outcome.as_ref().map_or_else(|message| format!("FAILED: {message}"), |_| "ok".into());
        let secs = elapsed.as_secs_f64();
        text += &format!("{name:14} {secs:9.1} {:>7} {:>7}  {verdict}\n", number(counts.passed), number(counts.failed));
    }
    let failed = results.iter().filter(|(_, _, outcome)| outcome.is_err()).count();
    let total: Duration = results.iter().map(|(_, elapsed, _)| *elapsed).sum();
    text += &format!("{:14} {:9.1}\n\n", "all", total.as_secs_f64());
    text + &format!("{} passed, {failed} failed", results.len() - failed)
}

impl Bench {
    /// A Cargo command over the whole workspace with the features of this run: the same for every step, so that
    /// nothing is built twice.
    fn cargo(&self, words: &[&str]) -> Command {
        let mut command = self.context.cargo();
        command.args(words).arg("--workspace").args(self.features());
        // Tests choose their own number of ranks.
        command.env_remove("ZIPPY_RANKS").stdin(Stdio::null());
        command
    }

    fn features(&self) -> &'static [&'static str] {
        if self.mpi.is_some() { &["--features", "mpi"] } else { &[] }
    }
}

/// Runs a command that has to succeed.
fn succeed(mut command: Command) -> Result<Counts, String> {
    let status = command.status().map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    if status.success() { Ok(Counts::default()) } else { Err(format!("{status}")) }
}

/// Runs tests, passing their output through, and counts them.
fn counted(mut command: Command) -> Result<Counts, String> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    let mut counts = Counts::default();
    for line in BufReader::new(child.stdout.take().ok_or("the tests have no output")?).lines() {
        let line = line.map_err(|error| error.to_string())?;
        println!("{line}");
        if let Some(found) = result_line(&line) {
            counts.passed += found.passed;
            counts.failed += found.failed;
        }
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    match (status.success(), counts.failed) {
        (true, _) => Ok(counts),
        (false, 0) => Err(format!("{status} ({} tests passed before)", counts.passed)),
        (false, failed) => Err(format!("{failed} of {} tests failed", failed + counts.passed)),
    }
}

/// The counts in a line such as `test result: ok. 12 passed; 0 failed; 0 ignored; …`.
fn result_line(line: &str) -> Option<Counts> {
    let rest = line.strip_prefix("test result: ")?;
    let number = |label: &str| {
        let words: Vec<&str> = rest.split([' ', ';']).filter(|word| !word.is_empty()).collect();
        words.windows(2).find(|pair| pair[1] == label).and_then(|pair| pair[0].parse().ok())
    };
    Some(Counts { passed: number("passed")?, failed: number("failed")? })
}

fn format(bench: &Bench) -> Result<Counts, String> {
    let mut command = bench.context.cargo();
    command.args(["fmt", "--all", "--check"]);
    succeed(command)
}

fn lints(bench: &Bench) -> Result<Counts, String> {
    let mut command = bench.cargo(&["clippy", "--all-targets"]);
    command.args(["--", "-D", "warnings"]);
    succeed(command)
}

fn default_build(bench: &Bench) -> Result<Counts, String> {
    let mut command = bench.context.cargo();
    command.args(["check", "--workspace", "--all-targets"]);
    succeed(command)
}

fn docs(bench: &Bench) -> Result<Counts, String> {
    let mut command = bench.cargo(&["doc", "--no-deps"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    succeed(command)
}

fn build(bench: &Bench) -> Result<Counts, String> {
    succeed(bench.cargo(&["test", "--no-run"]))
}

fn tests(bench: &Bench) -> Result<Counts, String> {
    counted(bench.cargo(&["test", "--no-fail-fast"]))
}

fn no_host_map(bench: &Bench) -> Result<Counts, String> {
    let mut command = bench.cargo(&["test", "--no-fail-fast"]);
    let names = world_tests(&bench.context)?;
    if names.is_empty() {
        return Ok(Counts::default());
    }
    command.args(names.iter().flat_map(|name| ["--test", name]));
    command.env("ZIPPY_HOST_MAP", "0");
    counted(command)
}

/// The integration tests whose source names `World`: those in which arrays are moved.
fn world_tests(context: &Context) -> Result<Vec<String>, String> {
    let names = context.targets("test")?.into_iter().map(|target| target.name);
    let opens = |name: &String| {
        let source = std::fs::read_to_string(context.root.join("tests").join(format!("{name}.rs")));
        source.is_ok_and(|source| name != "architecture" && source.contains("World"))
    };
    Ok(names.filter(opens).collect())
}

/// Each test binary re-runs itself under the launcher; this step only tells it to.
fn under_mpi(bench: &Bench) -> Result<Counts, String> {
    let launcher = &bench.mpi.as_ref().ok_or("this step needs MPI")?.launcher;
    let mut command = bench.cargo(&["test", "--no-fail-fast", "--tests"]);
    command.args(["--", "under_mpi"]);
    command.env("ZIPPY_TEST_MPI", "1").env("ZIPPY_MPIRUN", launcher);
    counted(command)
}

fn run_examples(bench: &Bench) -> Result<Counts, String> {
    let arguments = [&["build", "--workspace", "--examples"], bench.features()].concat();
    let built = bench.context.build(&arguments)?;
    let directory = bench.context.scratch("examples")?;
    let mut counts = Counts::default();
    for program in built.iter().filter(|program| program.kind == "example" && examples::is_tested(&program.name)) {
        let mpi_ranks = bench.mpi.as_ref().map(|_| Ranks::Mpi(3));
        for ranks in [Ranks::Threads(1), Ranks::Threads(4)].into_iter().chain(mpi_ranks) {
            let mut command = match (ranks, &bench.mpi) {
                (Ranks::Mpi(n), Some(mpi)) => {
                    mpi::check_linked(mpi, &program.path)?;
                    mpi::command(&bench.context, mpi, n, &program.path)
                }
                _ => bench.context.command(&program.path),
            };
            examples::prepare(&mut command, &program.name, ranks);
            command.env("MPIEXEC_TIMEOUT", "300").current_dir(&directory).stdin(Stdio::null());
            let output = command.output().map_err(|error| format!("{}: {error}", program.path.display()))?;
            let passed = output.status.success();
            println!("example {} with {}: {}", program.name, ranks.label(), if passed { "ok" } else { "FAILED" });
            if !passed {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                println!("{}\n{}{}", output.status, text(&output.stdout), text(&output.stderr));
            }
            counts.passed += usize::from(passed);
            counts.failed += usize::from(!passed);
        }
    }
    if counts.failed == 0 { Ok(counts) } else { Err(format!("{} runs of examples failed", counts.failed)) }
}

#[cfg(test)]
mod unit {
    use super::*;

    fn parsed(line: &str) -> Parsed {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        spec().parse(&words).unwrap().unwrap()
    }

    fn names(line: &str) -> Vec<&'static str> {
        chosen(&parsed(line)).unwrap().iter().map(|step| step.name).collect()
    }

    #[test]
    fn steps_are_chosen() {
        assert_eq!(names("").len(), STEPS.len());
        assert_eq!(names("--only docs --only format"), ["format", "docs"]);
        assert!(!names("--skip docs").contains(&"docs"));
        assert!(!names("--no-mpi").contains(&"mpi"));
        assert!(chosen(&parsed("--only dosc")).err().unwrap().contains("did you mean \"docs\"?"));
        assert!(chosen(&parsed("--only mpi --no-mpi")).is_err());
    }

    #[test]
    fn libtest_results_are_read() {
        let line = "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s";
        assert_eq!(result_line(line), Some(Counts { passed: 12, failed: 3 }));
        assert_eq!(result_line("test region::tests::x ... ok"), None);
    }

    #[test]
    fn the_summary_counts_steps() {
        let second = Duration::from_secs(1);
        let results = [
            ("format", second, Ok(Counts::default())),
            ("tests", second, Ok(Counts { passed: 7, failed: 0 })),
            ("mpi", second, Err("1 of 9 tests failed".to_string())),
        ];
        let text = summary(&results);
        assert!(text.ends_with("2 passed, 1 failed"), "{text}");
        assert!(text.contains("FAILED: 1 of 9 tests failed"), "{text}");
    }
}
