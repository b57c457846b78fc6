//! Starts that are refused: launchers that do not fit, numbers that nobody started, runs inside of runs.

use std::process::Command;

use zippy::error::{ErrorKind, TransportError};
use zippy::transport::{Config, TransportKind, launch};

use super::support::{jobs, launcher};

#[test]
fn a_number_of_ranks_that_was_not_started_is_refused() {
    let Some(started) = launcher::size() else {
        // Without a launcher any number can be started, within reason.
        for asked in [0, 1_000_000] {
            let error = launch(&Config::threads(asked), |_| Ok(())).unwrap_err().to_string();
            assert!(error.contains(&asked.to_string()) && error.contains("from 1 to 4096"), "{error}");
        }
        return;
    };
    let refused = |config: Config, asked: usize| {
        let expected = TransportError::RankCount { asked, by: "Config".into(), started };
        assert_eq!(launch(&config, |_| Ok(())).unwrap_err(), expected.into());
    };
    refused(Config::threads(started + 1), started + 1);
    // One process' mistake is told to all.
    let last = launcher::rank() == Some(started - 1);
    refused(if last { Config::threads(1) } else { Config::new() }, 1);
}

#[test]
fn processes_with_other_settings_are_refused() {
    let (Some(started), Some(rank)) = (launcher::size(), launcher::rank()) else { return };
    let pieces = if rank == started - 1 { 4096 } else { 8192 };
    let error = launch(&Config::new().piece_bytes(pieces), |_| Ok(())).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error.kind(), ErrorKind::Transport(TransportError::Settings { rank: 0, .. })), "{text}");
    assert!(text.contains("pieces of 8192 bytes"), "{text}");
    assert!(text.contains(&format!("rank {} has", started - 1)) && text.contains("pieces of 4096 bytes"), "{text}");
}

#[test]
fn a_run_inside_a_run_is_refused_but_for_threads_apart() {
    for ranks in launcher::counts(&[1, 3]) {
        let sums = launch(&Config::threads(ranks), |group| {
            if group.kind() == TransportKind::Mpi {
                let error = launch(&Config::new(), |_| Ok(())).unwrap_err();
                assert_eq!(error, TransportError::Nested.into());
            }
            let inside = launch(&Config::apart(3), |inside| {
                let mut sum = [inside.rank() + group_number(&inside)];
                inside.all_reduce(&mut sum, |a, b| *a += b)?;
                Ok(sum[0])
            })?;
            assert_eq!(inside, [12; 3]);
            let mut sum = [1];
            group.all_reduce(&mut sum, |a, b| *a += b)?;
            Ok(sum[0])
        });
        assert!(sums.unwrap().into_iter().all(|sum| sum == ranks));
    }
}

fn group_number(group: &zippy::transport::Group) -> usize {
    assert_eq!(group.kind(), TransportKind::Threads);
    group.size()
}

/// Played by a process that has a launcher's variables and no launcher.
#[test]
fn a_launcher_that_is_not_there_is_noticed() {
    const PLAYED: &str = "ZIPPY_TEST_NO_LAUNCHER";
    if std::env::var_os(PLAYED).is_some() {
        let error = launch(&Config::new(), |_| Ok(())).unwrap_err();
        println!("refused: {error}");
        return;
    }
    if launcher::size().is_some() {
        return;
    }
    // What the launchers of both families set, of which the program's own library must not find all it needs.
    for (name, value) in [("OMPI_COMM_WORLD_SIZE", "3"), ("PMI_SIZE", "3")] {
        let mut command = Command::new(std::env::current_exe().expect("a test binary has a path"));
        command.envs(launcher::ENVIRONMENT).env(PLAYED, "1").env(name, value);
        command.args(["refused::a_launcher_that_is_not_there_is_noticed", "--exact", "--nocapture"]);
        let output = jobs::finish(command);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = text.lines().find(|line| line.contains("refused: ")).unwrap_or_else(|| panic!("{output:?}"));
        assert!(output.status.success() && line.contains(&format!("{name}={value}")), "{output:?}");
        let expected =
            if cfg!(feature = "mpi") { "sees a world of 1; start it with the launcher" } else { "--features mpi" };
        assert!(line.contains(expected), "{line}");
    }
}
