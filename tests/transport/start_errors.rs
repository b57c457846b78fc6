//! Refused starts: launchers that do not match, wrong numbers of ranks, and nested runs.

use std::process::Command;

use zippy::error::{ErrorKind, TransportError};
use zippy::transport::{Config, TransportKind, launch};

use super::support::{jobs, launcher};

#[test]
fn wrong_number_of_ranks_is_an_error() {
    let Some(started) = launcher::size() else {
        for requested in [0, 1_000_000] {
            let error = launch(&Config::threads(requested), |_| Ok(())).unwrap_err().to_string();
            assert!(error.contains(&requested.to_string()) && error.contains("from 1 to 4096"), "{error}");
        }
        return;
    };
    let assert_refused = |config: Config, requested: usize| {
        let expected = TransportError::RankCount { asked: requested, by: "Config".into(), started };
        assert_eq!(launch(&config, |_| Ok(())).unwrap_err(), expected.into());
    };
    assert_refused(Config::threads(started + 1), started + 1);
    let last = launcher::rank() == Some(started - 1);
    assert_refused(if last { Config::threads(1) } else { Config::new() }, 1);
}

#[test]
fn processes_with_different_settings_are_an_error() {
    let (Some(started), Some(rank)) = (launcher::size(), launcher::rank()) else { return };
    let pieces = if rank == started - 1 { 4096 } else { 8192 };
    let error = launch(&Config::new().piece_bytes(pieces), |_| Ok(())).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error.kind(), ErrorKind::Transport(TransportError::Settings { rank: 0, .. })), "{text}");
    assert!(text.contains("pieces of 8192 bytes"), "{text}");
    assert!(text.contains(&format!("rank {} has", started - 1)) && text.contains("pieces of 4096 bytes"), "{text}");
}

#[test]
fn run_inside_a_run_is_refused_except_on_separate_threads() {
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

#[test]
fn missing_launcher_is_an_error() {
    const NO_LAUNCHER_VARIABLE: &str = "ZIPPY_TEST_NO_LAUNCHER";
    if std::env::var_os(NO_LAUNCHER_VARIABLE).is_some() {
        let error = launch(&Config::new(), |_| Ok(())).unwrap_err();
        println!("refused: {error}");
        return;
    }
    if launcher::size().is_some() {
        return;
    }
    // Incomplete sets of variables for the program's MPI library.
    for (name, value) in [("OMPI_COMM_WORLD_SIZE", "3"), ("PMI_SIZE", "3")] {
        let mut command = Command::new(std::env::current_exe().expect("a test binary has a path"));
        command.envs(launcher::ENVIRONMENT).env(NO_LAUNCHER_VARIABLE, "1").env(name, value);
        command.args(["start_errors::missing_launcher_is_an_error", "--exact", "--nocapture"]);
        let output = jobs::finish(command);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = text.lines().find(|line| line.contains("refused: ")).unwrap_or_else(|| panic!("{output:?}"));
        assert!(output.status.success() && line.contains(&format!("{name}={value}")), "{output:?}");
        let expected =
            if cfg!(feature = "mpi") { "sees a world of 1; start it with the launcher" } else { "--features mpi" };
        assert!(line.contains(expected), "{line}");
    }
}
