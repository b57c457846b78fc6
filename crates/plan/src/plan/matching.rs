//! [`rounds`]: schedule of messages in rounds, by matchings of a bipartite graph.
//!
//! In a round, a rank sends to at most one rank and receives from at most one rank, as links carry
//! both directions at once. A round is a matching of the graph with senders on the left and
//! receivers on the right. The schedule has the minimum number of rounds: the largest number of
//! messages that a rank sends or receives.
//!
//! Rounds are maximal matchings in the order of remaining degree. They reach the minimum on all
//! graphs of stencils and redistributions, at a fraction of the cost of maximum matchings.
//! Otherwise, and for a rank with very many partners, the edges are coloured along alternating
//! paths, which reaches the minimum on every bipartite graph (Kőnig). All ranks compute the same
//! schedule.

use std::cmp::Reverse;
use std::collections::HashMap;

/// Maximum number of edges for a schedule by matching. Larger graphs are scheduled by arithmetic.
pub(super) const MAX_EDGES: usize = 1 << 16;

/// Maximum of rounds × edges for repeated matchings.
const MATCHING_BUDGET: usize = 1 << 25;

const NONE: usize = usize::MAX;

/// Round of each edge of a graph, from [`rounds`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Schedule {
    /// Round of each edge.
    pub round: Vec<usize>,
    /// Number of rounds.
    pub rounds: usize,
}

/// Distributes messages `(sender, receiver)` over rounds. Equal edges are different messages.
///
/// The result depends only on the list, so that it is equal on all ranks.
pub(super) fn rounds(edges: &[(usize, usize)]) -> Schedule {
    let graph = Graph::new(edges);
    if graph.bound.saturating_mul(edges.len()) <= MATCHING_BUDGET {
        let schedule = graph.matchings();
        if schedule.rounds == graph.bound {
            return schedule;
        }
    }
    graph.colouring()
}

/// Round of a message by rank difference: each of `ranks - 1` rounds has one send and one receive
/// per rank. `None` for a message of a rank to itself.
pub(super) fn round_by_difference(sender: usize, receiver: usize, ranks: usize) -> Option<usize> {
    ((receiver + ranks - sender) % ranks).checked_sub(1)
}

/// Bipartite graph of messages. Vertices have consecutive numbers: senders first, then receivers.
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
            ranks.into_iter().enumerate().map(|(index, rank)| (rank, first + index)).collect()
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

    /// Schedules by repeated maximal matchings: vertices, in order of falling remaining degree,
    /// choose the free partner with the largest remaining degree.
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
        let (mut rounds, mut remaining) = (0, self.edges.len());
        while remaining > 0 {
            order.retain(|&vertex| degree[vertex] > 0);
            // The list is nearly sorted, so that the stable sort is fast.
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
            remaining -= taken.len();
            for edge in taken {
                degree[self.edges[edge].0] -= 1;
                degree[self.edges[edge].1] -= 1;
            }
            rounds += 1;
        }
        Schedule { round, rounds }
    }

    /// Schedules by edge colouring with as many colours as the largest degree. An edge gets a
    /// colour that is free at both ends, if necessary after an exchange of two colours along a
    /// path.
    fn colouring(&self) -> Schedule {
        let mut round = vec![NONE; self.edges.len()];
        // Edge of each pair of vertex and colour.
        let mut edge_at: HashMap<(usize, usize), usize> = HashMap::with_capacity(2 * self.edges.len());
        // All colours less than `low[v]` are used at vertex v.
        let mut low = vec![0; self.degree.len()];
        for (edge, &(from, to)) in self.edges.iter().enumerate() {
            let mut free = |vertex: usize, edge_at: &HashMap<(usize, usize), usize>| {
                while edge_at.contains_key(&(vertex, low[vertex])) {
                    low[vertex] += 1;
                }
                low[vertex]
            };
            let (a, b) = (free(from, &edge_at), free(to, &edge_at));
            let colour = if !edge_at.contains_key(&(to, a)) {
                a
            } else if !edge_at.contains_key(&(from, b)) {
                b
            } else {
                // Exchange a and b along the path from `to` with colour a, which cannot end at
                // `from`.
                let (mut vertex, mut colour, mut other_colour) = (to, a, b);
                let mut path = Vec::new();
                while let Some(&next) = edge_at.get(&(vertex, colour)) {
                    path.push(next);
                    vertex = self.edges[next].0 + self.edges[next].1 - vertex;
                    std::mem::swap(&mut colour, &mut other_colour);
                }
                for &edge in &path {
                    edge_at.remove(&(self.edges[edge].0, round[edge]));
                    edge_at.remove(&(self.edges[edge].1, round[edge]));
                }
                for &edge in &path {
                    round[edge] = if round[edge] == a { b } else { a };
                    edge_at.insert((self.edges[edge].0, round[edge]), edge);
                    edge_at.insert((self.edges[edge].1, round[edge]), edge);
                }
                for vertex in [to, vertex] {
                    low[vertex] = low[vertex].min(a).min(b);
                }
                a
            };
            round[edge] = colour;
            edge_at.insert((from, colour), edge);
            edge_at.insert((to, colour), edge);
        }
        Schedule { round, rounds: self.bound }
    }
}

#[cfg(test)]
mod tests;
