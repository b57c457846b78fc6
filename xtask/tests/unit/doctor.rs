use super::*;
use crate::machine::tests::FakeMachine;

fn no_findings() -> Findings {
    Findings { is_quiet: true, all: Vec::new() }
}

/// Verdict and text of each finding.
fn verdicts(findings: &Findings) -> Vec<(String, String)> {
    findings.all.iter().map(|finding| (finding["verdict"].as_str().unwrap().into(), finding_text(finding))).collect()
}

/// Verdicts for the output of the example `doctor`.
fn adapter_verdicts(text: &str, machine: &InspectedMachine) -> Vec<(String, String)> {
    let mut findings = no_findings();
    report_adapters(text, machine, &mut findings);
    verdicts(&findings)
}

#[test]
fn adapter_verdict_depends_on_loop_canary() {
    let bare = FakeMachine::new("doctor-bare", "linux");
    let adapter_verdicts = |text: &str| adapter_verdicts(text, &bare.machine);
    let line = |canary: &str| {
        format!(r#"{{"name": "llvmpipe", "type": "Cpu", "loop_canary": "{canary}", "loop_iterations": 65535}}"#)
    };
    assert_eq!(adapter_verdicts(&line("good"))[0].0, "good");
    let capped = adapter_verdicts(&line("capped"));
    assert_eq!(capped[0].0, "note");
    assert!(capped[0].1.contains("65535") && capped[0].1.contains("fix: "), "{}", capped[0].1);
    assert_eq!(adapter_verdicts(&line("device lost"))[0].0, "bad");
    assert_eq!(adapter_verdicts("")[0].0, "bad");
    let features = line("good").replace('}', r#", "features": ["SHADER_F64", "SUBGROUP", "OTHER"]}"#);
    assert!(adapter_verdicts(&features)[0].1.contains("optional: f64, subgroups"), "{features}");
    assert_eq!(adapter_verdicts(&format!("{}\n{}", line("good"), line("good"))).len(), 2);
}

#[test]
fn gpu_without_driver_is_noted() {
    let line = |kind: &str| format!(r#"{{"name": "x", "type": "{kind}", "loop_canary": "good"}}"#);
    let gpu = FakeMachine::new("doctor-gpu", "linux").file("/dev/nvidia0", "");
    let both = format!("{}\n{}", line("DiscreteGpu"), line("Cpu"));
    assert_eq!(adapter_verdicts(&both, &gpu.machine).len(), 2);
    let software = adapter_verdicts(&line("Cpu"), &gpu.machine);
    assert!(software.len() == 2 && software[1].1.contains("/dev/nvidia0"), "{software:?}");
}

#[cfg(unix)]
#[test]
fn two_worlds_of_one_rank_are_bad() {
    let echo = |text: &str| {
        let mut command = Command::new("echo");
        command.arg(text);
        let mut findings = no_findings();
        report_two_ranks("two ranks", Ok(command), &mut findings);
        verdicts(&findings).remove(0).0
    };
    assert_eq!(echo("rank 1 of 2 on x\nrank 0 of 2 on x"), "good");
    assert_eq!(echo("rank 0 of 1 on x\nrank 0 of 1 on x"), "bad");
}

#[test]
fn text_of_finding_has_its_fix_on_its_own_line() {
    let mut findings = no_findings();
    findings.add("bad", "MPI", "two\nlines", "install it")["data"] = "x".into();
    findings.add("good", "MPI", "fine", "");
    let lines: Vec<String> = verdicts(&findings).into_iter().map(|(_, lines)| lines).collect();
    assert_eq!(lines, ["BAD  MPI: two\n       lines\n       fix: install it", "good MPI: fine"]);
    let json = &findings.all[0];
    assert_eq!((&json["verdict"], &json["fix"], &json["data"]), (&json!("bad"), &json!("install it"), &json!("x")));
}

#[test]
fn exit_code_is_1_only_with_a_bad_finding() {
    let mut findings = no_findings();
    findings.add("note", "a", "b", "c");
    assert_eq!(findings.conclude(), 0);
    findings.add("bad", "a", "b", "c");
    assert_eq!(findings.conclude(), 1);
}

#[test]
fn example_that_was_built_last_is_run() {
    let fake = FakeMachine::new("doctor-built", "linux");
    let root = fake.machine.at("/");
    let mut machine = InspectedMachine { root: root.clone(), ..InspectedMachine::real() };
    machine.vars.remove("CARGO_TARGET_DIR");
    let context = Context { root, machine, mpi: None };
    let target = context.target();
    assert_eq!(built_example(&context, "hello"), None);
    let file = |profile: &str| target.join(profile).join(format!("examples/hello{}", std::env::consts::EXE_SUFFIX));
    for (index, profile) in ["debug", "release"].into_iter().enumerate() {
        std::fs::create_dir_all(file(profile).parent().unwrap()).unwrap();
        let built = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(index as u64);
        std::fs::File::create(file(profile)).unwrap().set_modified(built).unwrap();
        assert_eq!(built_example(&context, "hello"), Some(file(profile)));
    }
}

#[test]
fn examples_that_are_not_built_are_noted() {
    let fake = FakeMachine::new("doctor-not-built", "linux");
    let root = fake.machine.at("/");
    let mut machine = InspectedMachine { root: root.clone(), ..InspectedMachine::real() };
    machine.vars.remove("CARGO_TARGET_DIR");
    let mut findings = no_findings();
    report_examples(&Context { root, machine, mpi: None }, &mut findings);
    let found = verdicts(&findings);
    assert!(found.len() == 2 && found.iter().all(|(verdict, _)| verdict == "note"), "{found:?}");
    assert!(found[1].1.contains("fix: `cargo build --release --example doctor --example hello`"), "{found:?}");
}
