//! The steps of `cargo xtask test`, in the order in which they run.

use std::process::Command;

use crate::cargo_test::{Failure, MAX_SILENCE, Outcome, run_with_timeout};
use crate::context::{BuiltProgram, Context};
use crate::mpi;
use crate::ranks::{self, Ranks};

/// A step of `cargo xtask test`.
pub struct Step {
    pub name: &'static str,
    /// Purpose, in one line.
    pub about: &'static str,
    environment: Environment,
    /// Arguments of Cargo, one command after the other. A step without commands runs the examples.
    ///
    /// * `{test}` runs all tests, also after a failure.
    /// * `{suites}` runs tests with ranks.
    /// * `{all}` is the workspace with the features of this run: the same features in all commands
    ///   avoid a second build.
    commands: Commands,
}

type Environment = &'static [(&'static str, &'static str)];
type Commands = &'static [&'static str];

/// All steps, quick ones first.
pub const STEPS: [Step; 10] = [
    step("format", "rustfmt finds nothing to change", &[], &["fmt --all --check"]),
    step("lints", "clippy finds nothing", &[], &["clippy {all} --all-targets --keep-going -- -D warnings"]),
    step(
        "default-build",
        "the build of `cargo xtask demo`, and tests, without MPI and without features that only other packages need",
        &[],
        &[
            "check --package zippy-ga --package volume --package lbm --no-default-features --lib --bins --test=world --test=transport",
        ],
    ),
    step("docs", "documentation builds without warnings", &[("RUSTDOCFLAGS", "-D warnings")], &["doc {all} --no-deps"]),
    step("build", "every test and example builds", &[], &["test {all} --no-run"]),
    step("tests", "unit, integration and documentation tests; ranks as threads", &[], &["{test}"]),
    // Emulates GPUs with memory that the host cannot map, and arrays larger than the binding limit.
    // Skips tests of rays, of memory and of long vectors, as their results would be the same.
    step(
        "no-host-map",
        "tests that open a world, again with host mapping off and chunks seen through windows of 64 KiB",
        &[("ZIPPY_HOST_MAP", "0"), ("ZIPPY_BINDING_LIMIT", "65536")],
        &[
            EXAMPLES,
            "{suites} -- --skip closed_form --skip fast_mode --skip features --skip leaps --skip other_modes --skip same_bits \
             --skip scans --skip solids:: --skip ten_million --skip trees:: --skip vtk --skip without_mapping",
        ],
    ),
    step(
        "no-driver",
        "tests of the library, again without any Vulkan driver; skips tests that draw or compute by a driver",
        WITHOUT_DRIVER,
        &["{test} --test world -- {not_by_driver}"],
    ),
    // Each test starts its own binary under the launcher.
    step(
        "mpi",
        "the suites under the launcher with 3 ranks; most of transport and random operations with 2 and 4, too",
        &[("ZIPPY_TEST_MPI", "1")],
        &[EXAMPLES, "{suites} --lib --test flow --test transport --test picture --test program -- under_mpi"],
    ),
    step("examples", "every example, with 1 and 4 thread ranks and 3 MPI ranks", &[], &[]),
];

/// The step that `--quick` runs after `format`: the most informative checks that take a minute, for
/// use between two edits.
pub const QUICK: Step = step(
    "quick",
    "everything compiles; tests of plans, units and architecture pass",
    &[],
    &[
        "check {all} --all-targets",
        "test {features} --package zippy-plan --package zippy-ga --package zippy-io --lib --test plans --test architecture",
    ],
);

/// The step that `--drivers` runs. A test that passes on one driver only relies on unspecified
/// behaviour.
pub const DRIVERS: Step = step(
    "drivers",
    "tests with a device, on another implementation of Vulkan",
    &[],
    &[EXAMPLES, "{suites} --test device --test flow --test picture"],
);

/// The step that `--no-driver` runs.
pub const NO_DRIVER: Step = step(
    "no-driver",
    "tests with a device, without any Vulkan driver; skips tests that draw or compute by a driver",
    WITHOUT_DRIVER,
    &[
        EXAMPLES,
        "{suites} --lib --test alone --test device --test flow --test picture --test pictures --test program --test viewer \
         --test window -- {not_by_driver}",
    ],
);

/// Environment in which the Vulkan loader finds no driver.
const WITHOUT_DRIVER: Environment = &[("VK_DRIVER_FILES", "/nonexistent"), ("VK_ICD_FILENAMES", "/nonexistent")];

