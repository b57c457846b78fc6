//! `cargo xtask doctor`: what this machine has, and what is wrong with it. Installs nothing.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::args::parse;
use crate::context::{Context, list};
use crate::machine::{Machine, Os};
use crate::mpi::{self, Mpi};
use crate::packages::Need;
use crate::process::output;
use crate::{binding, setup};

/// The oldest Rust that builds the project; the workspace's `rust-version`.
const RUST: (u32, u32) = (1, 95);

const HELP: &str = "\
cargo xtask doctor [--json]

Looks at this machine and says what is wrong and how to mend it: the Rust toolchain, what set-up would install, GPU
adapters with their limits, driver traps (some versions of Mesa's software Vulkan silently stop loops after 65,535
iterations; a GPU without a driver leaves its work to the CPU), the MPI library against its launcher, and two ranks that
greet each other, as threads and under MPI. Installs and changes nothing, except that it builds two small examples. The
exit code is 1 if something is wrong.

  --json                print one JSON object instead of text
  --help                this text";

/// How a finding is to be taken: as it should be, works but a user should know, does not work.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Verdict {
    Good,
    Note,
    Bad,
}

/// One thing that was looked at; the fix is what to do about it or to keep in mind, the data what a program may want to read.
struct Finding {
    topic: &'static str,
    verdict: Verdict,
    text: String,
    fix: Option<String>,
    data: Value,
}

/// What was found, in the order in which it came; printed as it comes, or kept for JSON.
struct Findings {
    quiet: bool,
    all: Vec<Finding>,
}

/// Runs the command.
pub fn run(arguments: &[String]) -> Result<u8, String> {
    let Some(parsed) = parse("doctor", HELP, arguments)? else { return Ok(0) };
    let context = Context::new()?;
    let mut findings = Findings { quiet: parsed.has("--json"), all: Vec::new() };
    findings.add(toolchain(&context));
    missing(&context.machine, &mut findings);
    let mpi = mpi::compiler(&context.machine).map(|_| binding::ready(&context));
    if let Some(mpi) = &mpi {
        findings.add(library_and_launcher(mpi));
    }
    programs(&context, mpi.and_then(Result::ok).as_ref(), &mut findings);
    Ok(findings.conclude())
}

impl Finding {
    fn good(topic: &'static str, text: impl Into<String>) -> Self {
        Finding { topic, verdict: Verdict::Good, text: text.into(), fix: None, data: Value::Null }
    }

    fn note(topic: &'static str, text: impl Into<String>, fix: impl Into<String>) -> Self {
        Finding { verdict: Verdict::Note, fix: Some(fix.into()), ..Finding::good(topic, text) }
    }

    fn bad(topic: &'static str, text: impl Into<String>, fix: impl Into<String>) -> Self {
        Finding { verdict: Verdict::Bad, ..Finding::note(topic, text, fix) }
    }

    fn with(self, data: Value) -> Self {
        Finding { data, ..self }
    }

    /// For people: a mark, the topic, the text, and the fix on its own line.
    fn lines(&self) -> String {
        let mark = match self.verdict {
            Verdict::Good => "ok  ",
            Verdict::Note => "note",
            Verdict::Bad => "BAD ",
        };
        let fix = self.fix.as_ref().map_or(String::new(), |fix| format!("\nfix: {fix}"));
        format!("{mark} {}: {}", self.topic, format!("{}{fix}", self.text).replace('\n', "\n       "))
    }

    fn json(&self) -> Value {
        let verdict = format!("{:?}", self.verdict).to_lowercase();
        json!({ "topic": self.topic, "verdict": verdict, "text": self.text, "fix": self.fix, "data": self.data })
    }
}

impl Findings {
    fn add(&mut self, finding: Finding) {
        if !self.quiet {
            say!("{}", finding.lines());
        }
        self.all.push(finding);
    }

