//! `cargo xtask bench`: run the benchmarks and put their numbers into one file.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::args::{self, Parsed, parse};
use crate::context::{Built, Context};
use crate::mpi::Mpi;
use crate::ranks::{self, Ranks};
use crate::{binding, peers, process, setup};

const HELP: &str = "\
cargo xtask bench [OPTIONS] [-- ARGUMENTS]

Builds every benchmark target in release and runs it. One named ranks_* runs with 2 and 4 ranks as threads and with 2
and 4 under MPI, ranks_volume with 1, 2, 4 and 8 of each; any other runs once. Each prints medians, spread and ratios
against a reference measured in the same run, and leaves its numbers as JSON; all of them go, with what the machine
is, into benches/results/ADAPTER-DATE.json, those of --only NAME into ADAPTER-DATE-NAME.json.
ARGUMENTS go to every benchmark; those here know --samples N and --only CASE.

  --only NAME           run only this benchmark, or those whose names contain NAME (may be repeated)
  --peers               also measure other programs under target/peers: VTK from its Python wheel and, on Debian, IceT
  --no-mpi              threads only: neither install, build nor run anything with MPI
  --list                print the names of the benchmarks
{setup}";

/// Runs the command.
pub fn run(arguments: &[String]) -> Result<u8, String> {
    let Some(parsed) = parse("bench", HELP, arguments)? else { return Ok(0) };
    let mut context = Context::new()?;
    let names = chosen(context.targets("bench")?.into_iter().map(|target| target.name).collect(), &parsed)?;
    if parsed.has("--list") {
        names.iter().for_each(|name| say!("{name}"));
        return Ok(0);
    }
    let with_mpi = !parsed.has("--no-mpi");
    setup::ensure(&mut context, if with_mpi { setup::MPI } else { setup::GRAPHICS }, &parsed)?;
    let mpi = if with_mpi { Some(binding::ready(&context)?) } else { None };
    let packages = if parsed.has("--peers") { peers::packages(&names) } else { Vec::new() };
    let python = if packages.is_empty() { None } else { Some(peers::python(&context, &packages)?) };
    let mut built = build(&context, &names, with_mpi)?;
    if parsed.has("--peers") && names.iter().any(|name| name == "ranks_volume") {
        match mpi.as_ref().ok_or("it needs MPI".to_string()).and_then(|mpi| peers::icet(&context, mpi)) {
            Ok(peer) => built.push(peer),
            Err(why) => say!("==> IceT is left out: {why}"),
        }
    }
    let scratch = context.scratch("bench")?;
    let mut runs = Vec::new();
    let mut failed = Vec::new();
    for program in built.iter().filter(|program| program.kind == "bench") {
        for ranks in rank_counts(&program.name, mpi.is_some()) {
            let label = ranks.map_or(String::new(), |ranks| format!(" with {}", ranks.label()));
            say!("\n==> {}{label}", program.name);
            match measure(&context, (mpi.as_ref(), python.as_deref()), program, ranks, &scratch, &parsed.rest) {
                Ok(result) => runs.push(result),
                Err(message) => {
                    say!("--- {message}");
                    failed.push(format!("{}{label}: {message}", program.name));
                }
            }
        }
    }
    let file = write(&context, &describe(&context, &built), &parsed.all("--only"), &runs)?;
    say!("\nThe numbers: {}", file.display());
    failed.iter().for_each(|failure| say!("FAILED: {failure}"));
    Ok(u8::from(!failed.is_empty()))
}

/// All benchmarks, or those that `--only` names: whole, or by a part of the name.
fn chosen(known: Vec<String>, parsed: &Parsed) -> Result<Vec<String>, String> {
    let only = parsed.all("--only");
    let words: Vec<&str> = known.iter().map(String::as_str).collect();
    if let Some(unknown) = only.iter().find(|part| !words.iter().any(|name| name.contains(**part))) {
        return Err(args::unknown("benchmark", unknown, &words));
    }
    let named = |name: &str, part: &str| if words.contains(&part) { name == part } else { name.contains(part) };
    let kept = |name: &&str| only.is_empty() || only.iter().any(|part| named(name, part));
    let names: Vec<String> = words.iter().copied().filter(kept).map(String::from).collect();
    if names.is_empty() { Err("there is no benchmark to run".into()) } else { Ok(names) }
}

fn build(context: &Context, names: &[String], with_mpi: bool) -> Result<Vec<Built>, String> {
    let features: &[&str] = if with_mpi { &["--features", "mpi"] } else { &[] };
    let mut benches = vec!["bench", "--no-run", "--workspace"];
    benches.extend(names.iter().flat_map(|name| ["--bench", name.as_str()]));
    let mut built = context.build(&[&benches, features].concat())?;
    // The adapter's name comes from this example.
    let example = ["build", "--release", "--workspace", "--example", "doctor"];
    built.extend(context.build(&[&example, features].concat())?);
    Ok(built)
}

