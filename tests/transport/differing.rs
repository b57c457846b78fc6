//! Ranks that call different collectives: all return an error that names both calls.

use zippy::transport::{Config, Group, copied, launch};
use zippy::{Error, Result};

use super::support::launcher;

type Step = fn(&Group) -> Result<()>;

/// Every rank calls `usual`, rank `odd` calls `other`; returns nothing, as every rank looks at its own error.
fn differ(usual: Step, other: Step, usual_text: &str, other_text: &str) {
    for ranks in launcher::counts(&[2, 3, 5, 8]) {
        for odd in 0..ranks {
            let result = launch(&Config::threads(ranks).check(true), |group| {
                group.barrier()?;
                let error = if group.rank() == odd { other(&group) } else { usual(&group) }.unwrap_err();
                let Error::Differing { rank, call, other_rank, other_call } = &error else { panic!("{error}") };
                assert!(rank < other_rank, "{error}");
                assert!(*rank == odd || *other_rank == odd, "odd is {odd}: {error}");
                for (rank, call) in [(*rank, call), (*other_rank, other_call)] {
                    let expected = if rank == odd { other_text } else { usual_text };
                    assert!(call.starts_with(expected), "rank {rank}, odd is {odd}: {error}");
                }
                Err::<(), _>(error)
            });
            assert!(matches!(result, Err(Error::Differing { .. })), "{result:?}");
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
    differ(barrier, sum, "barrier()", "all_reduce(bytes 12)");
    differ(sum, |group| group.split(0, 0).map(drop), "all_reduce(bytes 12)", "split()");
}

#[test]
fn different_arguments_are_both_named() {
    fn root<const ROOT: usize>(group: &Group) -> Result<()> {
        let own = (group.rank() == ROOT).then(|| copied(&[1_u8]));
        group.broadcast(ROOT, own).map(drop)
    }
    differ(root::<0>, root::<1>, "broadcast(root 0)", "broadcast(root 1)");
    differ(
        sum,
        |group| group.all_reduce(&mut [1_u32; 5], |a, b| *a += b),
        "all_reduce(bytes 12)",
        "all_reduce(bytes 20)",
    );
}

#[test]
fn calls_of_the_user_are_compared() {
    differ(
        |group| group.check(17, || "copy(A → B)".into()),
        |group| group.check(18, || "ghosts(C)".into()),
        "copy(A → B)",
        "ghosts(C)",
    );
}

#[test]
fn a_rank_that_has_gone_ahead_is_told_apart_by_numbers() {
    // The odd rank has taken one number more, so that its third call meets the others' third, of another number.
    let ahead: Step = |group| {
        group.next_sequence();
        group.barrier()
    };
    differ(barrier, ahead, "barrier() (call 1 of its group)", "barrier() (call 2 of its group)");
}

#[test]
fn a_rank_that_has_finished_is_named() {
    for ranks in launcher::counts(&[2, 3, 5, 8]) {
        let result = launch(&Config::threads(ranks).check(true), |group| {
            if group.rank() == 1 {
                return Ok(());
            }
            let error = group.barrier().unwrap_err();
            let text = error.to_string();
            assert!(text.contains("called barrier()") && text.contains("rank 1 called nothing more"), "{text}");
            Err(error)
        });
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Differing { .. }), "{error}");
    }
}
