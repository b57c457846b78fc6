//! Ranks that panic, fail, exit or are killed: the exit code of the whole job reports the failure.

use std::time::Duration;

use zippy::transport::{Config, Group, launch};
use zippy::{Error, Result};

use crate::support::jobs::{Carrier, Ended};
use zippy_testing::job;

fn job_of(program: fn(&Group) -> Result<()>) -> Result<()> {
    launch(&Config::new(), |group| program(&group)).map(drop)
}

job!(
    successful_runs_exit_with_code_0,
    3,
    || {
        for round in 0..3 {
            job_of(|group| {
                println!("rank {} is done", group.rank());
                group.barrier()
            })?;
            assert!(round < 3);
        }
        Ok(())
    },
    |ended: &Ended| {
        assert_eq!(ended.code, Some(0), "{}", ended.text);
        for rank in 0..3 {
            assert_eq!(ended.lines(&format!("rank {rank} is done")).len(), 3, "{}", ended.text);
        }
        assert!(ended.lines("zippy").is_empty() && ended.lines("rror").is_empty(), "{}", ended.text);
    }
);

job!(
    panic_fails_the_job_with_one_line,
    3,
    || job_of(|group| {
        assert_ne!(group.rank(), 1, "boom");
        group.barrier()
    }),
    |ended: &Ended| {
        ended.must_have_failed();
        let lines = ended.lines("zippy: rank");
        let [line] = lines[..] else { panic!("not one line:\n{}", ended.text) };
        assert!(line.contains("zippy: rank 1 panicked at tests/transport/crashes.rs:"), "{line}");
        assert!(line.contains("boom; left: 1; right: 1"), "{line}");
    }
);

job!(
    caught_panic_does_not_fail_the_job,
    3,
    || job_of(|group| {
        let caught = std::panic::catch_unwind(|| assert_eq!(1, 2, "caught"));
        assert!(caught.is_err());
        group.barrier()
    }),
    |ended: &Ended| {
        assert_eq!(ended.code, Some(0), "{}", ended.text);
        assert_eq!(ended.lines("panicked at tests/transport/crashes.rs:").len(), 3, "{}", ended.text);
    }
);

job!(
    panic_after_caught_panic_has_its_own_line,
    3,
    || job_of(|group| {
        if group.rank() == 1 {
            let caught = std::panic::catch_unwind(|| assert_eq!(1, 2, "caught"));
            assert!(caught.is_err());
        }
        group.barrier()?;
        assert_ne!(group.rank(), 1, "boom");
        group.barrier()
    }),
    |ended: &Ended| {
        ended.must_have_failed();
        assert_eq!(ended.lines("zippy: rank 1 panicked at").len(), 2, "{}", ended.text);
        if ended.carrier == Carrier::Threads {
            let last = ended.lines("Error: ");
            assert!(last.iter().any(|line| line.contains("boom") && !line.contains("caught")), "{}", ended.text);
        }
    }
);

