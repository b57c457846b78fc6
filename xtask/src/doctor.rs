//! `cargo xtask doctor`: what this machine has, and what is wrong with it. Installs nothing.

use std::process::{Command, Stdio};

use crate::args::{Spec, switch};
use crate::context::Context;
use crate::json::Json;
use crate::{mpi, setup};

/// The oldest Rust that builds the project; the workspace's `rust-version`.
const RUST: (u32, u32) = (1, 95);

fn spec() -> Spec {
    Spec {
        command: "doctor",
        about: "\
cargo xtask doctor [--json]

Looks at this machine and says what is wrong: the Rust toolchain, what set-up would install, GPU adapters with their
limits, driver traps (some versions of Mesa's software Vulkan silently stop loops after 65,535 iterations), the MPI
library against its launcher, and two ranks that greet each other, as threads and under MPI. Installs and changes
nothing, except that it builds two small examples. The exit code is 1 if something is wrong.",
        flags: vec![switch("--json", "print one JSON object instead of text")],
        rest: false,
    }
}

/// How a finding is to be taken.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Verdict {
    Good,
    /// Works, but a user should know.
    Note,
    Bad,
}

struct Finding {
    topic: &'static str,
    verdict: Verdict,
    text: String,
    data: Json,
}

/// Runs the command.
pub fn run(arguments: &[String]) -> Result<u8, String> {
    let Some(parsed) = spec().parse(arguments)? else { return Ok(0) };
    let context = Context::new()?;
    let mut findings = Vec::new();
    let mut report = |topic, verdict, text: String, data| {
        let finding = Finding { topic, verdict, text, data };
        if !parsed.has("--json") {
            let mark = match verdict {
                Verdict::Good => "ok  ",
                Verdict::Note => "note",
                Verdict::Bad => "BAD ",
            };
            println!("{mark} {topic}: {}", finding.text.replace('\n', "\n       "));
        }
        findings.push(finding);
    };
    toolchain(&context, &mut report);
    missing(&context, &mut report);
    let mpi = library_and_launcher(&context, &mut report);
    programs(&context, mpi.as_ref(), &mut report);
    let bad = findings.iter().filter(|finding| finding.verdict == Verdict::Bad).count();
    if parsed.has("--json") {
        println!("{}", as_json(&findings));
    } else if bad == 0 {
        println!("\nNothing is wrong.");
    } else {
        println!("\n{bad} thing{} wrong.", if bad == 1 { " is" } else { "s are" });
    }
    Ok(u8::from(bad > 0))
}