    /// Prints the conclusion and returns the exit code: 1 if anything is bad.
    fn conclude(&self) -> u8 {
        let bad = self.all.iter().filter(|finding| finding.verdict == Verdict::Bad).count();
        let all: Vec<Value> = self.all.iter().map(Finding::json).collect();
        match bad {
            _ if self.quiet => say!("{}", json!({ "ok": bad == 0, "findings": all })),
            0 => say!("\nNothing is wrong."),
            1 => say!("\n1 thing is wrong."),
            _ => say!("\n{bad} things are wrong."),
        }
        u8::from(bad > 0)
    }
}

fn toolchain(context: &Context) -> Finding {
    let version = output(context.command("rustc").arg("--version")).unwrap_or_else(|error| error);
    let wanted = format!("{}.{}", RUST.0, RUST.1);
    let data = json!({ "rustc": version, "needed": wanted });
    let finding = match rust_version(&version) {
        Some(found) if found >= RUST => Finding::good("toolchain", version),
        _ => Finding::bad("toolchain", format!("{version}; {wanted} or newer is needed"), "rustup update stable"),
    };
    finding.with(data)
}

/// Major and minor of `rustc 1.95.0 (…)`.
fn rust_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix("rustc ")?.split(['.', '-', ' ']);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn missing(machine: &Machine, findings: &mut Findings) {
    let missing = setup::missing(machine, &[setup::MPI, setup::CHECKS].concat());
    for (need, detail) in &missing {
        let text = format!("missing: {} {detail}", need.why());
        findings.add(Finding::bad("set-up", text, setup::remedy(machine, *need)).with(format!("{need:?}").into()));
    }
    if missing.is_empty() {
        findings.add(Finding::good("set-up", "nothing is missing"));
    }
}

fn library_and_launcher(mpi: &Result<Mpi, String>) -> Finding {
    match mpi {
        Ok(Mpi { family, compiler, launcher, version }) => {
            let (name, compiler, launcher) = (family.name(), compiler.display(), launcher.display().to_string());
            let text = format!("{name} ({compiler}), started by {launcher} ({version})");
            Finding::good("MPI", text).with(json!({ "library": name, "launcher": launcher, "version": version }))
        }
        Err(message) => {
            let fix = "make MPICC and ZIPPY_MPIRUN name the compiler wrapper and the launcher of one installation";
            Finding::bad("MPI", message, fix)
        }
    }
}

/// Builds and runs the two examples that look at adapters and let ranks greet each other.
fn programs(context: &Context, mpi: Option<&Mpi>, findings: &mut Findings) {
    let mpi = mpi.filter(|_| context.machine.libclang().is_some());
    let mut arguments = vec!["build", "--workspace", "--example", "doctor", "--example", "hello"];
    if mpi.is_some() {
        arguments.extend(["--features", "mpi"]);
    }
    let built = match context.build(&arguments) {
        Ok(built) => built,
        Err(message) => return findings.add(Finding::bad("build", message, "what Cargo printed above says why")),
    };
    let path = |name: &str| built.iter().find(|program| program.name == name).map(|program| &program.path);
    let (Some(doctor), Some(hello)) = (path("doctor"), path("hello")) else {
        return findings.add(Finding::bad("build", "Cargo built no examples", "cargo clean"));
    };
    match output(&mut context.command(doctor)) {
        Ok(text) => adapters(&text, &context.machine, findings),
        Err(message) => findings.add(no_adapter(&context.machine, message)),
    }
    findings.add(greeting("two ranks as threads", context.command(hello).env("ZIPPY_RANKS", "2")));
    if let Some(mpi) = mpi {
        findings.add(under_mpi(context, mpi, hello));
    }
}

fn no_adapter(machine: &Machine, text: impl Into<String>) -> Finding {
    let remedy = setup::remedy(machine, Need::Graphics);
    let fix = format!("a driver: {remedy}; and ZIPPY_ADAPTER, if it is set, has to name an adapter");
    Finding::bad("adapter", text, fix)
}

fn under_mpi(context: &Context, mpi: &Mpi, hello: &Path) -> Finding {
    const TOPIC: &str = "two ranks under MPI";
    match mpi::check_linked(mpi, hello) {
        Err(message) => Finding::bad(TOPIC, message, "cargo clean -p mpi-sys, then this again"),
        Ok(()) => greeting(TOPIC, mpi::command(context, mpi, 2, hello).env("MPIEXEC_TIMEOUT", "120")),
    }
}

