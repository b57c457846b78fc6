//! The steps of `cargo xtask test`, in the order in which they run.

use std::process::{Command, Stdio};

use crate::cargo_test::{Counts, Failed, Outcome, Reader, watched};
use crate::context::Context;
use crate::ranks::{self, Ranks};
use crate::{drivers, mpi};

/// One step: its name, what it shows, whether it needs MPI, and how it is done.
pub struct Step {
    pub name: &'static str,
    pub about: &'static str,
    pub mpi: bool,
    pub run: fn(&Workplace) -> Outcome,
}

/// What the steps share.
pub struct Workplace {
    /// The project on this machine.
    pub context: Context,
    /// The MPI to build and test with; `None` for a run without.
    pub mpi: Option<mpi::Mpi>,
}

const fn step(name: &'static str, about: &'static str, run: fn(&Workplace) -> Outcome) -> Step {
    Step { name, about, mpi: false, run }
}

const fn mpi_step(name: &'static str, about: &'static str, run: fn(&Workplace) -> Outcome) -> Step {
    Step { name, about, mpi: true, run }
}

/// What `--quick` runs after `format`.
pub const QUICK: Step = step("quick", "everything compiles; plans, units and the rules of the house hold", quick);

/// What `--drivers` runs.
pub const DRIVERS: Step = step("drivers", "what uses a device, on another implementation of Vulkan", on_other_driver);

/// All of them. The quick ones come first.
pub const STEPS: [Step; 10] = [
    step("format", "rustfmt finds nothing to change", format),
    step("lints", "clippy finds nothing, in every target", lints),
    mpi_step("default-build", "the build without MPI compiles, in every target", default_build),
    step("docs", "the documentation builds without a warning", docs),
    step("build", "every test and example builds", build),
    step("tests", "unit, integration and documentation tests; ranks as threads", tests),
    step("no-host-map", "tests that open a world, again with host mapping off", no_host_map),
    step("windows", "what addresses cells again, with chunks seen through windows of 64 KiB", windows),
    mpi_step("mpi", "the same suites under the launcher with 2, 3 and 4 ranks", under_mpi),
    step("examples", "every example, with 1 and 4 thread ranks and 3 MPI ranks", run_examples),
];

impl Workplace {
    /// A Cargo command over the whole workspace with the features of this run: the same for every step, so that
    /// nothing is built twice.
    fn cargo(&self, words: &[&str]) -> Command {
        let mut command = self.context.cargo(words);
        command.arg("--workspace").args(self.features());
        command
    }

    fn features(&self) -> &'static [&'static str] {
        if self.mpi.is_some() { &["--features", "mpi"] } else { &[] }
    }
}

fn format(workplace: &Workplace) -> Outcome {
    watched(workplace.context.cargo(&["fmt", "--all", "--check"]))
}

fn lints(workplace: &Workplace) -> Outcome {
    let mut command = workplace.cargo(&["clippy", "--all-targets", "--keep-going"]);
    command.args(["--", "-D", "warnings"]);
    watched(command)
}

fn default_build(workplace: &Workplace) -> Outcome {
    watched(workplace.context.cargo(&["check", "--workspace", "--all-targets", "--keep-going"]))?;
    // As `cargo xtask demo` builds it.
    watched(workplace.context.cargo(&["check", "--package", "volume", "--no-default-features"]))
}

