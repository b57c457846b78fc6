//! Ranks that wait for finished ranks, and the printed reports of failures.

use std::time::Duration;

use zippy::error::ErrorKind;
use zippy::transport::{Config, Group, copied, launch};
use zippy::{Error, Result};

use super::support::jobs::Ended;
use super::support::launcher;
use zippy_testing::job;

/// Wait limit above the duration of every expected error.
const TIMEOUT: Duration = Duration::from_secs(60);

type Call = fn(&Group) -> Result<()>;

fn waits() -> Vec<(&'static str, Call)> {
    vec![
        ("barrier", |group| group.barrier()),
        ("broadcast", |group| group.broadcast(1, None).map(drop)),
        ("gather", |group| group.gather(0, copied(&[1_u8])).map(drop)),
        ("all_gather_v", |group| group.all_gather_v(copied(&[1_u8])).map(drop)),
        ("all_to_all_v", |group| group.all_to_all_v((0..group.size()).map(|_| copied(&[1_u8])).collect()).map(drop)),
        ("all_reduce", |group| group.all_reduce(&mut [1_u32], |a, b| *a += b)),
        ("sparse_exchange", |group| group.sparse_exchange(vec![(1, copied(&[1_u8]))]).map(drop)),
        ("sparse_exchange", |group| group.sparse_exchange(Vec::new()).map(drop)),
        ("all_gather_v", |group| group.split(0, 0).map(drop)),
        ("receive", |group| group.receive(1, group.next_sequence()).map(drop)),
    ]
}

fn check_rank_1_has_finished(result: Result<Vec<()>>, operation: &str) {
    let error = result.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("rank 1 called nothing more (its program has finished)"), "{operation}: {text}");
    assert!(text.contains(operation) || text.contains("split"), "{operation}: {text}");
    assert!(matches!(error.kind(), ErrorKind::Differing { .. } | ErrorKind::Remote { .. }), "{text}");
}

#[test]
fn wait_for_finished_rank_is_an_error() {
    for ranks in launcher::counts(&[2, 3, 5, 8]) {
        for (name, wait) in waits() {
            // With and without the comparison before each call, and inside an operation.
            for (check, inside) in [(true, false), (false, false), (false, true)] {
                let result = launch(&Config::threads(ranks).check(check).timeout(TIMEOUT), |group| {
                    group.barrier()?;
                    match (group.rank(), inside) {
                        (1, _) => Ok(()),
                        (_, false) => wait(&group),
                        (_, true) => wait(&group.unchecked()),
                    }
                });
                check_rank_1_has_finished(result, name);
            }
        }
    }
}

#[test]
fn wait_for_finished_rank_of_sub_group_is_an_error() {
    for ranks in launcher::counts(&[2, 3, 5, 8]) {
        let result = launch(&Config::threads(ranks).timeout(TIMEOUT), |group| {
            // Reverse order, so that group ranks differ from world ranks.
            let backwards = group.split(0, -(group.rank() as i64))?;
            if group.rank() == 1 { Ok(()) } else { backwards.unchecked().barrier() }
        });
        check_rank_1_has_finished(result, "barrier");
    }
}

#[test]
fn receive_any_fails_after_end_of_all_senders() {
    for ranks in launcher::counts(&[2, 3, 5]) {
        let result = launch(&Config::threads(ranks).timeout(TIMEOUT), |group| match group.rank() {
            0 => group.receive_any(group.next_sequence()).map(drop),
            _ => Ok(()),
        });
        check_rank_1_has_finished(result, "receive");
    }
}

#[test]
fn messages_sent_before_the_end_of_a_rank_arrive() {
    // Small messages, messages of several pieces, and more bytes than a rank receives in advance.
    let lengths = [0, 1, 4095, 4096, 4097, 100_000, 40 << 20, 40 << 20, 7];
    for ranks in launcher::counts(&[2, 3]) {
        let config = Config::threads(ranks).timeout(TIMEOUT).piece_bytes(1 << 20);
        let result = launch(&config, |group| {
            let tags = lengths.map(|_| group.next_sequence());
            if group.rank() == 1 {
                for (&length, tag) in lengths.iter().zip(tags) {
                    group.send(0, tag, copied(&vec![length as u8; length]))?;
                }
            }
            if group.rank() != 0 {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(50));
            for (&length, tag) in lengths.iter().zip(tags).rev() {
                let payload = group.receive(1, tag)?;
                assert!((*payload).as_ref() == vec![length as u8; length], "{length} bytes");
            }
            group.receive(1, group.next_sequence()).map(drop)
        });
        check_rank_1_has_finished(result, "receive");
    }
}

