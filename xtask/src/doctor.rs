//! `cargo xtask doctor`: what this machine has, and what is wrong with it. Installs nothing.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::args::{Spec, switch};
use crate::context::Context;
use crate::findings::{Finding, Findings};
use crate::json::Json;
use crate::machine::{Machine, Os};
use crate::packages::Need;
use crate::{mpi, setup};

/// The oldest Rust that builds the project; the workspace's `rust-version`.
const RUST: (u32, u32) = (1, 95);

fn spec() -> Spec {
    Spec {
        command: "doctor",
        about: "\
cargo xtask doctor [--json]

Looks at this machine and says what is wrong and how to mend it: the Rust toolchain, what set-up would install, GPU
adapters with their limits, driver traps (some versions of Mesa's software Vulkan silently stop loops after 65,535
iterations; a GPU without a driver leaves its work to the CPU), the MPI library against its launcher, and two ranks that
greet each other, as threads and under MPI. Installs and changes nothing, except that it builds two small examples. The
exit code is 1 if something is wrong.",
        flags: vec![switch("--json", "print one JSON object instead of text")],
        rest: false,
    }
}

/// Runs the command.
pub fn run(arguments: &[String]) -> Result<u8, String> {
    let Some(parsed) = spec().parse(arguments)? else { return Ok(0) };
    let context = Context::new()?;
    let mut findings = Findings::new(parsed.has("--json"));
    toolchain(&context, &mut findings);
    missing(&context, &mut findings);
    let mpi = library_and_launcher(&context, &mut findings);
    programs(&context, mpi.as_ref(), &mut findings);
    Ok(findings.conclude())
}

fn toolchain(context: &Context, findings: &mut Findings) {
    let version = output(context.command("rustc").arg("--version")).unwrap_or_else(|error| error);
    let wanted = format!("{}.{}", RUST.0, RUST.1);
    let finding = match rust_version(&version) {
        Some(found) if found >= RUST => Finding::good("toolchain", &version),
        _ => Finding::bad("toolchain", format!("{version}; {wanted} or newer is needed"), "rustup update stable"),
    };
    findings.add(finding.with(Json::object([("rustc", version.into()), ("needed", wanted.into())])));
}

/// Major and minor of `rustc 1.95.0 (…)`.
fn rust_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix("rustc ")?.split(['.', '-', ' ']);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn missing(context: &Context, findings: &mut Findings) {
    let missing = setup::missing(&context.machine, &[setup::MPI, setup::CHECKS].concat());
    for (need, detail) in &missing {
        let text = format!("missing: {} {detail}", need.why());
        findings.add(Finding::bad("set-up", text, setup::remedy(&context.machine, *need)).with(format!("{need:?}")));
    }
    if missing.is_empty() {
        findings.add(Finding::good("set-up", "nothing is missing"));
    }
}

fn library_and_launcher(context: &Context, findings: &mut Findings) -> Option<mpi::Mpi> {
    mpi::compiler(&context.machine)?;
    match mpi::ready(context) {
        Ok(mpi) => {
            let (name, compiler, launcher) = (mpi.family.name(), mpi.compiler.display(), mpi.launcher.display());
            let text = format!("{name} ({compiler}), started by {launcher} ({})", mpi.version);
            let data = Json::object([
                ("library", name.into()),
                ("launcher", launcher.to_string().into()),
                ("version", mpi.version.as_str().into()),
            ]);
            findings.add(Finding::good("MPI", text).with(data));
            Some(mpi)
        }
        Err(message) => {
            let fix = "make MPICC and ZIPPY_MPIRUN name the compiler wrapper and the launcher of one installation";
            findings.add(Finding::bad("MPI", message, fix));
            None
        }
    }
}

/// Builds and runs the two examples that look at adapters and let ranks greet each other.
fn programs(context: &Context, mpi: Option<&mpi::Mpi>, findings: &mut Findings) {
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
    let mut threads = context.command(hello);
    threads.env("ZIPPY_RANKS", "2");
    findings.add(greeting("two ranks as threads", threads));
    if let Some(mpi) = mpi {
        findings.add(under_mpi(context, mpi, hello));
    }
}

fn no_adapter(machine: &Machine, text: impl Into<String>) -> Finding {
    let remedy = setup::remedy(machine, Need::Graphics);
    let fix = format!("a driver: {remedy}; and ZIPPY_ADAPTER, if it is set, has to name an adapter");
    Finding::bad("adapter", text, fix)
}

fn under_mpi(context: &Context, mpi: &mpi::Mpi, hello: &Path) -> Finding {
    const TOPIC: &str = "two ranks under MPI";
    if let Err(message) = mpi::check_linked(mpi, hello) {
        return Finding::bad(TOPIC, message, "cargo clean -p mpi-sys, then this again");
    }
    let mut command = mpi::command(context, mpi, 2, hello);
    command.env("MPIEXEC_TIMEOUT", "120");
    greeting(TOPIC, command)
}

/// Each of two ranks has to say that it is one of two.
fn greeting(topic: &'static str, mut command: Command) -> Finding {
    let fix =
        "the message says what failed; where a driver fails, another may do: ZIPPY_ADAPTER=llvmpipe, for instance";
    match output(&mut command) {
        Ok(text) if ["rank 0 of 2", "rank 1 of 2"].iter().all(|rank| text.contains(rank)) => Finding::good(topic, text),
        Ok(text) => Finding::bad(topic, format!("they are not two ranks of one world:\n{text}"), fix),
        Err(message) => Finding::bad(topic, message, fix),
    }
}

