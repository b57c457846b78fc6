use super::*;
use crate::worker;

fn script(text: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", text]);
    command
}

#[cfg(unix)]
#[test]
fn run_continues_after_hang_exit_and_defect_of_workers() {
    let scripts = |first: u64, _: &Path| match first {
        0 => script("echo 0 0.5 10 read; echo 2 0.25 99 refused; exec sleep 1000"),
        6 => script("exit 7"),
        8 => script("echo 8 0.75 20 wrong a panic; echo 10 0.5 1 read; exec sleep 1000"),
        _ => panic!("{first}"),
    };
    let kept = Mutex::new(Vec::new());
    let keep = |number: u64, problem: &str| {
        kept.lock().unwrap().push(number);
        Ok(Finding { number, problem: problem.into(), directory: "kept".into() })
    };
    let supervisor = Supervisor {
        command: &scripts,
        keep: &keep,
        limit: Duration::from_secs(2),
        step: 2,
        start: Instant::now(),
        time: Duration::from_secs(600),
        inputs: u64::MAX,
        max_findings: 3,
        tally: Mutex::new(Tally::default()),
    };
    supervisor.run_workers(0).unwrap();
    let tally = supervisor.tally.into_inner().unwrap();
    assert_eq!(*kept.lock().unwrap(), [4, 6, 8]);
    let found: Vec<&str> = tally.findings.iter().map(|finding| finding.problem.as_str()).collect();
    assert_eq!(found, ["no end within 2s", "the process ended: exit status: 7", "a panic"]);
    assert_eq!((tally.read, tally.refused, tally.wrong), (1, 1, 3));
    assert_eq!((tally.slowest, tally.peak_memory), ((0.75, 8), (99, 2)));
    assert!(tally.text(1).contains("cargo xtask fuzz --replay kept"), "{}", tally.text(1));
    assert_eq!(tally.json()["findings"].as_array().unwrap().len(), 3);
}

#[test]
fn same_seed_gives_same_inputs_and_finding_is_replayed() {
    let folder = Folder::new();
    for target in Target::ALL {
        let [inputs, again, others] = [5, 5, 6].map(|seed| {
            on_one_rank(|world| {
                let inputs = Inputs::new(target, seed, world)?;
                Ok((0..8).map(|number| inputs.make(number)).collect::<Vec<_>>())
            })
            .unwrap()
        });
        assert_eq!(inputs, again);
        assert_ne!(inputs, others);
        let finding = keep(&folder.0, target, 5, 3, "nothing").unwrap();
        let same = |(name, bytes): &(String, Vec<u8>)| std::fs::read(finding.directory.join(name)).unwrap() == *bytes;
        assert!(inputs[3].iter().all(same));
        worker::replay(&finding.directory).unwrap();
    }
}