#[test]
fn failure_known_to_one_rank_only_ends_the_run() {
    let failure = Error::from(ErrorKind::Remote { rank: 0, operation: "open".into(), message: "no such file".into() });
    for ranks in launcher::counts(&[2, 3, 5]) {
        let result = launch(&Config::threads(ranks).timeout(TIMEOUT), |group| match group.rank() {
            1 => Err(failure.clone()),
            _ => group.unchecked().barrier(),
        });
        assert_eq!(result.map(drop), Err(failure.clone()));
    }
}

fn check_one_line(ended: &Ended, text: &str) {
    ended.must_have_failed();
    assert_eq!(ended.lines(text).len(), 1, "{}", ended.text);
}

fn program(config: Config, body: fn(&Group) -> Result<()>) -> Result<()> {
    launch(&config.exit_on_failure(true), |group| body(&group)).map(drop)
}

fn fail_on_rank_2() -> Result<()> {
    program(Config::new(), |group| match group.rank() {
        2 => Err(Error::program("the disk is full")),
        _ => group.barrier(),
    })
}

job!(failure_prints_one_line, 4, fail_on_rank_2, |ended: &Ended| {
    check_one_line(ended, "the disk is full");
    assert_eq!(ended.lines("rank 2 failed in its program: the disk is full at ").len(), 1, "{}", ended.text);
});

job!(
    equal_failures_of_all_ranks_print_one_line,
    4,
    || program(Config::new(), |_| Err(Error::program("no adapter"))),
    |ended: &Ended| check_one_line(ended, "no adapter")
);

job!(
    different_calls_print_one_line,
    4,
    || program(Config::new().check(true), |group| if group.rank() == 3 { Ok(()) } else { group.barrier() }),
    |ended: &Ended| check_one_line(ended, "collective calls differ")
);

job!(
    simultaneous_timeouts_print_one_line,
    4,
    || program(Config::new().timeout(Duration::from_secs(1)), |group| {
        if group.rank() == 3 {
            while group.alive().is_ok() {
                std::thread::yield_now();
            }
        }
        group.unchecked().receive(3, group.next_sequence()).map(drop)
    }),
    |ended: &Ended| check_one_line(ended, "waited 1 s for rank 3 in receive and gave up")
);

job!(
    mpi wrong_number_of_processes_prints_one_line,
    3,
    || program(Config::threads(4), |_| Ok(())),
    |ended: &Ended| check_one_line(ended, "4 ranks were requested")
);

#[test]
fn failure_is_reported_by_every_process_if_enabled() {
    use super::support::jobs::{self, Carrier};
    let name = "ends::failure_is_reported_by_every_process_if_enabled";
    if !jobs::play(name, fail_on_rank_2) && launcher::wanted() {
        let ended = jobs::start(Carrier::Mpi, 4, name, &[("ZIPPY_VERBOSE", "1")]);
        ended.must_have_failed();
        assert_eq!(ended.lines("Error: the disk is full").len(), 1, "{}", ended.text);
        let others = ended.lines("Error: rank 2 failed in its program: the disk is full");
        assert_eq!(others.len(), 3, "{}", ended.text);
    }
}

fn launch_many_ranks() -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    launch(&Config::apart(65.max(16 * cores + 1)), |group| group.barrier()).map(drop)
}

#[test]
fn many_ranks_on_few_cores_print_one_line() {
    use super::support::jobs::{self, Carrier};
    let name = "ends::many_ranks_on_few_cores_print_one_line";
    if !jobs::play(name, launch_many_ranks) {
        let ended = jobs::start(Carrier::Threads, 1, name, &[]);
        assert_eq!(ended.code, Some(0), "{}", ended.text);
        assert_eq!(ended.lines("ranks are threads on").len(), 1, "{}", ended.text);
    }
}
