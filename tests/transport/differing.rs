//! Ranks that call different collectives: every rank returns an error that names both calls.

use zippy::error::ErrorKind;
use zippy::transport::{Config, Group, copied, launch};
use zippy::{Error, Result};

use super::support::launcher;

const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(20);

type Step = fn(&Group) -> Result<()>;

/// Rank `odd` calls `other` and all other ranks call `usual`; every rank checks its own error.
fn check_both_calls_are_named(usual: Step, other: Step, usual_text: &str, other_text: &str) {
    for ranks in launcher::counts(&[2, 3, 5, 8]) {
        for odd in 0..ranks {
            let result = launch(&Config::threads(ranks).check(true), |group| {
                group.barrier()?;
                let error = if group.rank() == odd { other(&group) } else { usual(&group) }.unwrap_err();
                let ErrorKind::Differing { rank, call, other_rank, other_call } = error.kind() else {
                    panic!("{error}")
                };
                assert!(rank < other_rank, "{error}");
                assert!(*rank == odd || *other_rank == odd, "odd is {odd}: {error}");
                for (rank, call) in [(*rank, call), (*other_rank, other_call)] {
                    let expected = if rank == odd { other_text } else { usual_text };
                    assert!(call.starts_with(expected), "rank {rank}, odd is {odd}: {error}");
                }
                Err::<(), _>(error)
            });
            assert!(matches!(result.as_ref().map_err(Error::kind), Err(ErrorKind::Differing { .. })), "{result:?}");
            // Without the comparison before each call, messages reveal the difference.
            let result = launch(&Config::threads(ranks).check(false), |group| {
                group.barrier()?;
                if group.rank() == odd { other(&group) } else { usual(&group) }
            });
            let Err(ErrorKind::Differing { rank, call, other_rank, other_call }) = result.as_ref().map_err(Error::kind)
            else {
                panic!("{result:?}")
            };
            assert!(rank < other_rank && (*rank == odd || *other_rank == odd), "odd is {odd}: {rank}, {other_rank}");
            for (rank, call) in [(rank, call), (other_rank, other_call)] {
                let expected = if *rank == odd { other_text } else { usual_text };
                assert!(call.starts_with(expected), "rank {rank}, odd is {odd}: {call}");
            }
        }
    }
}

fn barrier(group: &Group) -> Result<()> {
    group.barrier()
}

fn sum(group: &Group) -> Result<()> {
    group.all_reduce(&mut [1_u32; 3], |a, b| *a += b)
}

#[test]
fn different_collectives_are_both_named() {
    check_both_calls_are_named(barrier, sum, "barrier()", "all_reduce(bytes 12)");
    check_both_calls_are_named(sum, |group| group.split(0, 0).map(drop), "all_reduce(bytes 12)", "split()");
}

#[test]
fn different_arguments_are_both_named() {
    fn root<const ROOT: usize>(group: &Group) -> Result<()> {
        let own = (group.rank() == ROOT).then(|| copied(&[1_u8]));
        group.broadcast(ROOT, own).map(drop)
    }
    check_both_calls_are_named(root::<0>, root::<1>, "broadcast(root 0)", "broadcast(root 1)");
    check_both_calls_are_named(
        sum,
        |group| group.all_reduce(&mut [1_u32; 5], |a, b| *a += b),
        "all_reduce(bytes 12)",
        "all_reduce(bytes 20)",
    );
}

#[test]
fn calls_of_the_user_are_compared() {
    check_both_calls_are_named(
        |group| group.check(17, "copy(A → B)"),
        |group| group.check(18, "ghosts(C)"),
        "copy(A → B)",
        "ghosts(C)",
    );
}

#[test]
fn rank_one_call_ahead_is_detected_by_call_numbers() {
    let ahead: Step = |group| {
        group.next_sequence();
        group.barrier()
    };
    check_both_calls_are_named(
        barrier,
        ahead,
        "barrier() (exchange 1 of its group)",
        "barrier() (exchange 2 of its group)",
    );
}

#[test]
fn finished_rank_is_named_in_error() {
    for (ranks, check) in launcher::counts(&[2, 3, 5, 8]).into_iter().flat_map(|ranks| [(ranks, true), (ranks, false)])
    {
        let result = launch(&Config::threads(ranks).check(check), |group| {
            if group.rank() == 1 {
                return Ok(());
            }
            let error = group.barrier().unwrap_err();
            let text = error.to_string();
            assert!(text.contains("called barrier()") && text.contains("rank 1 called nothing more"), "{text}");
            Err(error)
        });
        let error = result.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Differing { .. }), "{error}");
    }
}

#[test]
fn deadlock_in_different_calls_is_detected() {
    for ranks in launcher::counts(&[2, 3, 5]) {
        let result = launch(&Config::threads(ranks).check(false), |group| {
            let rank = group.rank();
            group.check(u64::from(rank == 0), if rank == 0 { "to the left" } else { "to the right" })?;
            let tag = group.next_sequence();
            if rank < 2 { group.receive(1 - rank, tag).map(drop) } else { Ok(()) }
        });
        let Err(ErrorKind::Differing { call, other_call, .. }) = result.as_ref().map_err(Error::kind) else {
            panic!("{result:?}")
        };
        assert_eq!((call.as_str(), other_call.as_str()), ("to the left", "to the right"));
    }
}

