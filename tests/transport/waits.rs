//! Long waits: reports of the awaited rank and operation, and the time limit.

use std::time::Duration;

use zippy::Result;
use zippy::error::{ErrorKind, TransportError};
use zippy::transport::{Config, launch};

use super::support::jobs::Ended;
use super::support::launcher;
use zippy_testing::job;
use zippy_testing::log::Log;

#[test]
fn timeout_names_peer_and_operation() {
    for ranks in launcher::counts(&[2, 3, 5]) {
        let result = launch(&Config::threads(ranks).timeout(Duration::from_millis(200)), |group| {
            let tag = group.next_sequence();
            if group.rank() != 0 {
                // A wait of the group could reach its limit first.
                loop {
                    if let Err(error) = group.alive() {
                        let text = error.to_string();
                        assert!(text.contains("rank 0 failed in get(\"density\")"), "{text}");
                        assert!(text.contains("for rank 1 in get(\"density\") and gave up"), "{text}");
                        return Err::<(), _>(error);
                    }
                    std::thread::yield_now();
                }
            }
            let _get = group.entering("get(\"density\")");
            let error = group.receive(1, tag).map(drop).unwrap_err();
            let expected = TransportError::Timeout {
                rank: 0,
                peer: "rank 1".into(),
                operation: "get(\"density\")".into(),
                seconds: 0.2,
            };
            assert_eq!(error, expected.into());
            Err(error)
        });
        let error = result.unwrap_err();
        assert!(matches!(
            error.kind(),
            ErrorKind::Transport(TransportError::Timeout { .. }) | ErrorKind::Remote { rank: 0, .. }
        ));
        assert!(error.to_string().contains("ZIPPY_TIMEOUT_SECS"), "{error}");
    }
}

#[test]
fn slow_wait_logs_peer_and_operation() {
    for ranks in launcher::counts(&[2, 3, 5]) {
        let config = Config::threads(ranks).warn_after(Duration::from_millis(5));
        let result: Result<Vec<()>> = launch(&config, |group| {
            let log = Log::listen();
            let tag = group.next_sequence();
            let next = (group.rank() + 1) % group.size();
            let _ghosts = group.entering("ghosts(\"pressure\")");
            group.wait_for(Some(next), || {
                assert!(group.try_receive(Some(next), tag)?.is_none());
                Ok((log.text().lines().count() >= 2).then_some(()))
            })?;
            for line in log.text().lines() {
                let expected = format!("rank {} waits for rank {next} in ghosts(\"pressure\")", group.rank());
                assert!(line.contains("WARN") && line.contains(&expected), "{line}");
            }
            Ok(())
        });
        result.unwrap();
    }
}

fn wait_of_three_polls() -> Result<()> {
    launch(&Config::new().warn_after(Duration::ZERO), |group| {
        let _ghosts = group.entering("ghosts(\"pressure\")");
        let mut polls = 0;
        group.wait_for(Some((group.rank() + 1) % group.size()), || {
            polls += 1;
            Ok((polls == 3).then_some(()))
        })
    })
    .map(drop)
}

job!(slow_wait_without_log_subscriber_prints_warning, 2, wait_of_three_polls, |ended: &Ended| {
    assert_eq!(ended.code, Some(0), "{}", ended.text);
    for (rank, next) in [(0, 1), (1, 0)] {
        let lines = ended.lines(&format!("zippy: rank {rank} waits for rank {next} in ghosts(\"pressure\")"));
        assert_eq!(lines.len(), 1, "{}", ended.text);
    }
});