/// Reports each adapter: the example prints one JSON object per line.
fn adapters(text: &str, machine: &Machine, findings: &mut Findings) {
    let lines = text.lines().filter(|line| line.starts_with('{'));
    let found: Vec<Json> = lines.filter_map(|line| Json::parse(line).ok()).collect();
    found.iter().for_each(|found| findings.add(adapter(found)));
    if found.is_empty() {
        findings.add(no_adapter(machine, "no adapter that computes was found"));
    }
    let software = |adapter: &Json| adapter.get("type").and_then(Json::text) == Some("Cpu");
    if machine.os == Os::Linux && !found.is_empty() && found.iter().all(software) {
        findings.extend(idle_gpu(machine));
    }
}

/// A GPU that the kernel shows and no Vulkan driver serves.
fn idle_gpu(machine: &Machine) -> Option<Finding> {
    let device = ["/dev/nvidia0", "/dev/kfd", "/dev/dxg"].into_iter().find(|device| machine.exists(device))?;
    let text = format!("there is a GPU here ({device}), but only software adapters answer");
    let fix = "install the Vulkan driver of the GPU's vendor, or give this container its libraries (for NVIDIA: \
               NVIDIA_DRIVER_CAPABILITIES=all)";
    Some(Finding::note("adapter", text, fix))
}

fn adapter(adapter: &Json) -> Finding {
    let field =
        |name: &str| adapter.get(name).map_or("?".into(), |value| value.text().map_or(value.to_string(), String::from));
    let text = format!(
        "{} ({}, {}, {}); storage binding {} MiB, buffer {} MiB, host-mapped chunks {}, optional: {}",
        field("name"),
        field("backend"),
        field("type"),
        field("driver"),
        field("storage_binding_mib"),
        field("buffer_mib"),
        if adapter.get("host_mapped").and_then(Json::bool) == Some(true) { "yes" } else { "no" },
        optional(adapter),
    );
    let finding = match adapter.get("loop_canary").and_then(Json::text).unwrap_or("not run") {
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
fn optional(adapter: &Json) -> String {
    let features = adapter.get("features").map(Json::list).unwrap_or_default();
    let known = [("SHADER_F16", "f16"), ("SHADER_F64", "f64"), ("SHADER_INT64", "i64"), ("SUBGROUP", "subgroups")];
    let has = |name: &str| features.iter().any(|feature| feature.text() == Some(name));
    let names: Vec<&str> = known.iter().filter(|(feature, _)| has(feature)).map(|(_, name)| *name).collect();
    if names.is_empty() { "nothing".into() } else { names.join(", ") }
}

/// The output of a program, or what went wrong with it.
fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{name}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).trim_end().to_string();
    if output.status.success() {
        return Ok(text);
    }
    Err(format!("{name} failed ({})\n{text}\n{}", output.status, String::from_utf8_lossy(&output.stderr).trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Verdict;
    use crate::machine::tests::Pretend;

    fn seen(text: &str, machine: &Machine) -> Vec<(Verdict, String)> {
        let mut findings = Findings::new(true);
        adapters(text, machine, &mut findings);
        findings.all.iter().map(|finding| (finding.verdict, finding.lines())).collect()
    }

    #[test]
    fn versions() {
        assert_eq!(rust_version("rustc 1.95.0 (59807616e 2026-04-14)"), Some((1, 95)));
        assert_eq!(rust_version("rustc 1.96.0-nightly"), Some((1, 96)));
        assert_eq!(rust_version("no rustc"), None);
        let manifest = include_str!("../../Cargo.toml");
        assert!(manifest.contains(&format!("rust-version = \"{}.{}\"", RUST.0, RUST.1)));
    }

    #[test]
    fn adapters_are_judged() {
        let bare = Pretend::new("doctor-bare", Os::Linux);
        let seen = |text: &str| seen(text, &bare.machine);
        let line = |canary: &str| {
            format!(r#"{{"name": "llvmpipe", "type": "Cpu", "loop_canary": "{canary}", "loop_iterations": 65535}}"#)
        };
        assert_eq!(seen(&line("good"))[0].0, Verdict::Good);
        let capped = seen(&line("capped"));
        assert_eq!(capped[0].0, Verdict::Note);
        assert!(capped[0].1.contains("65535") && capped[0].1.contains("fix: "), "{}", capped[0].1);
        assert_eq!(seen(&line("device lost"))[0].0, Verdict::Bad);
        assert_eq!(seen("")[0].0, Verdict::Bad);
        let features = line("good").replace('}', r#", "features": ["SHADER_F64", "SUBGROUP", "OTHER"]}"#);
        assert!(seen(&features)[0].1.contains("optional: f64, subgroups"), "{features}");
        assert_eq!(seen(&format!("{}\n{}", line("good"), line("good"))).len(), 2);
    }

    #[test]
    fn a_gpu_that_nothing_drives_is_noted() {
        let line = |kind: &str| format!(r#"{{"name": "x", "type": "{kind}", "loop_canary": "good"}}"#);
        let gpu = Pretend::new("doctor-gpu", Os::Linux).file("/dev/nvidia0", "");
        let both = format!("{}\n{}", line("DiscreteGpu"), line("Cpu"));
        assert_eq!(seen(&both, &gpu.machine).len(), 2);
        let software = seen(&line("Cpu"), &gpu.machine);
        assert!(software.len() == 2 && software[1].1.contains("/dev/nvidia0"), "{software:?}");
    }

    #[cfg(unix)]
    #[test]
    fn two_worlds_of_one_rank_do_not_pass() {
        let echo = |text: &str| {
            let mut command = Command::new("echo");
            command.arg(text);
            greeting("two ranks", command).verdict
        };
        assert_eq!(echo("rank 1 of 2 on x\nrank 0 of 2 on x"), Verdict::Good);
        assert_eq!(echo("rank 0 of 1 on x\nrank 0 of 1 on x"), Verdict::Bad);
    }
}