/// Filter that skips tests that draw or compute by a driver.
const NOT_BY_DRIVER: &str = "--skip by_driver";

/// Tests with ranks that have devices.
const SUITES: &str = "{test} --test world --test algorithms --test ranks --test surfaces";
const EXAMPLES: &str = "build {all} --examples";

const fn step(name: &'static str, about: &'static str, environment: Environment, commands: Commands) -> Step {
    Step { name, about, environment, commands }
}

impl Step {
    pub fn run(&self, context: &Context) -> Result<Outcome, String> {
        if self.commands.is_empty() {
            return run_examples(context);
        }
        let mut outcome = Outcome::default();
        for line in self.commands {
            let line = line.replace("{suites}", SUITES).replace("{not_by_driver}", NOT_BY_DRIVER);
            let line = line.replace("{test}", "test {all} --no-fail-fast");
            let line =
                line.replace("{all}", "--workspace {features}").replace("{features}", &context.features().join(" "));
            let mut command = context.cargo(&line.split_whitespace().collect::<Vec<_>>());
            // Tests choose their own number of ranks. A snapshot that differs fails, and writes no
            // file.
            command.env_remove("ZIPPY_RANKS").env("INSTA_UPDATE", "no").envs(self.environment.iter().copied());
            if let Some(mpi) = &context.mpi {
                mpi::prepare(context, mpi, &mut command);
                command.env("ZIPPY_MPIRUN", &mpi.launcher);
            }
            outcome = run_with_timeout(command, &format!("cargo {line}"), MAX_SILENCE)?;
            // The summary counts tests that `--skip` excludes, not tests that a filter does not
            // select.
            outcome.skipped *= usize::from(line.contains("--skip"));
            // A filter that matches no test is an error.
            if outcome.problem.is_none() && line.contains(" --test ") && outcome.passed == 0 {
                outcome.problem = Some("no test was run".into());
            }
            if outcome.problem.is_some() {
                break;
            }
        }
        Ok(outcome)
    }
}

/// Runs all examples. Each example ends in assertions, so its exit code is the result.
fn run_examples(context: &Context) -> Result<Outcome, String> {
    let build = ["build", "--workspace", "--examples", "--bin", "volume", "--bin", "isosurface", "--bin", "lbm"];
    let built = context.build(&[&build, context.features()].concat())?;
    let under_mpi = context.mpi.iter().map(|_| Ranks::Mpi(3));
    // The README contains the output of its program.
    let readme = std::fs::read_to_string(context.root.join("README.md")).map_err(|error| error.to_string())?;
    let expected = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next());
    let expected = expected.ok_or("README.md does not contain the output of its program")?;
    let mut all = Outcome::default();
    // The example `doctor` is a tool, run by `cargo xtask doctor`.
    for program in built.iter().filter(|program| program.name != "doctor") {
        for ranks in [Ranks::Threads(1), Ranks::Threads(4)].into_iter().chain(under_mpi.clone()) {
            let run = format!("example {} with {}", program.name, ranks.label());
            say!("--- {run}");
            let outcome = run_with_timeout(example(context, program, ranks)?, &run, MAX_SILENCE)?;
            if program.name == "readme" && !outcome.lines.join("\n").contains(expected.trim_end()) {
                all.failures.push(Failure::new(&format!("{run}: its output differs from the README"), &outcome.lines));
            } else {
                all.passed += usize::from(outcome.problem.is_none());
            }
            all.failures.extend(outcome.failures);
        }
    }
    all.failed = all.failures.len();
    all.problem = (all.failed > 0).then(|| format!("{} runs of examples failed", all.failed));
    Ok(all)
}

/// Command that runs an example with small inputs.
fn example(context: &Context, program: &BuiltProgram, ranks: Ranks) -> Result<Command, String> {
    let mut command = ranks::command(context, &program.path, ranks)?;
    let arguments = match &*program.name {
        "volume" => "--size 96x64 --compare-single --output {picture}",
        "isosurface" => "--n 24 --with-volume --render {picture}",
        "lbm" => "--case cavity3d --n 16 --steps 40 --hash",
        _ => "",
    };
    let picture = format!("{}-{}.png", program.name, ranks.label().replace(' ', "-"));
    command.args(arguments.replace("{picture}", &picture).split_whitespace());
    command.current_dir(context.scratch("examples")?);
    Ok(command)
}
