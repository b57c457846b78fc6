//! The steps of `cargo xtask test`, in the order in which they run.

use std::process::{Command, Stdio};

use crate::cargo_test::{Counts, Failed, Outcome, Reader, watched};
use crate::context::Context;
use crate::drivers;
use crate::mpi::{self, Mpi};
use crate::ranks::{self, Ranks};

/// One step: its name, what it shows, and how it is done.
pub struct Step {
    pub name: &'static str,
    pub about: &'static str,
    /// Whether it is left out where there is no MPI.
    pub mpi: bool,
    /// What Cargo is asked for, one command after the other; `{all}` is the whole workspace with the features of this run,
    /// the same for every step, so that nothing is built twice. Without commands the examples are run.
    commands: &'static [&'static str],
    /// The environment of these commands.
    environment: fn(&Workplace, &mut Command) -> Result<(), String>,
}

/// What the steps share: the project on this machine, and the MPI to build and test with, if any.
pub struct Workplace {
    pub context: Context,
    pub mpi: Option<Mpi>,
}

/// All of them. The quick ones come first.
pub const STEPS: [Step; 10] = [
    step("format", "rustfmt finds nothing to change", &["fmt --all --check"]),
    step("lints", "clippy finds nothing, in every target", &["clippy {all} --all-targets --keep-going -- -D warnings"]),
    Step {
        mpi: true,
        ..step(
            "default-build",
            "the build without MPI compiles, in every target",
            // The second as `cargo xtask demo` builds it.
            &["check --workspace --all-targets --keep-going", "check --package volume --no-default-features"],
        )
    },
    Step {
        environment: |_, command| set(command, &[("RUSTDOCFLAGS", "-D warnings")]),
        ..step("docs", "the documentation builds without a warning", &["doc {all} --no-deps"])
    },
    step("build", "every test and example builds", &["test {all} --no-run"]),
    step("tests", "unit, integration and documentation tests; ranks as threads", &["test {all} --no-fail-fast"]),
    // The path for GPUs whose memory the host cannot map.
    Step {
        environment: |_, command| set(command, &[("ZIPPY_HOST_MAP", "0")]),
        ..step(
            "no-host-map",
            "tests that open a world, again with host mapping off",
            &[EXAMPLES, "test {all} --no-fail-fast --test world --test ranks --test picture"],
        )
    },
    // Arrays beyond a binding limit, without their size: the modules whose kernels and transfers address cells.
    Step {
        environment: |_, command| set(command, &[("ZIPPY_HOST_MAP", "0"), ("ZIPPY_BINDING_LIMIT", "65536")]),
        ..step(
            "windows",
            "what addresses cells again, with chunks seen through windows of 64 KiB",
            &[
                EXAMPLES,
                "test {all} --no-fail-fast --test world --test ranks -- arrays:: bricks:: coded:: composite copy \
                 elementwise:: features:: fill_with:: ghosts in_place:: kernels:: layers:: one_sided:: \
                 random_operations:: reduce:: render:: together::",
            ],
        )
    },
    // Each test binary runs itself, or a part of itself, under the launcher; this only tells it to.
    Step {
        mpi: true,
        environment: under_launcher,
        ..step(
            "mpi",
            "the same suites under the launcher with 2, 3 and 4 ranks",
            &[
                EXAMPLES,
                "test {all} --no-fail-fast --test world --test transport --test ranks --test picture --test program \
                 -- under_mpi",
            ],
        )
    },
    step("examples", "every example, with 1 and 4 thread ranks and 3 MPI ranks", &[]),
];

/// What `--quick` runs after `format`: what tells most in little time, for the minute between two edits.
pub const QUICK: Step = step(
    "quick",
    "everything compiles; plans, units and the rules of the house hold",
    &[
        "check {all} --all-targets",
        "test {features} --package zippy-plan --package zippy-ga --package zippy-io --lib --test plans --test architecture",
    ],
);

/// What `--drivers` runs. What passes on one driver only takes something for granted that is not promised.
pub const DRIVERS: Step = Step {
    environment: on_other_driver,
    ..step(
        "drivers",
        "what uses a device, on another implementation of Vulkan",
        &[EXAMPLES, "test {all} --no-fail-fast --test world --test device --test ranks --test picture"],
    )
};

/// Some tests start examples.
const EXAMPLES: &str = "build {all} --examples";

