//! Claim of the paper: a flow for a cluster has at most a hundred lines more than for one GPU.

use std::fs::read_to_string;
use std::path::Path;

use zippy::{Config, run_with};

use super::support::launcher;

#[allow(dead_code, reason = "an example has a main function")]
#[path = "../../examples/cluster.rs"]
mod cluster;
#[allow(dead_code, reason = "an example has a main function")]
#[path = "../../examples/single.rs"]
mod single;

fn text(path: &str) -> String {
    read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a file of this crate")
}

/// Numbers of lines that only the first and only the second text has, by the longest common
/// subsequence.
fn count_differing_lines(first: &[&str], second: &[&str]) -> (usize, usize) {
    let mut common = vec![vec![0; second.len() + 1]; first.len() + 1];
    for (i, one) in first.iter().enumerate() {
        for (j, other) in second.iter().enumerate() {
            let longest = common[i][j + 1].max(common[i + 1][j]);
            common[i + 1][j + 1] = if one == other { common[i][j] + 1 } else { longest };
        }
    }
    let common = common[first.len()][second.len()];
    (first.len() - common, second.len() - common)
}

#[test]
fn readme_has_the_numbers_of_lines() {
    let (single, cluster) = (text("examples/single.rs"), text("examples/cluster.rs"));
    let lines = |text: &'static str| text.lines().collect::<Vec<_>>();
    let (removed, added) = count_differing_lines(&lines(single.leak()), &lines(cluster.leak()));
    let claim = format!("it adds or changes {added} lines and removes {removed}");
    assert!(text("README.md").contains(&claim), "the README does not say that {claim}");
    assert!(added < 100);
}

#[test]
fn both_programs_compute_the_same_flow() {
    let found = |ranks: usize| {
        let ranks = launcher::counts(&[ranks])[0];
        let alone = run_with(Config::threads(ranks), single::program).unwrap();
        let all = run_with(Config::threads(ranks), cluster::program).unwrap();
        assert!(all.iter().all(|mean| mean.to_bits() == all[0].to_bits()));
        (alone[0], all[0])
    };
    // Under an MPI launcher, the sum of local sections is over all ranks.
    let ranks = launcher::counts(&[3])[0];
    let (alone, together) = (found(1).0, found(ranks).1);
    let alone = if launcher::size().is_some() { alone / ranks as f64 } else { alone };
    assert!(together > 0.0 && (together - alone).abs() < 1e-15, "{together}, {alone}");
}
