//! The paper's claim: a flow for a cluster is that for one GPU and at most a hundred lines more.

use std::fs::read_to_string;
use std::path::Path;

use zippy::{Config, run_with};

use super::support::launcher;

#[allow(dead_code)]
#[path = "../../examples/cluster.rs"]
mod cluster;
#[allow(dead_code)]
#[path = "../../examples/single.rs"]
mod single;

fn text(path: &str) -> String {
    read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a file of this crate")
}

/// Lines that only the first has, and those that only the second has, by the longest common subsequence.
fn difference(first: &[&str], second: &[&str]) -> (usize, usize) {
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
fn the_readme_counts_them() {
    let (single, cluster) = (text("examples/single.rs"), text("examples/cluster.rs"));
    let lines = |text: &'static str| text.lines().collect::<Vec<_>>();
    let (gone, new) = difference(&lines(single.leak()), &lines(cluster.leak()));
    let claim = format!("{new} lines are new or other, {gone} are gone");
    assert!(text("README.md").contains(&claim), "the README does not say that {claim}");
    assert!(new < 100);
}

#[test]
fn both_are_the_same_flow() {
    let found = |ranks: usize| {
        let ranks = launcher::counts(&[ranks])[0];
        let alone = run_with(Config::threads(ranks), single::program).unwrap();
        let all = run_with(Config::threads(ranks), cluster::program).unwrap();
        assert!(all.iter().all(|mean| mean.to_bits() == all[0].to_bits()));
        (alone[0], all[0])
    };
    // What is local to a rank is summed over all of them.
    let ranks = launcher::counts(&[3])[0];
    let (alone, together) = (found(1).0, found(ranks).1);
    let alone = if launcher::size().is_some() { alone / ranks as f64 } else { alone };
    assert!(together > 0.0 && (together - alone).abs() < 1e-15, "{together}, {alone}");
}
