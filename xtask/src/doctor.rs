//! `cargo xtask doctor`: check of this machine. Installs and builds nothing.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use serde_json::{Value, json};

use crate::args::parse;
use crate::context::Context;
use crate::machine::InspectedMachine;
use crate::mpi::{self, Mpi};
use crate::packages::{GRAPHICS, MPI, TOOLS, WINDOWS};
use crate::process::output;
use crate::ranks::{self, Ranks};
use crate::setup;

const HELP: &str = "\
cargo xtask doctor [--json]

Checks this machine, and prints each problem with its fix:

  * the Rust toolchain, and packages that set-up would install;
  * the Vulkan driver;
  * the MPI library and its launcher, which must belong together;

and, if the examples `doctor` and `hello` are built, by a run of them:

  * adapters with their limits and their backend of kernels;
  * driver traps: some versions of Mesa's software Vulkan silently stop loops after 65,535 iterations; without a driver of
    the GPU, kernels run on the CPU;
  * two ranks that send messages to each other, as threads and under MPI.

Installs, builds and changes nothing. The exit code is 1 if a check fails.

  --json                print one JSON object instead of text
  --help                print this text";

/// Findings of the checks, in the order of the checks. They are printed at once, or collected for
/// JSON.
struct Findings {
    is_quiet: bool,
    all: Vec<Value>,
}

pub(crate) fn run(arguments: &[String]) -> Result<u8> {
    let Some(parsed) = parse("doctor", HELP, arguments)? else { return Ok(0) };
    let mut context = Context::new()?;
    let mut findings = Findings { is_quiet: parsed.has("--json"), all: Vec::new() };
    // Cargo itself refuses a toolchain that is too old.
    findings.add("good", "toolchain", output(context.command("rustc").arg("--version"))?, "");
    report_missing_software(&context.machine, &mut findings);
    report_driver(&context.machine, &mut findings);
    let mpi = mpi::compiler(&context.machine).and_then(|_| report_mpi(&context.machine, &mut findings));
    context.mpi = mpi;
    report_examples(&context, &mut findings);
    Ok(findings.conclude())
}

impl Findings {
    /// Adds a finding: a verdict (`good`, `bad`, or `note` for a working part with a limitation), a
    /// text and a fix. The field `data` of the returned object is free for other programs.
    fn add(&mut self, verdict: &str, topic: &str, text: impl Into<String>, fix: impl Into<String>) -> &mut Value {
        let finding = json!({ "topic": topic, "verdict": verdict, "text": text.into(), "fix": fix.into() });
        if !self.is_quiet {
            say!("{}", finding_text(&finding));
        }
        self.all.push(finding);
        let last = self.all.len() - 1;
        &mut self.all[last]
    }

    /// Prints the conclusion; returns the exit code, 1 if any finding is bad.
    fn conclude(&self) -> u8 {
        let bad = self.all.iter().filter(|finding| finding["verdict"] == "bad").count();
        match bad {
            _ if self.is_quiet => say!("{}", json!({ "ok": bad == 0, "findings": self.all })),
            0 => say!("\nNothing is wrong."),
            _ => say!("\nFailed checks: {bad}"),
        }
        u8::from(bad > 0)
    }
}

/// Text of a finding: verdict, topic and text, then the fix on its own line.
fn finding_text(finding: &Value) -> String {
    let field = |name: &str| finding[name].as_str().unwrap_or_default();
    let fix = if field("fix").is_empty() { String::new() } else { format!("\nfix: {}", field("fix")) };
    let text = format!("{}: {}{fix}", field("topic"), field("text"));
    let verdict = if field("verdict") == "bad" { "BAD" } else { field("verdict") };
    format!("{verdict:4} {}", text.replace('\n', "\n       "))
}