/// With how many ranks a benchmark runs; once with its own choice if its name does not ask for more.
fn rank_counts(name: &str, with_mpi: bool) -> Vec<Option<Ranks>> {
    if name == peers::ICET {
        return [2, 4, 8].map(|n| Some(Ranks::Mpi(n))).to_vec();
    }
    if !name.starts_with("ranks_") {
        return vec![None];
    }
    let counts: &[usize] = if name == "ranks_volume" { &[1, 2, 4, 8] } else { &[2, 4] };
    let threads = counts.iter().map(|&n| Some(Ranks::Threads(n)));
    let mpi = counts.iter().map(|&n| Some(Ranks::Mpi(n)));
    threads.chain(mpi.filter(|_| with_mpi)).collect()
}

fn measure(
    context: &Context,
    (mpi, python): (Option<&Mpi>, Option<&Path>),
    program: &Built,
    ranks: Option<Ranks>,
    scratch: &Path,
    arguments: &[String],
) -> Result<Value, String> {
    let out = scratch.join(format!("{}.json", program.name));
    if out.exists() {
        std::fs::remove_file(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    }
    let mut command = ranks::command(context, mpi, &program.path, ranks)?;
    command.envs(python.map(|python| (peers::PYTHON, python)));
    command.arg("--bench").args(arguments).env("ZIPPY_BENCH_OUT", &out);
    let status = process::status(&mut command)?;
    if !status.success() {
        return Err(format!("{status}"));
    }
    let text = std::fs::read_to_string(&out).map_err(|error| format!("it left no numbers ({error})"))?;
    let numbers: Value = serde_json::from_str(&text).map_err(|error| format!("its numbers are not JSON: {error}"))?;
    let (transport, count) = match ranks {
        Some(Ranks::Threads(n)) => (Some("threads"), Some(n)),
        Some(Ranks::Mpi(n)) => (Some("mpi"), Some(n)),
        None => (None, None),
    };
    Ok(json!({ "bench": program.name, "transport": transport, "ranks": count, "numbers": numbers }))
}

/// What the numbers were measured on.
fn describe(context: &Context, built: &[Built]) -> Value {
    let first_line = |command: &mut Command| process::output(command).ok()?.lines().next().map(String::from);
    let doctor = built.iter().find(|program| program.kind == "example" && program.name == "doctor");
    let adapter = doctor.and_then(|doctor| first_line(context.command(&doctor.path).arg("--quick")));
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    json!({
        "adapter": adapter.and_then(|line| serde_json::from_str::<Value>(&line).ok()),
        "date": now.split('T').next(),
        "cores": std::thread::available_parallelism().ok(),
        "rustc": first_line(context.command("rustc").arg("--version")),
        "commit": first_line(context.command("git").args(["describe", "--always", "--dirty"])),
    })
}

fn write(context: &Context, machine: &Value, only: &[&str], runs: &[Value]) -> Result<PathBuf, String> {
    let adapter = machine["adapter"]["name"].as_str().unwrap_or("unknown");
    let date = machine["date"].as_str().unwrap_or_default();
    let directory = context.root.join("benches").join("results");
    // What is measured in part does not take the place of all of it.
    let part = if only.is_empty() { String::new() } else { format!("-{}", file_name(&only.join("-"))) };
    let file = directory.join(format!("{}-{date}{part}.json", file_name(adapter)));
    // One line for each run.
    let fields = machine.as_object().into_iter().flatten().map(|(name, value)| format!("  \"{name}\": {value},\n"));
    let runs: Vec<String> = runs.iter().map(|run| format!("    {run}")).collect();
    let text = format!("{{\n{}  \"runs\": [\n{}\n  ]\n}}\n", fields.collect::<String>(), runs.join(",\n"));
    let problem = |error: std::io::Error| format!("{}: {error}", file.display());
    std::fs::create_dir_all(&directory).map_err(problem)?;
    let temporary = file.with_extension("tmp");
    std::fs::write(&temporary, text).map_err(problem)?;
    std::fs::rename(&temporary, &file).map_err(problem)?;
    Ok(file)
}

/// Letters, digits and dashes of a name: `llvmpipe (LLVM 15.0.6, 256 bits)` → `llvmpipe-llvm-15-0-6-256-bits`.
fn file_name(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_lowercase()
}

#[cfg(test)]
#[path = "../tests/unit/bench.rs"]
mod tests;