job!(
    resumed_panic_after_one_that_was_caught_has_its_own_message,
    3,
    || job_of(|group| {
        if group.rank() == 1 {
            let caught = std::panic::catch_unwind(|| assert_eq!(1, 2, "caught"));
            assert!(caught.is_err());
            let other = std::thread::spawn(|| panic!("of another thread"));
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        group.barrier()
    }),
    |ended: &Ended| {
        ended.must_have_failed();
        let own = ended.lines("zippy: rank 1 panicked at an unknown place: of another thread");
        assert_eq!((own.len(), ended.lines("zippy: rank 1 panicked at").len()), (1, 2), "{}", ended.text);
        if ended.carrier == Carrier::Threads {
            let last = ended.lines("Error: ");
            assert!(!last.is_empty(), "{}", ended.text);
            for line in last {
                assert!(line.contains("of another thread") && !line.contains("caught"), "{line}");
            }
        }
    }
);

job!(
    resumed_panic_of_the_rank_itself_keeps_its_line,
    3,
    || job_of(|group| {
        if group.rank() == 1 {
            let caught = std::panic::catch_unwind(|| assert_eq!(1, 2, "boom"));
            caught.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        group.barrier()
    }),
    |ended: &Ended| {
        ended.must_have_failed();
        let lines = ended.lines("zippy: rank 1 panicked at tests/transport/crashes.rs:");
        assert_eq!((lines.len(), ended.lines("zippy: rank").len()), (1, 1), "{}", ended.text);
        if ended.carrier == Carrier::Threads {
            let last = ended.lines("Error: ");
            assert!(last.iter().any(|line| line.contains("tests/transport/crashes.rs:")), "{}", ended.text);
        }
    }
);

job!(
    panic_ends_computing_ranks,
    3,
    || job_of(|group| {
        group.barrier()?;
        assert_ne!(group.rank(), 2, "boom");
        let (threads, mut rounds) = (group.kind() == zippy::transport::TransportKind::Threads, 0_u64);
        while !threads || rounds < 1000 {
            rounds = std::hint::black_box(rounds + 1);
            std::thread::yield_now();
        }
        group.barrier()
    }),
    |ended: &Ended| {
        ended.must_have_failed();
        assert_eq!(ended.lines("zippy: rank 2 panicked at").len(), 1, "{}", ended.text);
    }
);

job!(
    error_is_printed_by_every_process,
    3,
    || job_of(|group| match group.rank() {
        1 => Err(Error::program("the disk is full")),
        _ => group.barrier(),
    }),
    |ended: &Ended| {
        ended.must_have_failed();
        let processes = if ended.carrier == Carrier::Mpi { 3 } else { 1 };
        let lines = ended.lines("Error: rank 1 failed in its program: the disk is full at ");
        assert_eq!(lines.len(), processes, "{}", ended.text);
    }
);

job!(
    killed_rank_fails_the_job,
    3,
    || job_of(|group| {
        group.barrier()?;
        if group.rank() == 1 {
            let id = std::process::id().to_string();
            std::process::Command::new("kill").args(["-9", &id]).status().expect("there is a kill");
        }
        group.wait_for(Some(1), || Ok(None))
    }),
    |ended: &Ended| ended.must_have_failed()
);

fn check_exit_during_run(ended: &Ended, whose: &str) {
    ended.must_have_failed();
    let lines = ended.lines(&format!("zippy: the process{whose} exits in the middle of a run"));
    assert_eq!(lines.len(), 1, "{}", ended.text);
    assert!(ended.carrier == Carrier::Mpi || ended.code == Some(1), "{ended:?}");
}

job!(
    exit_during_run_fails_the_job,
    3,
    || job_of(|group| {
        group.barrier()?;
        if group.rank() == 1 {
            std::process::exit(3);
        }
        group.wait_for(Some(1), || Ok(None))
    }),
    |ended: &Ended| check_exit_during_run(ended, " of rank 1")
);

job!(
    exit_with_code_0_during_run_fails_the_job,
    3,
    || job_of(|group| {
        group.barrier()?;
        if group.rank() == 1 {
            std::process::exit(0);
        }
        group.wait_for(Some(1), || Ok(None))
    }),
    |ended: &Ended| check_exit_during_run(ended, " of rank 1")
);

job!(
    exit_on_other_thread_fails_the_job,
    3,
    || job_of(|group| {
        group.barrier()?;
        if group.rank() == 1 {
            std::thread::spawn(|| std::process::exit(0));
        }
        group.wait_for(Some(1), || Ok(None))
    }),
    |ended: &Ended| {
        check_exit_during_run(ended, if ended.carrier == Carrier::Mpi { " of rank 1" } else { "" });
    }
);

job!(
    exit_after_failed_run_succeeds,
    3,
    || {
        job_of(|group| group.barrier())?;
        let failed = job_of(|group| if group.rank() == 1 { Err(Error::program("enough")) } else { group.barrier() });
        assert!(failed.is_err());
        std::process::exit(0)
    },
    |ended: &Ended| {
        assert_eq!(ended.code, Some(0), "{}", ended.text);
        assert!(ended.lines("zippy").is_empty(), "{}", ended.text);
    }
);

fn hang() -> ! {
    loop {
        std::thread::yield_now();
    }
}

fn check_missing_rank(ended: &Ended, failure: &str, rank: usize) {
    ended.must_have_failed();
    let first = ended.lines(&format!("; rank {rank} has not come back yet"));
    let [first] = first[..] else { panic!("not one line:\n{}", ended.text) };
    assert!(first.contains(failure), "{first}");
    let last = ended.lines(&format!("zippy: rank {rank} has not come back within 1 s of the failure of rank "));
    assert_eq!(last.len(), 1, "{}", ended.text);
    assert!(ended.carrier == Carrier::Mpi || ended.code == Some(1), "{ended:?}");
}

job!(
    endless_rank_after_failure_is_reported,
    3,
    || launch(&Config::new().timeout(Duration::from_secs(1)), |group| match group.rank() {
        1 => Err(Error::program("no memory")),
        2 => hang(),
        _ => group.barrier(),
    })
    .map(drop),
    |ended: &Ended| check_missing_rank(ended, "rank 1 failed in its program: no memory", 2)
);

job!(
    endless_rank_awaited_in_barrier_is_reported,
    4,
    || launch(&Config::new().timeout(Duration::from_secs(1)), |group| {
        let _ghosts = group.entering("ghosts(\"density\")");
        if group.rank() == 1 { hang() } else { group.barrier() }
    })
    .map(drop),
    |ended: &Ended| check_missing_rank(ended, "waited 1 s for rank ", 1)
);

job!(
    endless_rank_after_end_of_others_is_reported,
    4,
    || launch(&Config::new().timeout(Duration::from_secs(1)), |group| {
        group.barrier()?;
        if group.rank() == 1 { hang() } else { Ok(()) }
    })
    .map(drop),
    |ended: &Ended| {
        check_missing_rank(ended, "waited 2 s for rank ", 1);
        let warned = ended.lines("waits for rank ");
        assert!(!warned.is_empty() && warned.iter().all(|line| line.contains("the end of the run")), "{}", ended.text);
    }
);

job!(
    run_started_by_one_process_times_out,
    3,
    || {
        job_of(|group| group.barrier())?;
        let again = Config::new().timeout(Duration::from_secs(1));
        match crate::support::launcher::rank() {
            None | Some(0) => launch(&again, |group| group.barrier()).map(drop),
            Some(_) => Ok(()),
        }
    },
    |ended: &Ended| match ended.carrier {
        Carrier::Threads => assert_eq!(ended.code, Some(0), "{}", ended.text),
        Carrier::Mpi => {
            ended.must_have_failed();
            let lines = ended.lines("Error: rank 0 waited 1 s for the other ranks in the start of a run");
            assert_eq!(lines.len(), 1, "{}", ended.text);
        }
    }
);
