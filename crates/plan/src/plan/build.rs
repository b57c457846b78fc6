//! What all planners share: sorting moves into local ones and messages, and the order of waves.

use std::collections::BTreeMap;

use super::{Arrival, Message, Move, RankPlan};
use crate::region::{Region, levels};

/// A move with the key that fixes its place; both ends compute the same keys.
pub(super) type Keyed<K> = (K, Move);

/// Which memory of this rank a move writes, and the box in it.
pub(super) type Written<'a> = &'a dyn Fn(&Move) -> ((usize, usize), Region);

/// Collects the moves of one rank.
pub(super) struct Builder<K> {
    rank: usize,
    local: Vec<Keyed<K>>,
    sends: BTreeMap<usize, Vec<Keyed<K>>>,
    receives: BTreeMap<usize, Vec<Keyed<K>>>,
}

impl<K: Ord + Copy> Builder<K> {
    pub fn new(rank: usize) -> Self {
        Self { rank, local: Vec::new(), sends: BTreeMap::new(), receives: BTreeMap::new() }
    }

    /// A move out of a chunk of this rank to a chunk of `to`.
    pub fn send(&mut self, to: usize, key: K, this: Move) {
        match to == self.rank {
            true => self.local.push((key, this)),
            false => self.sends.entry(to).or_default().push((key, this)),
        }
    }

    /// A move into a chunk of this rank from a chunk of another rank. (Local moves are counted once, by
    /// [`send`](Self::send).)
    pub fn receive(&mut self, from: usize, key: K, this: Move) {
        if from != self.rank {
            self.receives.entry(from).or_default().push((key, this));
        }
    }

    pub fn talks(&self) -> bool {
        !(self.sends.is_empty() && self.receives.is_empty())
    }

    /// The plan, with `round(sender, receiver, keys of the message)` for each message. With `written`, which tells the
    /// memory that a move writes and the box in it, moves that write the same cells are applied in the order of their keys.
    pub fn finish(
        mut self,
        rounds: usize,
        written: Option<Written>,
        round: impl Fn(usize, usize, &[Keyed<K>]) -> usize,
    ) -> RankPlan {
        let rank = self.rank;
        let rounds = if self.talks() { rounds } else { 0 };
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
        let strip = |moves: Vec<Keyed<K>>| moves.into_iter().map(|(_, this)| this).collect();
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
    written: Written,
) -> Vec<Vec<Arrival>> {
    let mut all: Vec<_> =
        local.iter().enumerate().map(|(index, (key, this))| (*key, Arrival::Local(index), this)).collect();
    for (message, (_, _, moves)) in receives.iter().enumerate() {
        let arrival = |index| Arrival::Received { message, index };
        all.extend(moves.iter().enumerate().map(|(index, (key, this))| (*key, arrival(index), this)));
    }
    all.sort_by_key(|(key, _, _)| *key);
    let write = |this: &Move| {
        let (memory, region) = written(this);
        (memory, region, true)
    };
    let writes: Vec<_> = all.iter().map(|(_, _, this)| write(this)).collect();
    let levels = levels(&writes);
    let count = levels.iter().max().map_or(0, |last| last + 1);
    if count <= 1 {
        return Vec::new();
    }
    let mut waves = vec![Vec::new(); count];
    all.iter().zip(levels).for_each(|((_, arrival, _), level)| waves[level].push(*arrival));
    waves
}
