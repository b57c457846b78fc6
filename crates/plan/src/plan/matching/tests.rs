use std::collections::HashSet;

use petgraph::algo::maximum_matching;
use petgraph::graph::{NodeIndex, UnGraph};
use proptest::prelude::*;
use zippy_testing::random::LinearCongruential;

use super::*;

fn check(edges: &[(usize, usize)], schedule: &Schedule) {
    let (mut sending, mut receiving) = (HashSet::new(), HashSet::new());
    for (&(from, to), &round) in edges.iter().zip(&schedule.round) {
        assert!(round < schedule.rounds);
        assert!(sending.insert((from, round)), "rank {from} sends twice in round {round}");
        assert!(receiving.insert((to, round)), "rank {to} receives twice in round {round}");
    }
}

fn bound(edges: &[(usize, usize)]) -> usize {
    let mut degree = HashMap::new();
    for &(from, to) in edges {
        *degree.entry((0, from)).or_insert(0) += 1;
        *degree.entry((1, to)).or_insert(0) += 1;
    }
    degree.into_values().max().unwrap_or(0)
}

/// Number of rounds of repeated maximum matchings.
fn reference(edges: &[(usize, usize)], ranks: usize) -> usize {
    let mut remaining = edges.to_vec();
    let mut rounds = 0;
    while !remaining.is_empty() {
        let graph =
            UnGraph::<(), ()>::from_edges(remaining.iter().map(|&(from, to)| (from as u32, (ranks + to) as u32)));
        let matching = maximum_matching(&graph);
        remaining.retain(|&(from, to)| matching.mate(NodeIndex::new(from)) != Some(NodeIndex::new(ranks + to)));
        rounds += 1;
    }
    rounds
}

/// Edges of an n³ periodic grid from each rank to its 26 neighbours.
fn halo(n: usize) -> Vec<(usize, usize)> {
    let at = |x: usize, y: usize, z: usize| (x % n) + n * ((y % n) + n * (z % n));
    let mut edges = Vec::new();
    for rank in 0..n * n * n {
        let (x, y, z) = (rank % n, rank / n % n, rank / n / n);
        for step in (0..27).filter(|&step| step != 13) {
            edges.push((rank, at(x + n + step % 3 - 1, y + n + step / 3 % 3 - 1, z + n + step / 9 - 1)));
        }
    }
    edges
}

/// Edges from the blocks of an n³ grid to n³ slabs of the cube: each block sends to the slabs in
/// its z range.
fn blocks_to_slabs(n: usize) -> Vec<(usize, usize)> {
    let ranks = n * n * n;
    (0..ranks)
        .flat_map(|block| {
            let layer = block / (n * n);
            (layer * n * n..(layer + 1) * n * n).map(move |slab| (block, slab))
        })
        .filter(|(from, to)| from != to)
        .collect()
}

fn random(ranks: usize, degree: usize) -> Vec<(usize, usize)> {
    let mut random = LinearCongruential::new(0x9e37_79b9_7f4a_7c15);
    let mut next = || (random.next_u64() >> 33) as usize;
    let edges: HashSet<_> = (0..ranks * degree).map(|i| (i / degree, next() % ranks)).filter(|(a, b)| a != b).collect();
    let mut edges: Vec<_> = edges.into_iter().collect();
    edges.sort_unstable();
    edges
}

#[test]
fn graphs_of_stencils_and_redistributions_reach_the_lower_bound() {
    for edges in [halo(4), halo(8), blocks_to_slabs(4), blocks_to_slabs(6), random(64, 32), random(512, 32)] {
        let schedule = rounds(&edges);
        check(&edges, &schedule);
        assert_eq!(schedule.rounds, bound(&edges));
        let colouring = Graph::new(&edges).colouring();
        check(&edges, &colouring);
        assert_eq!(colouring.rounds, bound(&edges));
    }
}

#[test]
fn maximal_matchings_need_no_more_rounds_than_maximum_matchings() {
    for (edges, ranks) in [(halo(4), 64), (blocks_to_slabs(4), 64), (random(64, 32), 64)] {
        assert!(Graph::new(&edges).matchings().rounds <= reference(&edges, ranks));
    }
}

#[test]
fn star_graph_reaches_the_lower_bound() {
    let star: Vec<_> = (1..MAX_EDGES).map(|leaf| (leaf, 0)).collect();
    let schedule = rounds(&star);
    check(&star, &schedule);
    assert_eq!(schedule.rounds, star.len());
    assert_eq!(rounds(&[]), Schedule { round: vec![], rounds: 0 });
}

#[test]
fn rounds_by_difference_are_matchings() {
    let edges: Vec<_> = (0..7).flat_map(|a| (0..7).map(move |b| (a, b))).filter(|(a, b)| a != b).collect();
    let round = edges.iter().map(|&(a, b)| round_by_difference(a, b, 7).unwrap()).collect();
    check(&edges, &Schedule { round, rounds: 6 });
    assert_eq!(round_by_difference(3, 3, 7), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_graph_reaches_the_lower_bound(edges in prop::collection::vec((0_usize..12, 0_usize..12), 0..90)) {
        let schedule = rounds(&edges);
        check(&edges, &schedule);
        prop_assert_eq!(schedule.rounds, bound(&edges));
        let colouring = Graph::new(&edges).colouring();
        check(&edges, &colouring);
    }
}
