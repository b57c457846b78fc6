//! What is judged how.

use super::*;
use crate::machine::tests::Pretend;

fn seen(text: &str, machine: &Machine) -> Vec<(Verdict, String)> {
    let mut findings = Findings { quiet: true, all: Vec::new() };
    adapters(text, machine, &mut findings);
    findings.all.iter().map(|finding| (finding.verdict, finding.lines())).collect()
}

#[test]
fn versions() {
    assert_eq!(rust_version("rustc 1.95.0 (59807616e 2026-04-14)"), Some((1, 95)));
    assert_eq!(rust_version("rustc 1.96.0-nightly"), Some((1, 96)));
    assert_eq!(rust_version("no rustc"), None);
    let manifest = include_str!("../../../Cargo.toml");
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
        greeting("two ranks", &mut command).verdict
    };
    assert_eq!(echo("rank 1 of 2 on x\nrank 0 of 2 on x"), Verdict::Good);
    assert_eq!(echo("rank 0 of 1 on x\nrank 0 of 1 on x"), Verdict::Bad);
}

#[test]
fn what_is_bad_carries_its_fix() {
    let bad = Finding::bad("MPI", "two\nlines", "install it");
    assert_eq!(bad.lines(), "BAD  MPI: two\n       lines\n       fix: install it");
    assert_eq!(Finding::good("MPI", "fine").lines(), "ok   MPI: fine");
    let json = bad.with("x".into()).json();
    assert_eq!((&json["verdict"], &json["fix"], &json["data"]), (&json!("bad"), &json!("install it"), &json!("x")));
}

#[test]
fn one_bad_finding_decides() {
    let mut findings = Findings { quiet: true, all: vec![Finding::note("a", "b", "c")] };
    assert_eq!(findings.conclude(), 0);
    findings.add(Finding::bad("a", "b", "c"));
    assert_eq!(findings.conclude(), 1);
}