fn report_missing_software(machine: &InspectedMachine, findings: &mut Findings) {
    let missing = setup::missing(machine, &[MPI, TOOLS, WINDOWS].concat());
    for (need, detail) in &missing {
        findings.add("bad", "set-up", format!("missing: {}{detail}", need.why), setup::remedy(machine, need));
    }
    if missing.is_empty() {
        findings.add("good", "set-up", "nothing is missing", "");
    }
}

/// Reports the MPI library and its launcher; `None` if they do not belong together.
fn report_mpi(machine: &InspectedMachine, findings: &mut Findings) -> Option<Mpi> {
    let mpi = mpi::find(machine).map_err(|message| {
        let fix = "make MPICC and ZIPPY_MPIRUN name the compiler wrapper and the launcher of one installation";
        findings.add("bad", "MPI", format!("{message:#}"), fix);
    });
    let mpi = mpi.ok()?;
    let (name, launcher, version) = (mpi.family.name, mpi.launcher.display().to_string(), &mpi.version);
    let text = format!("{name} ({}), started by {launcher} ({version})", mpi.compiler.display());
    let data = json!({ "library": name, "launcher": launcher, "version": version });
    findings.add("good", "MPI", text, "")["data"] = data;
    Some(mpi)
}

fn report_driver(machine: &InspectedMachine, findings: &mut Findings) {
    match machine.graphics_problem() {
        None => findings.add("good", "driver", "a driver and its loader are installed", ""),
        Some(problem) => {
            let text = format!("{problem}: the processor computes kernels; no window opens, and no mesh is drawn");
            findings.add("note", "driver", text, setup::remedy(machine, &GRAPHICS[0]))
        }
    };
}

/// Runs the two examples that describe adapters and let ranks greet each other, if they are built.
fn report_examples(context: &Context, findings: &mut Findings) {
    match built_example(context, "doctor").map(|doctor| output(&mut context.command(doctor))) {
        None => {
            report_missing_example(context, "adapters are not checked: the example `doctor` is not built", findings)
        }
        Some(Ok(text)) => report_adapters(&text, &context.machine, findings),
        Some(Err(message)) => {
            findings.add("bad", "device", format!("{message:#}"), "the message says what would be right");
        }
    }
    let Some(hello) = built_example(context, "hello") else {
        return report_missing_example(context, "ranks are not checked: the example `hello` is not built", findings);
    };
    report_two_ranks("two ranks as threads", ranks::command(context, &hello, Ranks::Threads(2)), findings);
    match &context.mpi {
        None => {}
        Some(_) if mpi::linked_family(&hello).is_none() => {
            report_missing_example(
                context,
                "ranks under MPI are not checked: the example `hello` is built without MPI",
                findings,
            );
        }
        Some(_) => report_two_ranks("two ranks under MPI", ranks::command(context, &hello, Ranks::Mpi(2)), findings),
    }
}

/// Reports a check that needs the examples to be built.
fn report_missing_example(context: &Context, text: &str, findings: &mut Findings) {
    // Without MPI, the build shares its crates with `cargo xtask demo` and `cargo run --release`.
    let options = if context.mpi.is_some() { "--workspace --features mpi" } else { "--release" };
    let fix = format!("`cargo build {options} --example doctor --example hello`, then `cargo xtask doctor` again");
    findings.add("note", "programs", text, fix);
}

/// Path of an example in the target directory: the last that was built, optimised or not.
fn built_example(context: &Context, name: &str) -> Option<PathBuf> {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let paths = ["release", "debug"].map(|profile| context.target().join(profile).join("examples").join(&file));
    let built = paths.into_iter().filter_map(|path| Some((path.metadata().ok()?.modified().ok()?, path)));
    built.max().map(|(_, path)| path)
}

