//! A failing rank: all ranks return its failure from any operation, and the next run is
//! independent.

use std::sync::Mutex;

use zippy::error::{ErrorKind, TransportError};
use zippy::transport::{Config, Group, TransportKind, copied, launch};
use zippy::{Error, Result};

use super::support::launcher;

/// Runs a failing program. Returns the error and the ranks of this process.
fn failing(ranks: usize, program: impl Fn(&Group) -> Result<()> + Send + Sync) -> (Error, Vec<usize>) {
    let here = Mutex::new(Vec::new());
    let result = launch(&Config::threads(ranks), |group| {
        here.lock().unwrap().push(group.rank());
        program(&group)
    });
    (result.unwrap_err(), here.into_inner().unwrap())
}

fn remote(rank: usize, operation: &str, message: &str) -> Error {
    ErrorKind::Remote { rank, operation: operation.into(), message: message.into() }.into()
}

const RANKS: &[usize] = &[2, 3, 5, 8];

type Call = fn(&Group) -> Result<()>;

fn waits() -> Vec<(&'static str, Call)> {
    vec![
        ("barrier", |group| group.barrier()),
        ("broadcast", |group| group.broadcast(1, None).map(drop)),
        ("gather", |group| group.gather(0, copied(&[1_u8])).map(drop)),
        ("all_gather_v", |group| group.all_gather_v(copied(&[1_u8])).map(drop)),
        ("all_to_all_v", |group| group.all_to_all_v((0..group.size()).map(|_| copied(&[1_u8])).collect()).map(drop)),
        ("all_reduce", |group| group.all_reduce(&mut [1_u32], |a, b| *a += b)),
        ("exclusive_scan", |group| group.exclusive_scan(&mut [1_u32], 0, |a, b| *a += b)),
        ("sparse_exchange", |group| group.sparse_exchange(vec![(1, copied(&[1_u8]))]).map(drop)),
        ("split", |group| group.split(0, 0).map(drop)),
        ("receive", |group| group.receive(1, group.next_sequence()).map(drop)),
        ("receive_any", |group| group.receive_any(group.next_sequence()).map(drop)),
        ("wait_for", |group| group.wait_for(None, || Ok(None))),
    ]
}

#[test]
fn error_of_one_rank_ends_waits_of_all_ranks() {
    for ranks in launcher::counts(RANKS) {
        for (name, wait) in waits() {
            let (error, here) = failing(ranks, |group| {
                if group.rank() == 1 {
                    return Err(Error::program("the disk is full"));
                }
                let error = wait(group).unwrap_err();
                assert_eq!(error, remote(1, "its program", "the disk is full"), "in {name}");
                Err(error)
            });
            let expected = if here.contains(&1) {
                Error::program("the disk is full")
            } else {
                remote(1, "its program", "the disk is full")
            };
            assert_eq!(error, expected, "{name} on {ranks} ranks");
        }
    }
}

#[test]
fn failed_run_stays_failed_and_next_run_succeeds() {
    for ranks in launcher::counts(RANKS) {
        for round in 0..5 {
            let message = format!("round {round}");
            let (_, _) = failing(ranks, |group| {
                let last = group.size() - 1;
                if group.rank() == last {
                    let error = group.fail(Error::program(&message));
                    assert_eq!(group.barrier().unwrap_err(), error);
                    return Err(error);
                }
                let first = group.barrier().unwrap_err();
                assert_eq!(first, remote(last, "its program", &message));
                for (name, wait) in waits() {
                    assert_eq!(wait(group).unwrap_err(), first, "{name} after a failure");
                }
                assert_eq!(group.alive().unwrap_err(), first);
                Err(first)
            });
            let sums = launch(&Config::threads(ranks), |group| {
                let mut sum = [group.rank() as u64];
                group.all_reduce(&mut sum, |a, b| *a += b)?;
                Ok(sum[0])
            });
            let expected = (ranks * (ranks - 1) / 2) as u64;
            assert!(sums.unwrap().into_iter().all(|sum| sum == expected));
        }
    }
}

#[test]
fn ignored_failure_still_fails_the_run() {
    for ranks in launcher::counts(RANKS) {
        let (error, here) = failing(ranks, |group| {
            if group.rank() == 0 {
                return Err(Error::program("no"));
            }
            assert!(group.barrier().is_err());
            Ok(())
        });
        let expected = if here.contains(&0) { Error::program("no") } else { remote(0, "its program", "no") };
        assert_eq!(error, expected);
    }
}

