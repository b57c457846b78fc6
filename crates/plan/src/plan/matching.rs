//! The matching schedule: who sends to whom in which round.
//!
//! A rank sends to at most one rank and receives from at most one rank in a round; two ranks that
//! exchange data may do both in the same round (links carry both ways at once). So a round is a matching
//! of the graph whose left side are senders and whose right side are receivers, and no schedule can have
//! fewer rounds than the largest number of messages that a rank sends, or receives. This one always
//! reaches that bound.
//!
//! Rounds are maximal matchings in order of remaining degree, which reach the bound on all graphs that
//! stencils and redistributions make, at a fraction of the cost of maximum matchings. Where they do not, or
//! where a rank has very many partners, the edges are coloured along alternating paths instead, which
//! reaches the bound on every bipartite graph (Kőnig). Every rank computes the same.

use std::cmp::Reverse;
use std::collections::HashMap;

/// The most edges for which ranks look at the whole graph; larger ones are scheduled by arithmetic.
pub(super) const MAX_EDGES: usize = 1 << 16;

/// Rounds × edges above which repeated matchings would cost too much.
const MATCHING_BUDGET: usize = 1 << 25;

const NONE: usize = usize::MAX;

/// The round of every edge of a graph. See [`rounds`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// `round[e]` is the round of edge `e`.
    pub round: Vec<usize>,
    /// Number of rounds.
    pub rounds: usize,
}

/// Distributes messages `(sender, receiver)` over rounds. Equal edges are messages of their own.
///
/// Deterministic: it depends on nothing but the list, so that every rank gets the same.
pub fn rounds(edges: &[(usize, usize)]) -> Schedule {
    let graph = Graph::new(edges);
    if graph.bound.saturating_mul(edges.len()) <= MATCHING_BUDGET {
        let schedule = graph.matchings();
        if schedule.rounds == graph.bound {
            return schedule;
        }
    }
    graph.colouring()
}

/// The round of a message by arithmetic, `None` for a rank to itself: by rank difference, so that a rank
/// sends and receives once in each of `ranks - 1` rounds.
pub(super) fn round_by_difference(sender: usize, receiver: usize, ranks: usize) -> Option<usize> {
    ((receiver + ranks - sender) % ranks).checked_sub(1)
}

/// Both sides numbered densely: senders first, then receivers.
struct Graph {
    edges: Vec<(usize, usize)>,
    degree: Vec<usize>,
    bound: usize,
}

impl Graph {
    fn new(edges: &[(usize, usize)]) -> Self {
        fn dense(ranks: impl Iterator<Item = usize>, first: usize) -> HashMap<usize, usize> {
            let mut ranks: Vec<_> = ranks.collect();
            ranks.sort_unstable();
            ranks.dedup();
            ranks.into_iter().enumerate().map(|(place, rank)| (rank, first + place)).collect()
        }
        let senders = dense(edges.iter().map(|edge| edge.0), 0);
        let receivers = dense(edges.iter().map(|edge| edge.1), senders.len());
        let edges: Vec<_> = edges.iter().map(|(from, to)| (senders[from], receivers[to])).collect();
        let mut degree = vec![0; senders.len() + receivers.len()];
        edges.iter().for_each(|&(from, to)| {
            degree[from] += 1;
            degree[to] += 1;
        });
        let bound = degree.iter().copied().max().unwrap_or(0);
        Self { edges, degree, bound }
    }

    /// Repeated maximal matching: vertices in order of falling remaining degree each take the free
    /// partner with the largest remaining degree.
    fn matchings(&self) -> Schedule {
        let mut round = vec![NONE; self.edges.len()];
        let mut degree = self.degree.clone();
        let mut open: Vec<Vec<usize>> = vec![Vec::new(); degree.len()];
        for (edge, &(from, to)) in self.edges.iter().enumerate() {
            open[from].push(edge);
            open[to].push(edge);
        }
        let mut order: Vec<usize> = (0..degree.len()).collect();
        let mut matched = vec![NONE; degree.len()];
        let (mut rounds, mut left) = (0, self.edges.len());
        while left > 0 {
            order.retain(|&vertex| degree[vertex] > 0);
            // Degrees fall slowly, so the list is nearly sorted, which the stable sort likes.
            order.sort_by_key(|&vertex| (Reverse(degree[vertex]), vertex));
            let mut taken = Vec::new();
            for &vertex in &order {
                if matched[vertex] == rounds {
                    continue;
                }
                open[vertex].retain(|&edge| round[edge] == NONE);
                let other = |edge: usize| self.edges[edge].0 + self.edges[edge].1 - vertex;
                let free = open[vertex].iter().copied().filter(|&edge| matched[other(edge)] != rounds);
                if let Some(edge) = free.max_by_key(|&edge| (degree[other(edge)], Reverse(edge))) {
                    matched[vertex] = rounds;
                    matched[other(edge)] = rounds;
                    round[edge] = rounds;
                    taken.push(edge);
                }
            }
            left -= taken.len();
            for edge in taken {
                degree[self.edges[edge].0] -= 1;
                degree[self.edges[edge].1] -= 1;
            }
            rounds += 1;
        }
        Schedule { round, rounds }
    }

    /// Edge colouring with as many colours as the largest degree: an edge takes a colour that is free at
    /// both ends, after exchanging two colours along a path where there is none.
    fn colouring(&self) -> Schedule {
        let mut round = vec![NONE; self.edges.len()];
        let mut at: HashMap<(usize, usize), usize> = HashMap::with_capacity(2 * self.edges.len());
        // No colour below `low[v]` is free at v.
        let mut low = vec![0; self.degree.len()];
        for (edge, &(from, to)) in self.edges.iter().enumerate() {
            let mut free = |vertex: usize, at: &HashMap<(usize, usize), usize>| {
                while at.contains_key(&(vertex, low[vertex])) {
                    low[vertex] += 1;
                }
                low[vertex]
            };
            let (a, b) = (free(from, &at), free(to, &at));
            let colour = if !at.contains_key(&(to, a)) {
                a
            } else if !at.contains_key(&(from, b)) {
                b
            } else {
                // Exchange a and b along the path that starts at `to` with colour a. It cannot end at `from`.
                let (mut vertex, mut this, mut that) = (to, a, b);
                let mut path = Vec::new();
                while let Some(&next) = at.get(&(vertex, this)) {
                    path.push(next);
                    vertex = self.edges[next].0 + self.edges[next].1 - vertex;
                    std::mem::swap(&mut this, &mut that);
                }
                for &old in &path {
                    at.remove(&(self.edges[old].0, round[old]));
                    at.remove(&(self.edges[old].1, round[old]));
                }
                for &old in &path {
                    round[old] = if round[old] == a { b } else { a };
                    at.insert((self.edges[old].0, round[old]), old);
                    at.insert((self.edges[old].1, round[old]), old);
                }
                for vertex in [to, vertex] {
                    low[vertex] = low[vertex].min(a).min(b);
                }
                a
            };
            round[edge] = colour;
            at.insert((from, colour), edge);
            at.insert((to, colour), edge);
        }
        Schedule { round, rounds: self.bound }
    }
}

#[cfg(test)]
mod tests;
