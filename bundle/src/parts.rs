//! [`PARTS`]: parts of a run in order of importance, each with a time limit.

use std::time::Duration;

use anyhow::{Result, anyhow, bail};

use crate::RunSetting;
use crate::child::{self, LIST_LIMIT, ProcessResult};
use crate::limits::Limit;
use crate::outcome::{Outcome, benchmark_outcome, compared_outcome, program_outcome, test_outcome};

pub(crate) struct Part {
    pub name: &'static str,
    pub about: &'static str,
    /// Time limit in seconds, for a machine with a large GPU and 16 cores.
    pub limit_secs: u64,
    pub work: PartWork,
}

pub(crate) enum PartWork {
    /// Tests whose names begin with one of `modules` and with none of `without`.
    Tests { modules: &'static [&'static str], without: &'static [&'static str] },
    /// Benchmark with ranks as threads. `limit` is the limit of the adapter that bounds it.
    Benchmark { program: &'static str, arguments: &'static str, ranks: usize, limit: Limit },
    /// Program of the archive. With `same`, a second run with these additional arguments must print
    /// the same hash.
    Program { name: &'static str, arguments: &'static str, same: Option<&'static str> },
    /// Transport tests under the machine's MPI library.
    Mpi { ranks: usize },
}

const fn tests(
    name: &'static str,
    about: &'static str,
    limit_secs: u64,
    modules: &'static [&'static str],
    without: &'static [&'static str],
) -> Part {
    Part { name, about, limit_secs, work: PartWork::Tests { modules, without } }
}

const fn bench(name: &'static str, limit_secs: u64, program: &'static str, ranks: usize, limit: Limit) -> Part {
    let (about, arguments) = ("benchmark", "--samples 5 --case-secs 2");
    Part { name, about, limit_secs, work: PartWork::Benchmark { program, arguments, ranks, limit } }
}

const fn program(name: &'static str, about: &'static str, limit_secs: u64, arguments: &'static str) -> Part {
    Part { name, about, limit_secs, work: PartWork::Program { name, arguments, same: None } }
}

/// Tests that read source files or start examples built by Cargo; the archive has neither.
const SOURCE_TESTS: &[&str] = &[
    "flow::cluster_example::",
    "picture::paths::shown_files_are_read",
    "ranks::shaders::",
    "ranks::vtk::",
    "surfaces::by_kernels::all_shaders_have_twins",
    "surfaces::reference::",
    "world::kernels::reload::",
    "world::kernels::shaders::",
    "world::readme::",
    "world::safety::examples::",
];

/// Tests that exceed the limit of their part on a GPU: each of their many messages waits for the
/// device.
const TOO_LONG_ON_GPU: &[&str] = &["algorithms::deliver::bounded::a_cell_a_message"];

/// All parts. The sum of their time limits is eight minutes.
pub(crate) const PARTS: &[Part] = &[
    bench("limits", 20, "limits", 1, Limit::None),
    tests("device", "memory, packing and combining, on the device and by the host", 20, &["device::"], &[]),
    tests(
        "kernels",
        "kernels compared with their CPU versions",
        22,
        &["world::kernels::", "world::elementwise::"],
        &[],
    ),
    bench("step", 15, "ranks_step", 1, Limit::Triad),
    tests("random-operations", "random programs of every operation", 25, &["world::random_operations"], &[]),
    tests("primitives", "scans, sorts, selections, searches, trees", 32, &["algorithms::"], &[]),
    bench("compute", 15, "ranks_compute", 1, Limit::Copy),
    bench("flow-speed", 20, "ranks_lbm", 1, Limit::Triad),
    tests("surfaces", "isosurfaces and filters", 26, &["surfaces::"], &[]),
    tests("flow", "lattice Boltzmann flow compared with its CPU version", 30, &["flow::"], &[]),
    tests("rendering", "pictures over every cut", 30, &["ranks::"], &[]),
    program(
        "volume",
        "a picture by four ranks compared with that of one rank",
        8,
        "--ranks 4 --size 1024x1024 --compare-single --output volume.png",
    ),
    program("isosurface", "a surface and its picture", 8, "--n 128 --with-volume --render isosurface.png"),
    Part {
        name: "lbm",
        about: "a flow in a closed box, by one rank and by four: the same hash",
        limit_secs: 8,
        work: PartWork::Program {
            name: "lbm",
            arguments: "--case cavity3d --n 64 --steps 100 --hash",
            same: Some("--ranks 4"),
        },
    },
    bench("primitives-speed", 25, "primitives", 1, Limit::Copy),
    bench("ghosts-speed", 12, "ranks_ghosts", 2, Limit::HostToDevice),
    bench("transfers-speed", 12, "ranks_transfers", 2, Limit::HostToDevice),
    bench("volume-speed", 20, "ranks_volume", 1, Limit::None),
    bench("isosurface-speed", 15, "ranks_isosurface", 1, Limit::Copy),
    tests(
        "world",
        "all other operations, and every mistake",
        35,
        &["world::"],
        &["world::kernels::", "world::random_operations"],
    ),
    tests("volume-program", "the program volume: files, cuts, mistakes", 25, &["picture::"], &[]),
    Part { name: "mpi", about: "ranks as processes", limit_secs: 10, work: PartWork::Mpi { ranks: 3 } },
    bench("checked", 8, "ranks_checked", 1, Limit::None),
    bench("start", 6, "ranks_start", 2, Limit::None),
    bench("trees-speed", 10, "primitives_kdtree", 1, Limit::None),
    bench("memory", 3, "ranks_memory", 1, Limit::None),
];