#[test]
fn failure_names_the_operation() {
    for ranks in launcher::counts(RANKS) {
        failing(ranks, |group| {
            let _ghosts = group.entering("ghosts(\"density\")");
            if group.rank() == 1 {
                return Err(group.fail(Error::program("out of memory")));
            }
            let error = group.barrier().unwrap_err();
            assert_eq!(error, remote(1, "ghosts(\"density\")", "out of memory"));
            Err(error)
        });
    }
}

#[test]
fn failure_arrives_despite_large_unreceived_messages() {
    for ranks in launcher::counts(RANKS) {
        failing(ranks, |group| {
            let tag = group.next_sequence();
            for to in (0..group.size()).filter(|&to| to != group.rank()) {
                // More than the 64 MiB that a rank receives in advance.
                for _ in 0..6 {
                    group.send(to, tag, copied(&vec![7_u8; 8 << 20]))?;
                }
            }
            if group.rank() == 1 {
                return Err(Error::program("enough"));
            }
            let error = group.receive(1, group.next_sequence()).map(drop).unwrap_err();
            assert_eq!(error, remote(1, "its program", "enough"));
            Err(error)
        });
    }
}

#[test]
fn simultaneous_failures_are_reported_as_one_of_them() {
    for ranks in launcher::counts(RANKS) {
        failing(ranks, |group| {
            let error = group.fail(Error::program(format!("of {}", group.rank())));
            match group.barrier().unwrap_err().into_kind() {
                ErrorKind::Remote { rank, message, .. } => assert_eq!(message, format!("of {rank}")),
                own => assert_eq!(&own, error.kind()),
            }
            Err(error)
        });
    }
}

#[test]
fn long_failures_arrive_whole() {
    let long = "x".repeat(100_000);
    for ranks in launcher::counts(RANKS) {
        failing(ranks, |group| {
            if group.rank() == 1 {
                return Err(Error::program(&long));
            }
            let error = group.barrier().unwrap_err();
            assert_eq!(error, remote(1, "its program", &long));
            Err(error)
        });
    }
}

#[test]
fn wrong_arguments_fail_on_all_ranks() {
    let calls: [(&str, Call); 3] = [
        ("is not in a group of", |group| {
            let outside = if group.rank() == 0 { vec![(group.size(), copied(&[1_u8]))] } else { Vec::new() };
            group.sparse_exchange(outside).map(drop)
        }),
        ("one payload, from its root, rank 0", |group| group.broadcast(0, None).map(drop)),
        ("payloads, one per rank", |group| {
            let count = if group.rank() == 0 { 1 } else { group.size() };
            group.all_to_all_v((0..count).map(|_| copied(&[1_u8])).collect()).map(drop)
        }),
    ];
    for ranks in launcher::counts(RANKS) {
        for (expected, call) in calls {
            failing(ranks, |group| {
                let error = call(group).unwrap_err();
                assert!(error.to_string().contains(expected), "{error}");
                assert_eq!(matches!(error.kind(), ErrorKind::Remote { rank: 0, .. }), group.rank() != 0, "{error}");
                Err(error)
            });
        }
    }
}

#[test]
fn panic_of_a_thread_is_reported_to_other_ranks() {
    // A panic of a process ends the whole job: see crashes.rs.
    for ranks in [2, 3, 5, 8] {
        let result = launch(&Config::apart(ranks), |group| {
            assert_eq!(group.kind(), TransportKind::Threads);
            if group.rank() == 1 {
                panic!("boom\n in two lines");
            }
            match group.barrier().unwrap_err().into_kind() {
                ErrorKind::Remote { rank: 1, operation, message } => {
                    assert!(operation.starts_with("a panic at tests/transport/failures.rs:"), "{operation}");
                    assert_eq!(message, "boom; in two lines");
                }
                other => panic!("{other}"),
            }
            Ok(())
        });
        match result.unwrap_err().into_kind() {
            ErrorKind::Transport(TransportError::Panicked { rank: 1, place, message }) => {
                assert!(place.starts_with("tests/transport/failures.rs:"), "{place}");
                assert_eq!(message, "boom; in two lines");
            }
            other => panic!("{other}"),
        }
    }
}