fn docs(workplace: &Workplace) -> Outcome {
    let mut command = workplace.cargo(&["doc", "--no-deps"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    watched(command)
}

fn build(workplace: &Workplace) -> Outcome {
    watched(workplace.cargo(&["test", "--no-run"]))
}

fn tests(workplace: &Workplace) -> Outcome {
    watched(workplace.cargo(&["test", "--no-fail-fast"]))
}

/// The test binaries that open worlds.
const WORLDS: [&str; 3] = ["world", "ranks", "picture"];
/// Those that use a device.
const DEVICE: [&str; 4] = ["world", "device", "ranks", "picture"];
/// Those that run themselves, or a part of themselves, under the launcher.
const JOBS: [&str; 5] = ["world", "transport", "ranks", "picture", "program"];
/// The modules whose kernels and transfers address cells: what windows could change.
const ADDRESSES: &str = "arrays:: bricks:: coded:: composite copy elementwise:: features:: fill_with:: ghosts in_place:: \
                         kernels:: layers:: one_sided:: random_operations:: reduce:: render:: together::";

/// Some test binaries; what follows `--` is the caller's.
fn binaries(workplace: &Workplace, names: &[&str]) -> Result<Command, String> {
    let known = workplace.context.targets("test")?;
    if let Some(name) = names.iter().find(|name| !known.iter().any(|target| target.name == **name)) {
        return Err(format!("there is no test binary {name:?}"));
    }
    // Some tests start examples.
    watched(workplace.cargo(&["build", "--examples"])).map_err(|failed| failed.message)?;
    let mut command = workplace.cargo(&["test", "--no-fail-fast"]);
    command.args(names.iter().flat_map(|name| ["--test", name])).arg("--");
    Ok(command)
}

/// The path for GPUs whose memory the host cannot map.
fn no_host_map(workplace: &Workplace) -> Outcome {
    let mut command = binaries(workplace, &WORLDS)?;
    command.env("ZIPPY_HOST_MAP", "0");
    watched(command)
}

/// Arrays beyond a binding limit, without their size.
fn windows(workplace: &Workplace) -> Outcome {
    let mut command = binaries(workplace, &WORLDS[..2])?;
    command.args(ADDRESSES.split(' ')).env("ZIPPY_HOST_MAP", "0").env("ZIPPY_BINDING_LIMIT", "65536");
    not_empty(watched(command))
}

/// What passes on one driver only takes something for granted that is not promised.
fn on_other_driver(workplace: &Workplace) -> Outcome {
    let manifest = drivers::manifest(&workplace.context)?;
    say!("the driver: {}", manifest.display());
    let mut command = binaries(workplace, &DEVICE)?;
    command.envs(drivers::VARIABLES.map(|name| (name, &manifest))).env_remove("ZIPPY_ADAPTER");
    not_empty(watched(command))
}

/// Each test binary re-runs itself under the launcher; this step only tells it to.
fn under_mpi(workplace: &Workplace) -> Outcome {
    let mpi = workplace.mpi.as_ref().ok_or("this step needs MPI".to_string())?;
    let mut command = binaries(workplace, &JOBS)?;
    command.arg("under_mpi");
    mpi::prepare(&workplace.context, mpi.family, &mut command);
    command.env("ZIPPY_TEST_MPI", "1").env("ZIPPY_MPIRUN", &mpi.launcher);
    not_empty(watched(command))
}

/// Filters that match no test run nothing, and that is no success.
fn not_empty(outcome: Outcome) -> Outcome {
    match outcome? {
        Counts { passed: 0, .. } => Err("no test was run".to_string().into()),
        counts => Ok(counts),
    }
}

/// What tells most in little time, for the minute between two edits: everything compiles, plans and the rules of the house
/// hold, units do what they say.
fn quick(workplace: &Workplace) -> Outcome {
    watched(workplace.cargo(&["check", "--all-targets"]))?;
    let packages = ["--package", "zippy-plan", "--package", "zippy-ga", "--package", "zippy-io"];
    let mut command = workplace.context.cargo(&["test"]);
    command.args(packages).args(["--lib", "--test", "plans", "--test", "architecture"]).args(workplace.features());
    watched(command)
}

/// Arguments of the programs that need some; `{out}` is a file name to write to.
const ARGUMENTS: [(&str, &[&str]); 1] =
    [("volume", &["--size", "96x64", "--output", "{out}.png", "--compare-single", "--json"])];

/// Each ends in assertions, so its exit code is the verdict.
fn run_examples(workplace: &Workplace) -> Outcome {
    let arguments = [&["build", "--workspace", "--examples", "--bin", "volume"], workplace.features()].concat();
    let built = workplace.context.build(&arguments)?;
    let directory = workplace.context.scratch("examples")?;
    // What the README says that its program prints.
    let readme =
        std::fs::read_to_string(workplace.context.root.join("README.md")).map_err(|error| error.to_string())?;
    let printed = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap_or_default();
    let mut counts = Counts::default();
    let mut failures = Vec::new();
    let under_mpi = workplace.mpi.as_ref().map(|_| Ranks::Mpi(3));
    // The example `doctor` is a tool, run by `cargo xtask doctor`.
    for program in built.iter().filter(|program| program.name != "doctor") {
        for ranks in [Ranks::Threads(1), Ranks::Threads(4)].into_iter().chain(under_mpi) {
            let mut command = ranks::command(&workplace.context, workplace.mpi.as_ref(), &program.path, Some(ranks))?;
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
