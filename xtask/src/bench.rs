//! `cargo xtask bench`: runs the benchmarks, and writes their numbers to one file.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::{Value, json};

use crate::args::{self, Parsed, parse};
use crate::context::{BuiltProgram, Context};
use crate::packages::GRAPHICS;
use crate::ranks::{self, Ranks};
use crate::{process, report, setup, third_party};

const HELP: &str = "\
cargo xtask bench [OPTIONS] [-- ARGUMENTS]

Builds all benchmark targets with the profile `bench` and runs them. Numbers of ranks:

  ranks_isosurface, ranks_primitives, ranks_volume   1, 2, 4 and 8 threads; 1, 2, 4 and 8 MPI processes
  ranks_files, ranks_lbm                             1, 2 and 4 threads; 2 MPI processes
  ranks_programs                                     1 and 2 threads
  other ranks_*                                      2 and 4 threads; 2 and 4 MPI processes
  other benchmarks                                   one run with their default

Each benchmark prints medians, spread and ratios to a reference of the same run. The command writes all numbers, with a
description of the machine, to benches/results/ADAPTER-DATE.json (with --only NAME: ADAPTER-DATE-NAME.json; with
ZIPPY_KERNELS=driver on a processor, the name ends in -driver.json). The name ends in .unfinished until all benchmarks have
passed. ARGUMENTS go to each benchmark, such as --samples N and --only CASE.

  --only NAME           run only benchmarks whose names contain NAME (may be repeated)
  --peers               also measure third-party programs in target/peers: VTK, scikit-image, h5py, zarr; lampshade; NumPy
                        and C; IceT on Debian
  --no-mpi              threads only: neither install, build nor run anything with MPI
  --list                print the names of the benchmarks
  --report              measure nothing; write benches/README.md and benches/plots/ from benches/results/ and the texts in
                        benches/topics/
  --json                with --report: print the result as one line of JSON
{setup}";

/// Benchmarks that compare with peers in Python.
const BENCHMARKS_WITH_PYTHON: [&str; 3] = ["ranks_files", "ranks_isosurface", "ranks_volume"];

pub(crate) fn run(arguments: &[String]) -> Result<u8> {
    let Some(parsed) = parse("bench", HELP, arguments)? else { return Ok(0) };
    if parsed.has("--report") {
        return report::write(&Context::new()?.root, parsed.has("--json"));
    }
    if parsed.has("--json") {
        bail!("--json needs --report");
    }
    let names = selected_benchmarks(benchmark_names(&Context::new()?), &parsed)?;
    if parsed.has("--list") {
        say!("{}", names.join("\n"));
        return Ok(0);
    }
    let mut context = setup::ready(GRAPHICS, !parsed.has("--no-mpi"), &parsed)?;
    let benches: Vec<&str> = names.iter().flat_map(|name| ["--bench", name]).collect();
    let build = [&["bench", "--no-run", "--workspace"], &benches[..], context.features()].concat();
    let mut built = context.build(&build)?;
    built.retain(|program| program.kind == "bench");
    // The adapter's name comes from this example.
    let example = [&["build", "--release", "--workspace", "--example", "doctor"], context.features()].concat();
    let doctor = context.program("example", "doctor", &example)?;
    context.machine.vars.extend(parsed.has("--peers").then(|| ("ZIPPY_BENCH_PEERS".into(), "1".into())));
    if parsed.has("--peers") && names.iter().any(|name| BENCHMARKS_WITH_PYTHON.contains(&&**name)) {
        third_party::python(&mut context, third_party::VTK_AND_FILES)?;
    } else if parsed.has("--peers") && names.iter().any(|name| name == "ranks_programs") {
        // Without an index for pip, the system's Python may have NumPy.
        third_party::python(&mut context, "numpy").unwrap_or_else(|problem| say!("==> {problem:#}"));
    }
    if parsed.has("--peers") && names.iter().any(|name| name == "ranks_volume") {
        match third_party::icet(&context) {
            Ok(peer) => built.push(peer),
            Err(problem) => say!("==> IceT is not measured: {problem:#}"),
        }
    }
    let (machine, only) = (describe_machine(&context, &doctor), parsed.all("--only"));
    let (mut runs, mut failed, mut unfinished) = (Vec::new(), Vec::new(), PathBuf::new());
    for program in &built {
        for ranks in rank_counts(&program.name, context.mpi.is_some()) {
            let run = format!("{} with {}", program.name, ranks.label());
            say!("\n==> {run}");
            runs.extend(run_benchmark(&context, program, ranks, &parsed.rest).inspect_err(|message| {
                say!("--- {message:#}");
                failed.push(format!("FAILED: {run}: {message:#}"));
            }));
            // All benchmarks take an hour or more, so a late failure must not lose earlier numbers.
            unfinished = write_results(&context, &machine, &only, &runs)?;
        }
    }
    let numbers = unfinished.with_extension(if failed.is_empty() { "json" } else { "unfinished" });
    std::fs::rename(&unfinished, &numbers).with_context(|| numbers.display().to_string())?;
    say!("\nThe numbers: {}\n{}", numbers.display(), failed.join("\n"));
    say!("`cargo xtask bench --report` writes the page with them.");
    Ok(u8::from(!failed.is_empty()))
}