/// A rank that only sends runs hundreds of calls ahead of the detection.
#[test]
fn rank_far_ahead_gets_error_of_old_differing_calls() {
    for ranks in launcher::counts(&[2, 3]) {
        for (lag, expected) in [(3, "sent another way"), (700, "after calls that differed")] {
            let result = launch(&Config::threads(ranks).check(false), |group| {
                for step in 0..1000 {
                    let other = group.rank() == 0 && step + lag == 1000;
                    group.check(u64::from(other), if other { "sent another way" } else { "sent" })?;
                    let tag = group.next_sequence();
                    match group.rank() {
                        0 => group.send(1, tag, copied(&[step]))?,
                        1 => drop(group.receive(0, tag)?),
                        _ => {}
                    }
                }
                Ok(())
            });
            let Err(ErrorKind::Differing { rank: 0, call, other_call, .. }) = result.as_ref().map_err(Error::kind)
            else {
                panic!("{result:?}")
            };
            // A process that waits for buffer space also receives, and may get the error early.
            let in_time = launcher::size().is_some() && call == "sent another way";
            assert!((in_time || call.contains(expected)) && other_call.starts_with("sent"), "{call}, {other_call}");
        }
    }
}

/// Two successive groups of the same ranks have the same context.
#[test]
fn messages_of_earlier_group_are_not_received_by_later_group() {
    for ranks in launcher::counts(&[2, 3]) {
        let result = launch(&Config::threads(ranks).check(false), |group| {
            let first = group.split(0, 0)?;
            let (next, previous) = ((group.rank() + 1) % ranks, (group.rank() + ranks - 1) % ranks);
            first.send(next, first.next_sequence(), copied(&[1_u8]))?;
            drop(first);
            let second = group.split(0, 0)?;
            let tag = second.next_sequence();
            second.send(next, tag, copied(&[2_u8]))?;
            assert_eq!((*second.receive(previous, tag)?).as_ref(), [2]);
            Ok(())
        });
        assert!(result.is_ok(), "{result:?}");
    }
}

#[test]
fn groups_created_in_every_step_wait_for_late_ranks() {
    for (ranks, check) in launcher::counts(&[2, 3]).into_iter().flat_map(|ranks| [(ranks, true), (ranks, false)]) {
        let result = launch(&Config::threads(ranks).check(check), |group| {
            for step in 0..6 {
                let part = group.split(0, 0)?;
                if group.rank() == step % ranks {
                    std::thread::sleep(std::time::Duration::from_millis(150));
                }
                part.barrier()?;
            }
            Ok(())
        });
        assert!(result.is_ok(), "{result:?}");
    }
}

/// The awaited rank has made as many calls as the waiting rank, or fewer.
#[test]
fn deadlock_in_different_groups_is_detected() {
    for (ranks, check) in
        launcher::counts(&[2, 3, 4, 5, 8]).into_iter().flat_map(|ranks| [(ranks, true), (ranks, false)])
    {
        let result = launch(&Config::threads(ranks).check(check).timeout(TIMEOUT), |group| {
            let part = group.split(0, 0)?;
            let (first, second) = if group.rank() == 0 { (&part, &group) } else { (&group, &part) };
            first.barrier()?;
            second.barrier()
        });
        let Err(ErrorKind::Differing { rank, call, other_call, .. }) = result.as_ref().map_err(Error::kind) else {
            panic!("{result:?}")
        };
        let part_call = format!("barrier() of a group of {ranks}");
        let texts = [call, other_call];
        assert!(*rank == 0 && texts.contains(&&part_call) && texts.contains(&&"barrier()".to_owned()), "{result:?}");
    }
}

#[test]
fn deadlock_in_ring_of_groups_is_detected() {
    for ranks in launcher::counts(&[3, 4, 5]).into_iter().filter(|&ranks| ranks > 2) {
        let result = launch(&Config::threads(ranks).check(false).timeout(TIMEOUT), |group| {
            // Group i has ranks i and i + 1. Every rank first calls the group with its successor.
            let rank = group.rank();
            let pair = |i: usize| group.split(u64::from(rank == i || rank == (i + 1) % ranks), 0);
            let pairs = (0..ranks).map(pair).collect::<Result<Vec<_>>>()?;
            pairs[rank].barrier()?;
            pairs[(rank + ranks - 1) % ranks].barrier()
        });
        let Err(ErrorKind::Differing { call, other_call, .. }) = result.as_ref().map_err(Error::kind) else {
            panic!("{result:?}")
        };
        assert!(call == "barrier() of a group of 2" && other_call == call, "{result:?}");
    }
}

#[test]
fn long_wait_without_deadlock_is_no_error() {
    for ranks in launcher::counts(&[2, 3, 5]) {
        for check in [true, false] {
            let result = launch(&Config::threads(ranks).check(check).timeout(TIMEOUT), |group| {
                let part = group.split(0, -(group.rank() as i64))?;
                if group.rank() == 0 {
                    std::thread::sleep(std::time::Duration::from_millis(450));
                }
                part.barrier()?;
                if group.rank() + 1 == ranks {
                    std::thread::sleep(std::time::Duration::from_millis(250));
                }
                group.barrier()?;
                part.barrier()
            });
            assert!(result.is_ok(), "{result:?}");
        }
    }
}

