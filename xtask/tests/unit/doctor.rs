//! What is judged how.

use super::*;
use crate::machine::tests::Pretend;

fn nothing() -> Findings {
    Findings { quiet: true, all: Vec::new() }
}

/// The verdicts and how they are told.
fn told(findings: &Findings) -> Vec<(String, String)> {
    findings.all.iter().map(|finding| (finding["verdict"].as_str().unwrap().into(), lines(finding))).collect()
}

fn seen(text: &str, machine: &Machine) -> Vec<(String, String)> {
    let mut findings = nothing();
    adapters(text, machine, &mut findings);
    told(&findings)
}

#[test]
fn adapters_are_judged() {
    let bare = Pretend::new("doctor-bare", "linux");
    let seen = |text: &str| seen(text, &bare.machine);
    let line = |canary: &str| {
        format!(r#"{{"name": "llvmpipe", "type": "Cpu", "loop_canary": "{canary}", "loop_iterations": 65535}}"#)
    };
    assert_eq!(seen(&line("good"))[0].0, "good");
    let capped = seen(&line("capped"));
    assert_eq!(capped[0].0, "note");
    assert!(capped[0].1.contains("65535") && capped[0].1.contains("fix: "), "{}", capped[0].1);
    assert_eq!(seen(&line("device lost"))[0].0, "bad");
    assert_eq!(seen("")[0].0, "bad");
    let features = line("good").replace('}', r#", "features": ["SHADER_F64", "SUBGROUP", "OTHER"]}"#);
    assert!(seen(&features)[0].1.contains("optional: f64, subgroups"), "{features}");
    assert_eq!(seen(&format!("{}\n{}", line("good"), line("good"))).len(), 2);
}

#[test]
fn a_gpu_that_nothing_drives_is_noted() {
    let line = |kind: &str| format!(r#"{{"name": "x", "type": "{kind}", "loop_canary": "good"}}"#);
    let gpu = Pretend::new("doctor-gpu", "linux").file("/dev/nvidia0", "");
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
        let mut findings = nothing();
        greeting("two ranks", Ok(command), &mut findings);
        told(&findings).remove(0).0
    };
    assert_eq!(echo("rank 1 of 2 on x\nrank 0 of 2 on x"), "good");
    assert_eq!(echo("rank 0 of 1 on x\nrank 0 of 1 on x"), "bad");
}

#[test]
fn what_is_bad_carries_its_fix() {
    let mut findings = nothing();
    findings.add("bad", "MPI", "two\nlines", "install it")["data"] = "x".into();
    findings.add("good", "MPI", "fine", "");
    let told: Vec<String> = told(&findings).into_iter().map(|(_, lines)| lines).collect();
    assert_eq!(told, ["BAD  MPI: two\n       lines\n       fix: install it", "good MPI: fine"]);
    let json = &findings.all[0];
    assert_eq!((&json["verdict"], &json["fix"], &json["data"]), (&json!("bad"), &json!("install it"), &json!("x")));
}

#[test]
fn one_bad_finding_decides() {
    let mut findings = nothing();
    findings.add("note", "a", "b", "c");
    assert_eq!(findings.conclude(), 0);
    findings.add("bad", "a", "b", "c");
    assert_eq!(findings.conclude(), 1);
}
