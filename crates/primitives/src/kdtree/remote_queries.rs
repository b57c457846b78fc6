//! Queries between ranks, and their answers.

use std::collections::BTreeMap;

use zippy::World;
use zippy::collective::CollectiveWorld;
use zippy::error::{Result, TransportError};
use zippy::transport::{Payload, copied, values};

use super::local_tree::Neighbour;
use super::point::Bounds;

/// Query of a k-d tree from one rank to another: a box, or a point as both corners, and a maximum
/// distance.
#[derive(Debug, Clone, Copy)]
pub(super) struct RemoteQuery {
    pub bounds: Bounds,
    pub within: f32,
}

impl RemoteQuery {
    fn to_words(self) -> [f32; 7] {
        let Self { bounds: Bounds { low: [a, b, c], high: [d, e, f] }, within } = self;
        [a, b, c, d, e, f, within]
    }

    fn from_words([a, b, c, d, e, f, within]: [f32; 7]) -> Self {
        Self { bounds: Bounds { low: [a, b, c], high: [d, e, f] }, within }
    }
}

/// Queries of this rank by destination rank (also this rank), each with its index.
#[derive(Default)]
pub(super) struct RemoteQueries(BTreeMap<usize, Vec<(usize, RemoteQuery)>>);

impl RemoteQueries {
    pub(super) fn add(&mut self, rank: usize, query: usize, remote_query: RemoteQuery) {
        self.0.entry(rank).or_default().push((query, remote_query));
    }

    /// Sends all queries, answers those of other ranks with `answer`, and calls `found` with the
    /// index and the answer of each query of this rank. Collective.
    pub(super) fn exchange(
        self,
        world: &World,
        answer: impl Fn(&RemoteQuery) -> Vec<Neighbour>,
        mut found: impl FnMut(usize, Vec<Neighbour>),
    ) -> Result<()> {
        let words = |list: &[(usize, RemoteQuery)]| list.iter().map(|(_, query)| query.to_words()).collect::<Vec<_>>();
        let asked = self.0.iter().map(|(&rank, list)| (rank, copied(&words(list)))).collect();
        let mut answers = Vec::new();
        for (from, remote_queries) in world.inner_group().sparse_exchange(asked)? {
            let remote_queries = values::<[f32; 7]>(&remote_queries)?;
            answers
                .push((from, encoded(remote_queries.into_iter().map(|words| answer(&RemoteQuery::from_words(words))))));
        }
        for (from, answers) in world.inner_group().sparse_exchange(answers)? {
            let damaged = || TransportError::Other(format!("the answers of rank {from} arrived malformed"));
            let mut words = values::<u64>(&answers)?.into_iter();
            for (query, _) in self.0.get(&from).into_iter().flatten() {
                let count = words.next().filter(|count| *count <= words.len() as u64 / 2).ok_or_else(damaged)?;
                let next = |_| {
                    Some(Neighbour { index: words.next()?, squared_distance: f32::from_bits(words.next()? as u32) })
                };
                let answer: Option<Vec<Neighbour>> = (0..count).map(next).collect();
                found(*query, answer.ok_or_else(damaged)?);
            }
        }
        Ok(())
    }
}

/// Encodes for each answer the number of neighbours, then the index and distance of each neighbour.
fn encoded(answers: impl Iterator<Item = Vec<Neighbour>>) -> Payload {
    let mut words: Vec<u64> = Vec::new();
    for answer in answers {
        words.push(answer.len() as u64);
        words
            .extend(answer.iter().flat_map(|neighbour| [neighbour.index, neighbour.squared_distance.to_bits().into()]));
    }
    copied(&words)
}