/// Runs two ranks, and reports whether each of them is in a world of two ranks.
fn report_two_ranks(topic: &'static str, command: Result<Command>, findings: &mut Findings) {
    let failed = "the message has the reason; if a driver fails, try another one, for example ZIPPY_ADAPTER=llvmpipe";
    let (verdict, text, fix) = match command.and_then(|mut command| output(command.env("MPIEXEC_TIMEOUT", "120"))) {
        Ok(text) if ["rank 0 of 2", "rank 1 of 2"].iter().all(|rank| text.contains(rank)) => ("good", text, ""),
        Ok(text) => ("bad", format!("they are not two ranks of one world:\n{text}"), failed),
        Err(message) => ("bad", format!("{message:#}"), failed),
    };
    findings.add(verdict, topic, text, fix);
}

/// Reports each adapter: the example prints one JSON object per line.
fn report_adapters(text: &str, machine: &InspectedMachine, findings: &mut Findings) {
    let found: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    found.iter().for_each(|found| report_adapter(found, findings));
    if found.is_empty() {
        findings.add("bad", "adapter", format!("no adapter was described\n{text}"), "");
    }
    // A GPU that the system lists, but no Vulkan driver serves.
    let device = ["/dev/nvidia0", "/dev/kfd", "/dev/dxg"].into_iter().find(|device| machine.exists(device));
    if let Some(device) = device.filter(|_| !found.is_empty() && found.iter().all(|adapter| adapter["type"] == "Cpu")) {
        let text = format!("there is a GPU here ({device}), but only software adapters answer");
        let fix = "install the Vulkan driver of the GPU's vendor, or give this container its libraries (for NVIDIA: \
                   NVIDIA_DRIVER_CAPABILITIES=all)";
        findings.add("note", "adapter", text, fix);
    }
}

/// Reports an adapter: its limits, its backend of kernels, and whether its driver stops long loops.
fn report_adapter(adapter: &Value, findings: &mut Findings) {
    let field = |name: &str| adapter[name].as_str().map_or(adapter[name].to_string(), String::from);
    let [name, backend, kind, driver] = ["name", "backend", "type", "driver"].map(field);
    let [binding, buffer, mapped] = ["storage_binding_mib", "buffer_mib", "host_mapped"].map(field);
    let [canary, iterations, features] = ["loop_canary", "loop_iterations", "features"].map(field);
    let kernels = field("kernels");
    let (verdict, trap, fix) = match canary.as_str() {
        _ if backend == "Noop" => (
            "note",
            "\nno Vulkan driver was found: the processor computes kernels; no window opens, and no mesh is drawn"
                .to_owned(),
            "for windows and meshes, install a driver, such as Mesa's software Vulkan (package mesa-vulkan-drivers)",
        ),
        _ if kernels == "native" => ("good", String::new(), ""),
        "good" => ("good", String::new(), ""),
        "capped" => (
            "note",
            format!("\nits driver silently stops loops after {iterations} iterations of an invocation: wrong results"),
            "use shorter loops in your kernels (Zippy's kernels do), or a newer driver (Mesa 22.3 and 24.0 stop long \
             loops, 25.2 does not)",
        ),
        _ => (
            "bad",
            format!("\nthe loop canary failed: {canary}"),
            "update its driver, or choose another adapter with ZIPPY_ADAPTER",
        ),
    };
    let text = format!(
        "{name} ({backend}, {kind}, {driver}); storage binding {binding} MiB, buffer {buffer} MiB, host-mapped chunks: \
         {mapped}, kernels: {kernels}, optional: {}{trap}",
        optional_feature_names(&features)
    );
    findings.add(verdict, "adapter", text, fix)["data"] = adapter.clone();
}

fn optional_feature_names(features: &str) -> String {
    let known = [("SHADER_F16", "f16"), ("SHADER_F64", "f64"), ("SHADER_INT64", "i64"), ("SUBGROUP", "subgroups")];
    let has = known.iter().filter(|(feature, _)| features.contains(&format!("\"{feature}\"")));
    let names: Vec<&str> = has.map(|(_, name)| *name).collect();
    if names.is_empty() { "nothing".into() } else { names.join(", ") }
}

#[cfg(test)]
#[path = "../tests/unit/doctor.rs"]
mod tests;