const fn step(name: &'static str, about: &'static str, commands: &'static [&'static str]) -> Step {
    Step { name, about, mpi: false, commands, environment: |_, _| Ok(()) }
}

fn set(command: &mut Command, variables: &[(&str, &str)]) -> Result<(), String> {
    command.envs(variables.iter().copied());
    Ok(())
}

fn under_launcher(workplace: &Workplace, command: &mut Command) -> Result<(), String> {
    let mpi = workplace.mpi.as_ref().ok_or("this step needs MPI")?;
    mpi::prepare(&workplace.context, mpi.family, command);
    command.env("ZIPPY_TEST_MPI", "1").env("ZIPPY_MPIRUN", &mpi.launcher);
    Ok(())
}

fn on_other_driver(workplace: &Workplace, command: &mut Command) -> Result<(), String> {
    let manifest = drivers::manifest(&workplace.context)?;
    say!("VK_DRIVER_FILES={}", manifest.display());
    command.envs(drivers::VARIABLES.map(|name| (name, &manifest))).env_remove("ZIPPY_ADAPTER");
    Ok(())
}

/// Arguments of the programs that need some; `{out}` is a file name to write to.
const ARGUMENTS: [(&str, &[&str]); 1] =
    [("volume", &["--size", "96x64", "--output", "{out}.png", "--compare-single", "--json"])];

impl Workplace {
    /// Does a step.
    pub fn run(&self, step: &Step) -> Outcome {
        if step.commands.is_empty() {
            return self.run_examples();
        }
        let features = if self.mpi.is_some() { "--features mpi" } else { "" };
        let mut counts = Counts::default();
        for line in step.commands {
            let line = line.replace("{all}", "--workspace {features}").replace("{features}", features);
            let mut command = self.context.cargo(&line.split_whitespace().collect::<Vec<_>>());
            (step.environment)(self, &mut command)?;
            counts = watched(command)?;
            // Filters that match no test run nothing, and that is no success.
            if line.contains(" --test ") && counts.passed == 0 {
                return Err("no test was run".to_string().into());
            }
        }
        Ok(counts)
    }

    /// Each ends in assertions, so its exit code is the verdict.
    fn run_examples(&self) -> Outcome {
        let features: &[&str] = if self.mpi.is_some() { &["--features", "mpi"] } else { &[] };
        let built =
            self.context.build(&[&["build", "--workspace", "--examples", "--bin", "volume"], features].concat())?;
        let directory = self.context.scratch("examples")?;
        // What the README says that its program prints.
        let readme = std::fs::read_to_string(self.context.root.join("README.md")).map_err(|error| error.to_string())?;
        let printed = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap_or_default();
        let mut counts = Counts::default();
        let mut failures = Vec::new();
        let under_mpi = self.mpi.as_ref().map(|_| Ranks::Mpi(3));
        // The example `doctor` is a tool, run by `cargo xtask doctor`.
        for program in built.iter().filter(|program| program.name != "doctor") {
            for ranks in [Ranks::Threads(1), Ranks::Threads(4)].into_iter().chain(under_mpi) {
                let mut command = ranks::command(&self.context, self.mpi.as_ref(), &program.path, Some(ranks))?;
                let arguments = ARGUMENTS.iter().find(|(name, _)| *name == program.name);
                let out = format!("{}-{}", program.name, ranks.label().replace(' ', "-"));
                command.args(arguments.iter().flat_map(|(_, words)| *words).map(|word| word.replace("{out}", &out)));
                command.env("MPIEXEC_TIMEOUT", "300").current_dir(&directory).stdin(Stdio::null());
                let output = command.output().map_err(|error| format!("{}: {error}", program.path.display()))?;
                let what = format!("example {} with {}", program.name, ranks.label());
                let shown = program.name != "readme" || printed.as_bytes() == output.stdout;
                if output.status.success() && shown {
                    counts.passed += 1;
                    say!("{what}: ok");
                    continue;
                }
                counts.failed += 1;
                say!("{what}: FAILED ({})", output.status);
                let mut reader = Reader::default();
                let both = [output.stdout, output.stderr].concat();
                for line in String::from_utf8_lossy(&both).lines() {
                    say!("{line}");
                    reader.feed(line);
                }
                failures.extend(reader.finish(&what, false));
            }
        }
        if failures.is_empty() {
            return Ok(counts);
        }
        Err(Failed { message: format!("{} runs of examples failed", counts.failed), counts, failures })
    }
}