type Report<'a> = &'a mut dyn FnMut(&'static str, Verdict, String, Json);

fn as_json(findings: &[Finding]) -> Json {
    let items = findings.iter().map(|finding| {
        Json::object([
            ("topic", finding.topic.into()),
            ("verdict", format!("{:?}", finding.verdict).to_lowercase().into()),
            ("text", finding.text.as_str().into()),
            ("data", finding.data.clone()),
        ])
    });
    let bad = findings.iter().any(|finding| finding.verdict == Verdict::Bad);
    Json::object([("ok", Json::Bool(!bad)), ("findings", Json::List(items.collect()))])
}

fn toolchain(context: &Context, report: Report) {
    let mut rustc = context.command("rustc");
    let version = output(rustc.arg("--version")).unwrap_or_else(|error| error);
    let verdict = match rust_version(&version) {
        Some(found) if found >= RUST => Verdict::Good,
        _ => Verdict::Bad,
    };
    let wanted = format!("{}.{}", RUST.0, RUST.1);
    let text = match verdict {
        Verdict::Good => version.clone(),
        _ => format!("{version}; {wanted} or newer is needed (`rustup update stable`)"),
    };
    report("toolchain", verdict, text, Json::object([("rustc", version.into()), ("needed", wanted.into())]));
}

/// Major and minor of `rustc 1.95.0 (…)`.
fn rust_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix("rustc ")?.split(['.', '-', ' ']);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn missing(context: &Context, report: Report) {
    let missing = setup::missing(&context.machine, &[setup::MPI, setup::CHECKS].concat());
    for (need, detail) in &missing {
        let text = format!("missing: {} {detail}\n(`cargo xtask test` installs it)", need.why());
        report("set-up", Verdict::Bad, text, format!("{need:?}").into());
    }
    if missing.is_empty() {
        report("set-up", Verdict::Good, "nothing is missing".into(), Json::Null);
    }
}

fn library_and_launcher(context: &Context, report: Report) -> Option<mpi::Mpi> {
    mpi::compiler(&context.machine)?;
    match mpi::ready(context) {
        Ok(mpi) => {
            let text = format!(
                "{} ({}), started by {} ({})",
                mpi.family.name(),
                mpi.compiler.display(),
                mpi.launcher.display(),
                mpi.version
            );
            let data = Json::object([
                ("library", mpi.family.name().into()),
                ("launcher", mpi.launcher.display().to_string().into()),
                ("version", mpi.version.as_str().into()),
            ]);
            report("MPI", Verdict::Good, text, data);
            Some(mpi)
        }
        Err(message) => {
            report("MPI", Verdict::Bad, message, Json::Null);
            None
        }
    }
}

/// Builds and runs the two examples that look at adapters and let ranks greet each other.
fn programs(context: &Context, mpi: Option<&mpi::Mpi>, report: Report) {
    let with_mpi = mpi.is_some() && context.machine.libclang().is_some();
    let mut arguments = vec!["build", "--workspace", "--example", "doctor"];
    if context.root.join("examples/hello.rs").is_file() {
        arguments.extend(["--example", "hello"]);
    }
    if with_mpi {
        arguments.extend(["--features", "mpi"]);
    }
    let built = match context.build(&arguments) {
        Ok(built) => built,
        Err(message) => return report("build", Verdict::Bad, message, Json::Null),
    };
    let path = |name: &str| built.iter().find(|program| program.name == name).map(|program| &program.path);
    if let Some(doctor) = path("doctor") {
        match output(&mut context.command(doctor)) {
            Ok(text) => adapters(&text, report),
            Err(message) => report("adapters", Verdict::Bad, message, Json::Null),
        }
    }
    let Some(hello) = path("hello") else { return };
    let mut threads = context.command(hello);
    threads.env("ZIPPY_RANKS", "2");
    greeting("two ranks as threads", threads, report);
    if let (true, Some(mpi)) = (with_mpi, mpi) {
        if let Err(message) = mpi::check_linked(mpi, hello) {
            return report("two ranks under MPI", Verdict::Bad, message, Json::Null);
        }
        let mut command = mpi::command(context, mpi, 2, hello);
        command.env("MPIEXEC_TIMEOUT", "120");
        greeting("two ranks under MPI", command, report);
    }
}

fn greeting(topic: &'static str, mut command: Command, report: Report) {
    match output(&mut command) {
        Ok(text) => report(topic, Verdict::Good, text, Json::Null),
        Err(message) => report(topic, Verdict::Bad, message, Json::Null),
    }
}

/// Reports each adapter: the example prints one JSON object per line.
fn adapters(text: &str, report: Report) {
    let mut any = false;
    for line in text.lines().filter(|line| line.starts_with('{')) {
        let Ok(adapter) = Json::parse(line) else { continue };
        any = true;
        let field = |name: &str| {
            adapter.get(name).map_or("?".into(), |value| value.text().map_or(value.to_string(), String::from))
        };
        let mut text = format!(
            "{} ({}, {}, {}); storage binding {} MiB, buffer {} MiB, host-mapped chunks {}",
            field("name"),
            field("backend"),
            field("type"),
            field("driver"),
            field("storage_binding_mib"),
            field("buffer_mib"),
            if adapter.get("host_mapped").and_then(Json::bool) == Some(true) { "yes" } else { "no" },
        );
        let canary = adapter.get("loop_canary").and_then(Json::text).unwrap_or("not run");
        let verdict = match canary {
            "good" => Verdict::Good,
            "capped" => {
                text += &format!(
                    "\nits driver silently stops loops after {} iterations per invocation; Zippy's own kernels stay below, \
                     yours must too (Mesa 22.3 and 24.0 do this, 25.2 does not)",
                    field("loop_iterations")
                );
                Verdict::Note
            }
            other => {
                text += &format!("\nthe loop canary failed: {other}");
                Verdict::Bad
            }
        };
        report("adapter", verdict, text, adapter.clone());
    }
    if !any {
        let text = "no adapter that computes was found; set-up would install Mesa's software driver".to_string();
        report("adapter", Verdict::Bad, text, Json::Null);
    }
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

    fn verdicts(text: &str) -> Vec<(Verdict, String)> {
        let mut seen = Vec::new();
        adapters(text, &mut |_, verdict, text, _| seen.push((verdict, text)));
        seen
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
        let line =
            |canary: &str| format!(r#"{{"name": "llvmpipe", "loop_canary": "{canary}", "loop_iterations": 65535}}"#);
        assert_eq!(verdicts(&line("good"))[0].0, Verdict::Good);
        let capped = verdicts(&line("capped"));
        assert_eq!(capped[0].0, Verdict::Note);
        assert!(capped[0].1.contains("65535"), "{}", capped[0].1);
        assert_eq!(verdicts(&line("device lost"))[0].0, Verdict::Bad);
        assert_eq!(verdicts("")[0].0, Verdict::Bad);
        assert_eq!(verdicts(&format!("{}\n{}", line("good"), line("good"))).len(), 2);
    }
}
