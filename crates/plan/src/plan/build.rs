//! [`Builder`]: collects the moves of a rank into local moves, messages and waves.

use std::collections::BTreeMap;

use super::{Arrival, Message, Move, RankPlan};
use crate::region::{Region, levels};

/// Move with its sort key. Both ranks of a message compute the same keys.
pub(super) type Keyed<K> = (K, Move);

/// Function from a move to the memory of this rank that the move writes, and the box in it.
pub(super) type Written<'a> = &'a dyn Fn(&Move) -> ((usize, usize), Region);

/// Moves of a rank, sorted into local moves and messages.
pub(super) struct Builder<K> {
    rank: usize,
    local: Vec<Keyed<K>>,
    sends: BTreeMap<usize, Vec<Keyed<K>>>,
    receives: BTreeMap<usize, Vec<Keyed<K>>>,
}

impl<K: Ord + Copy> Builder<K> {
    pub(super) fn new(rank: usize) -> Self {
        Self { rank, local: Vec::new(), sends: BTreeMap::new(), receives: BTreeMap::new() }
    }

    pub(super) fn send(&mut self, to: usize, key: K, step: Move) {
        if to == self.rank {
            self.local.push((key, step));
        } else {
            self.sends.entry(to).or_default().push((key, step));
        }
    }

    /// Adds a move from a chunk of rank `from` to a chunk of this rank, except for local moves,
    /// which [`send`](Self::send) adds.
    pub(super) fn receive(&mut self, from: usize, key: K, step: Move) {
        if from != self.rank {
            self.receives.entry(from).or_default().push((key, step));
        }
    }

    pub(super) fn has_messages(&self) -> bool {
        !(self.sends.is_empty() && self.receives.is_empty())
    }

    /// Builds the plan. `round(sender, receiver, moves)` is the round of a message with keyed
    /// moves. With `written`, moves that write the same cells are applied in the order of their
    /// keys.
    pub(super) fn finish(
        mut self,
        rounds: usize,
        written: Option<Written<'_>>,
        round: impl Fn(usize, usize, &[Keyed<K>]) -> usize,
    ) -> RankPlan {
        let rank = self.rank;
        let rounds = if self.has_messages() { rounds } else { 0 };
        self.local.sort_unstable_by_key(|(key, _)| *key);
        let messages = |peers: BTreeMap<usize, Vec<Keyed<K>>>, sending: bool| {
            let mut messages: Vec<_> = peers
                .into_iter()
                .map(|(peer, mut moves)| {
                    moves.sort_unstable_by_key(|(key, _)| *key);
                    let (sender, receiver) = if sending { (rank, peer) } else { (peer, rank) };
                    (round(sender, receiver, &moves), peer, moves)
                })
                .collect();
            messages.sort_by_key(|(round, peer, _)| (*round, *peer));
            messages
        };
        let (sends, receives) = (messages(self.sends, true), messages(self.receives, false));
        let waves = written.map_or(Vec::new(), |written| waves(&self.local, &receives, written));
        let strip = |moves: Vec<Keyed<K>>| moves.into_iter().map(|(_, step)| step).collect();
        let pack = |(round, peer, moves)| Message { peer, round, moves: strip(moves) };
        RankPlan {
            rank,
            local: strip(self.local),
            sends: sends.into_iter().map(pack).collect(),
            receives: receives.into_iter().map(pack).collect(),
            rounds,
            waves,
            ..RankPlan::default()
        }
    }
}

fn waves<K: Ord + Copy>(
    local: &[Keyed<K>],
    receives: &[(usize, usize, Vec<Keyed<K>>)],
    written: Written<'_>,
) -> Vec<Vec<Arrival>> {
    let mut all: Vec<_> =
        local.iter().enumerate().map(|(index, (key, step))| (*key, Arrival::Local(index), step)).collect();
    for (message, (_, _, moves)) in receives.iter().enumerate() {
        let arrival = |index| Arrival::Received { message, index };
        all.extend(moves.iter().enumerate().map(|(index, (key, step))| (*key, arrival(index), step)));
    }
    all.sort_by_key(|(key, _, _)| *key);
    let write = |step: &Move| {
        let (memory, region) = written(step);
        (memory, region, true)
    };
    let writes: Vec<_> = all.iter().map(|(_, _, step)| write(step)).collect();
    let levels = levels(&writes);
    let count = levels.iter().max().map_or(0, |last| last + 1);
    if count <= 1 {
        return Vec::new();
    }
    let mut waves = vec![Vec::new(); count];
    all.iter().zip(levels).for_each(|((_, arrival, _), level)| waves[level].push(*arrival));
    waves
}