/// Each rank is the root of its own broadcast, so that no message is received.
#[test]
fn differing_calls_in_dropped_group_are_detected() {
    for (ranks, check) in launcher::counts(&[2, 3, 5, 8]).into_iter().flat_map(|ranks| [(ranks, true), (ranks, false)])
    {
        for kept in [false, true] {
            let result = launch(&Config::threads(ranks).check(check), |group| {
                let last = group.rank() + 1 == ranks && ranks > 2;
                let part = group.split(u64::from(last), -(group.rank() as i64))?;
                if part.size() > 1 {
                    part.check(0, "a step")?;
                    part.broadcast(part.rank(), Some(copied(&[part.rank()])))?;
                }
                if kept {
                    // Groups that exist until the end are compared, too.
                    Box::leak(Box::new(part));
                }
                for colour in 0..5 {
                    group.split(colour, 0)?.barrier()?;
                }
                Ok(())
            });
            let Err(ErrorKind::Differing { rank, call, other_rank, other_call }) = result.as_ref().map_err(Error::kind)
            else {
                panic!("{result:?}")
            };
            let members = if ranks > 2 { ranks - 1 } else { 2 };
            let prefix = if check { String::new() } else { format!("in a group of {members}: ") };
            let text = |rank: usize| format!("{prefix}broadcast(root {})", members - 1 - rank);
            assert_eq!((call, other_call), (&text(*rank), &text(*other_rank)), "{result:?}");
        }
    }
}

#[test]
fn additional_call_in_nested_group_is_detected() {
    for ranks in launcher::counts(&[4, 5, 8]).into_iter().filter(|&ranks| ranks > 3) {
        for (later, remembered) in [(3, true), (200, false)] {
            let result = launch(&Config::threads(ranks).check(false), |group| {
                let half = group.split((group.rank() % 2) as u64, 0)?;
                let pair = half.split((half.rank() / 2) as u64, 0)?;
                if group.rank() == 0 {
                    pair.check(1, "one more")?;
                }
                drop(pair);
                (0..later).try_for_each(|_| half.split(0, 0)?.barrier())
            });
            if remembered {
                let Err(ErrorKind::Differing { rank, call, other_rank, other_call }) =
                    result.as_ref().map_err(Error::kind)
                else {
                    panic!("{result:?}")
                };
                assert_eq!((*rank, *other_rank), (0, 2), "{result:?}");
                let expected = ("in a group of 2: one more", "in a group of 2: nothing more");
                assert_eq!((call.as_str(), other_call.as_str()), expected);
            } else {
                assert!(result.as_ref().is_err_and(|error| error.to_string().contains("ZIPPY_CHECK=1")), "{result:?}");
            }
        }
    }
}

#[test]
fn additional_exchange_in_dropped_group_is_detected() {
    for ranks in launcher::counts(&[2, 3, 5]) {
        let result = launch(&Config::threads(ranks).check(false), |group| {
            let part = group.split(0, 0)?;
            part.barrier()?;
            if group.rank() == 1 {
                part.next_sequence();
            }
            Ok(())
        });
        let Err(ErrorKind::Differing { rank: 0, other_rank: 1, call, other_call }) =
            result.as_ref().map_err(Error::kind)
        else {
            panic!("{result:?}")
        };
        assert!(call.ends_with("exchanges in all") && other_call.ends_with("exchanges in all"), "{result:?}");
    }
}

#[test]
fn groups_owned_by_texts_of_calls_are_dropped() {
    struct Holds(#[allow(dead_code, reason = "held until it is dropped")] Group);
    impl std::fmt::Display for Holds {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a call")
        }
    }
    for ranks in launcher::counts(&[2, 3]) {
        let result = launch(&Config::threads(ranks), |group| {
            for _ in 0..150 {
                let (held, holds) = (group.split(0, 0)?, group.split(0, 0)?);
                (0..3).try_for_each(|_| holds.check(1, Holds(held.clone())))?;
            }
            Ok(())
        });
        assert!(result.is_ok(), "{result:?}");
    }
}

#[test]
fn finished_rank_waits_for_running_ranks() {
    for (ranks, check) in launcher::counts(&[3, 5]).into_iter().flat_map(|ranks| [(ranks, true), (ranks, false)]) {
        if ranks < 3 {
            continue;
        }
        let limit = std::time::Duration::from_millis(500);
        let result = launch(&Config::threads(ranks).check(check).timeout(limit), |group| {
            let part = group.split(u64::from(group.rank() > 0), 0)?;
            for _ in 0..if group.rank() == 0 { 0 } else { 6 } {
                std::thread::sleep(std::time::Duration::from_millis(if group.rank() == 2 { 320 } else { 300 }));
                part.barrier()?;
            }
            Ok(())
        });
        assert!(result.is_ok(), "{result:?}");
    }
}