/// Each of two ranks has to say that it is one of two.
fn greeting(topic: &'static str, command: &mut Command) -> Finding {
    let fix =
        "the message says what failed; where a driver fails, another may do: ZIPPY_ADAPTER=llvmpipe, for instance";
    match output(command) {
        Ok(text) if ["rank 0 of 2", "rank 1 of 2"].iter().all(|rank| text.contains(rank)) => Finding::good(topic, text),
        Ok(text) => Finding::bad(topic, format!("they are not two ranks of one world:\n{text}"), fix),
        Err(message) => Finding::bad(topic, message, fix),
    }
}

/// Reports each adapter: the example prints one JSON object per line.
fn adapters(text: &str, machine: &Machine, findings: &mut Findings) {
    let lines = text.lines().filter(|line| line.starts_with('{'));
    let found: Vec<Value> = lines.filter_map(|line| serde_json::from_str(line).ok()).collect();
    found.iter().for_each(|found| findings.add(adapter(found)));
    if found.is_empty() {
        findings.add(no_adapter(machine, "no adapter that computes was found"));
    }
    // A GPU that the kernel shows and no Vulkan driver serves.
    let device = ["/dev/nvidia0", "/dev/kfd", "/dev/dxg"].into_iter().find(|device| machine.exists(device));
    let idle = machine.os == Os::Linux && !found.is_empty() && found.iter().all(|adapter| adapter["type"] == "Cpu");
    if let Some(device) = device.filter(|_| idle) {
        let text = format!("there is a GPU here ({device}), but only software adapters answer");
        let fix = "install the Vulkan driver of the GPU's vendor, or give this container its libraries (for NVIDIA: \
                   NVIDIA_DRIVER_CAPABILITIES=all)";
        findings.add(Finding::note("adapter", text, fix));
    }
}

fn adapter(adapter: &Value) -> Finding {
    let field = |name: &str| match &adapter[name] {
        Value::Null => "?".into(),
        value => value.as_str().map_or(value.to_string(), String::from),
    };
    let text = format!(
        "{} ({}, {}, {}); storage binding {} MiB, buffer {} MiB, host-mapped chunks {}, optional: {}",
        field("name"),
        field("backend"),
        field("type"),
        field("driver"),
        field("storage_binding_mib"),
        field("buffer_mib"),
        if adapter["host_mapped"] == true { "yes" } else { "no" },
        optional(adapter),
    );
    let finding = match adapter["loop_canary"].as_str().unwrap_or("not run") {
        "good" => Finding::good("adapter", text),
        "capped" => {
            let text = format!(
                "{text}\nits driver silently stops loops after {} iterations of one invocation: wrong results, no error",
                field("loop_iterations")
            );
            let fix = "keep the loops of your kernels shorter, as Zippy's own are, or take a newer driver (Mesa 22.3 and \
                       24.0 do this, 25.2 does not)";
            Finding::note("adapter", text, fix)
        }
        other => {
            let fix = "update its driver, or choose another adapter with ZIPPY_ADAPTER";
            Finding::bad("adapter", format!("{text}\nthe loop canary failed: {other}"), fix)
        }
    };
    finding.with(adapter.clone())
}

/// What not every adapter has and some programs need.
fn optional(adapter: &Value) -> String {
    let known = [("SHADER_F16", "f16"), ("SHADER_F64", "f64"), ("SHADER_INT64", "i64"), ("SUBGROUP", "subgroups")];
    let has = |name: &str| list(&adapter["features"]).iter().any(|feature| feature == name);
    let names: Vec<&str> = known.iter().filter(|(feature, _)| has(feature)).map(|(_, name)| *name).collect();
    if names.is_empty() { "nothing".into() } else { names.join(", ") }
}

#[cfg(test)]
#[path = "../tests/unit/doctor.rs"]
mod tests;