/// Returns the parts with the names `only`, or all parts if `only` is empty.
pub(crate) fn select_parts(only: &[String]) -> Result<Vec<&'static Part>> {
    if let Some(unknown) = only.iter().find(|name| !PARTS.iter().any(|part| part.name == **name)) {
        let names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        bail!("there is no part {unknown:?}. The parts are: {}", names.join(" "));
    }
    Ok(PARTS.iter().filter(|part| only.is_empty() || only.iter().any(|name| part.name == name)).collect())
}

impl Part {
    /// Runs the part within a time limit; the outcome has all errors.
    pub(crate) fn run(&self, setting: &RunSetting, limit: Duration) -> Outcome {
        let log = setting.out.join(format!("{}.log", self.name));
        match &self.work {
            PartWork::Tests { modules, without } => {
                let names = match list_tests(setting, modules, without) {
                    Ok(names) => names,
                    Err(problem) => return Outcome { problem: Some(format!("{problem:#}")), ..Outcome::default() },
                };
                let mut command = child::everything(setting);
                command.args(["--exact", "--nocapture", "--test-threads", &test_threads().to_string()]).args(&names);
                test_outcome(child::run(command, &log, limit, &setting.stop), &names)
            }
            PartWork::Benchmark { program, arguments, ranks, .. } => {
                let numbers = setting.out.join(format!("{}.json", self.name));
                let _ = std::fs::remove_file(&numbers);
                let mut command = child::benchmark(setting, program);
                command.env("ZIPPY_RANKS", ranks.to_string()).env("ZIPPY_BENCH_ARGS", arguments);
                command.env("ZIPPY_BENCH_OUT", &numbers);
                benchmark_outcome(child::run(command, &log, limit, &setting.stop), &numbers)
            }
            PartWork::Program { name, arguments, same } => {
                let mut command = child::program(setting, name);
                command.args(arguments.split_whitespace());
                let first = child::run(command, &log, limit, &setting.stop);
                let succeeded = |ended: &ProcessResult| ended.problem.is_none();
                let (Some(more_arguments), true) = (same, first.as_ref().is_ok_and(succeeded)) else {
                    return program_outcome(first);
                };
                let remaining =
                    limit.saturating_sub(Duration::from_secs_f64(first.as_ref().map_or(0.0, |ended| ended.secs)));
                let mut command = child::program(setting, name);
                command.args(arguments.split_whitespace()).args(more_arguments.split_whitespace());
                let second_log = setting.out.join(format!("{}-again.log", self.name));
                compared_outcome(first, child::run(command, &second_log, remaining, &setting.stop))
            }
            PartWork::Mpi { ranks } => match crate::mpi::command(setting, *ranks) {
                Ok(command) => test_outcome(child::run(command, &log, limit, &setting.stop), &[]),
                Err(reason) => Outcome::left_out(format!("{reason:#}")),
            },
        }
    }
}

/// Maximum number of concurrent tests. A test has up to eight ranks with a device each, and drivers
/// limit the number of open devices.
const MAX_TEST_THREADS: usize = 6;

fn test_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MAX_TEST_THREADS))
}

/// Lists the tests whose names begin with one of `modules` and with none of `without`. The filters
/// of the test harness cannot do this: they match anywhere in a name.
fn list_tests(setting: &RunSetting, modules: &[&str], without: &[&str]) -> Result<Vec<String>> {
    let mut command = child::everything(setting);
    command.args(["--list", "--format", "terse"]);
    let listed = child::run(command, &setting.out.join("tests.log"), LIST_LIMIT, &setting.stop)?;
    if let Some(problem) = listed.problem {
        bail!("the tests cannot be listed: {problem}");
    }
    let listed = listed.text;
    let is_in = |name: &str, prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let names = listed.lines().filter_map(|line| line.strip_suffix(": test"));
    let is_selected = |name: &&str| {
        is_in(name, modules) && ![without, SOURCE_TESTS, TOO_LONG_ON_GPU].iter().any(|prefixes| is_in(name, prefixes))
    };
    let names: Vec<String> = names.filter(is_selected).map(String::from).collect();
    if names.is_empty() { Err(anyhow!("no test name begins with {}", modules.join(" or "))) } else { Ok(names) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::MINUTES;

    #[test]
    fn parts_have_unique_names_and_eight_minutes_in_total() {
        let mut names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PARTS.len());
        let secs: u64 = PARTS.iter().map(|part| part.limit_secs).sum();
        // The list of adapters takes up to 20 s before the first part.
        assert!((secs + 20) as f64 <= MINUTES * 60.0, "{secs}");
        assert!(
            select_parts(&["nothing".into()]).is_err_and(|message| message.to_string().contains("random-operations"))
        );
    }
}