/// Names of all benchmarks: the programs next to the manifest of the package `benches`.
fn benchmark_names(context: &Context) -> Vec<String> {
    let files = context.machine.list(context.root.join("benches"));
    files.iter().filter_map(|file| Some(file.file_name()?.to_str()?.strip_suffix(".rs")?.into())).collect()
}

/// Returns all benchmarks, or those with a part of their name in `--only`.
fn selected_benchmarks(mut known: Vec<String>, parsed: &Parsed) -> Result<Vec<String>> {
    let only = parsed.all("--only");
    if let Some(unknown) = only.iter().find(|part| !known.iter().any(|name| name.contains(**part))) {
        bail!(args::unknown("benchmark", unknown, &known.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    known.retain(|name| only.is_empty() || only.iter().any(|part| name.contains(part)));
    Ok(known)
}

/// Returns the numbers and kinds of ranks with which a benchmark runs. The help text has the same
/// table.
fn rank_counts(name: &str, with_mpi: bool) -> Vec<Ranks> {
    let (threads, processes): (&[usize], &[usize]) = match name {
        third_party::ICET => (&[], &[2, 4, 8]),
        "ranks_programs" => (&[1, 2], &[]),
        "ranks_files" | "ranks_lbm" => (&[1, 2, 4], &[2]),
        "ranks_isosurface" | "ranks_primitives" | "ranks_volume" => (&[1, 2, 4, 8], &[1, 2, 4, 8]),
        _ if name.starts_with("ranks_") => (&[2, 4], &[2, 4]),
        _ => return vec![Ranks::Default],
    };
    let processes = processes.iter().filter(|_| with_mpi).map(|&n| Ranks::Mpi(n));
    threads.iter().map(|&n| Ranks::Threads(n)).chain(processes).collect()
}

fn run_benchmark(context: &Context, program: &BuiltProgram, ranks: Ranks, arguments: &[String]) -> Result<Value> {
    let out = context.scratch("bench")?.join(format!("{}.json", program.name));
    // Remove the numbers of an earlier run.
    let _ = std::fs::remove_file(&out);
    let mut command = ranks::command(context, &program.path, ranks)?;
    command.arg("--bench").args(arguments).env("ZIPPY_BENCH_OUT", &out).current_dir(&context.root);
    process::succeed(&mut command, "the benchmark")?;
    let text = std::fs::read_to_string(&out).map_err(|error| anyhow!("it wrote no numbers ({error})"))?;
    let numbers: Value = serde_json::from_str(&text).context("its numbers are not JSON")?;
    let (transport, count) = match ranks {
        Ranks::Threads(n) => (Some("threads"), Some(n)),
        Ranks::Mpi(n) => (Some("mpi"), Some(n)),
        Ranks::Default => (None, None),
    };
    Ok(json!({ "bench": program.name, "transport": transport, "ranks": count, "numbers": numbers }))
}

fn describe_machine(context: &Context, doctor: &Path) -> Value {
    let first_line = |command: &mut Command| process::output(command).ok()?.lines().next().map(String::from);
    let adapter = first_line(context.command(doctor).arg("--quick"));
    json!({
        "adapter": adapter.and_then(|line| serde_json::from_str::<Value>(&line).ok()),
        "date": humantime::format_rfc3339_seconds(SystemTime::now()).to_string()[..10],
        "cores": std::thread::available_parallelism().ok(),
        "rustc": first_line(context.command("rustc").arg("--version")),
        "commit": first_line(context.command("git").current_dir(&context.root).args(["describe", "--always", "--dirty"])),
    })
}

/// Writes the results file with the suffix `.unfinished`, and returns its path.
fn write_results(context: &Context, machine: &Value, only: &[&str], runs: &[Value]) -> Result<PathBuf> {
    let directory = context.root.join("benches/results");
    let file = directory.join(format!("{}.unfinished", results_name(machine, only)));
    // One line for each run.
    let fields = machine.as_object().into_iter().flatten().map(|(name, value)| format!("  \"{name}\": {value},\n"));
    let runs: Vec<String> = runs.iter().map(|run| format!("    {run}")).collect();
    let text = format!("{{\n{}  \"runs\": [\n{}\n  ]\n}}\n", fields.collect::<String>(), runs.join(",\n"));
    let written = std::fs::create_dir_all(&directory).and_then(|()| std::fs::write(&file, text));
    written.map(|()| file.clone()).with_context(|| file.display().to_string())
}

/// Name of a results file. A partial measurement must not replace a complete one, and kernels by a
/// software driver must not replace native kernels.
fn results_name(machine: &Value, only: &[&str]) -> String {
    let name = |value: &Value| file_name(value.as_str().unwrap_or("unknown"));
    let adapter = &machine["adapter"];
    let part = if only.is_empty() { String::new() } else { format!("-{}", file_name(&only.join("-"))) };
    let backend = if adapter["type"] == "Cpu" && adapter["kernels"] == "driver" { "-driver" } else { "" };
    format!("{}-{}{part}{backend}", name(&adapter["name"]), name(&machine["date"]))
}

/// Letters, digits and dashes of a name: `llvmpipe (LLVM 15.0.6, 256 bits)` →
/// `llvmpipe-llvm-15-0-6-256-bits`.
fn file_name(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_lowercase()
}

#[cfg(test)]
#[path = "../tests/unit/bench.rs"]
mod tests;
