//! What all planners share: sorting moves into local ones and messages, and the order of waves.

use super::{Arrival, Message, Move, RankPlan};
use crate::region::{Region, RegionTree};
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

/// A move with the key that fixes its place; both ends compute the same keys.
pub(super) type Keyed<K> = (K, Move);

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

    /// The plan, with `round(sender, receiver, keys of the message)` for each message. With `ordered`,
    /// moves that write the same cells are applied in the order of their keys.
    pub fn finish(
        mut self,
        rounds: usize,
        ordered: bool,
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
        let waves = if ordered { waves(&self.local, &receives) } else { Vec::new() };
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

fn waves<K: Ord + Copy>(local: &[Keyed<K>], receives: &[(usize, usize, Vec<Keyed<K>>)]) -> Vec<Vec<Arrival>> {
    let mut all: Vec<_> =
        local.iter().enumerate().map(|(index, (key, this))| (*key, Arrival::Local(index), this)).collect();
    for (message, (_, _, moves)) in receives.iter().enumerate() {
        let arrival = |index| Arrival::Received { message, index };
        all.extend(moves.iter().enumerate().map(|(index, (key, this))| (*key, arrival(index), this)));
    }
    all.sort_by_key(|(key, _, _)| *key);
    let writes: Vec<_> = all.iter().map(|(_, _, this)| ((this.dst_array, this.dst_chunk), this.dst, true)).collect();
    let levels = levels(&writes);
    let count = levels.iter().max().map_or(0, |last| last + 1);
    if count <= 1 {
        return Vec::new();
    }
    let mut waves = vec![Vec::new(); count];
    all.iter().zip(levels).for_each(|((_, arrival, _), level)| waves[level].push(*arrival));
    waves
}

/// For an ordered list of accesses `(what, region, writes)`: the level of each, such that an access comes at
/// a later level than every earlier one that it conflicts with (same `what`, common cells, and at
/// least one of the two writes). Costs n log n and the overlaps between *different* boxes.
pub(super) fn levels<W: std::hash::Hash + Eq + Copy>(accesses: &[(W, Region, bool)]) -> Vec<usize> {
    let mut groups: HashMap<W, Vec<usize>> = HashMap::new();
    for (index, (what, _, _)) in accesses.iter().enumerate() {
        groups.entry(*what).or_default().push(index);
    }
    let mut out = vec![0; accesses.len()];
    for members in groups.into_values() {
        // Equal boxes share one entry, so that many operations on one cell stay cheap.
        let mut number: HashMap<Region, usize> = HashMap::new();
        let mut boxes = Vec::new();
        for &index in &members {
            number.entry(accesses[index].1).or_insert_with(|| {
                boxes.push(accesses[index].1);
                boxes.len() - 1
            });
        }
        let tree = RegionTree::new(&boxes);
        // First level that is free after the reads, and after the writes, of each box.
        let (mut reads, mut writes) = (vec![0; boxes.len()], vec![0; boxes.len()]);
        for &index in &members {
            let (_, region, writing) = accesses[index];
            let mut level = 0;
            let _ = tree.visit(&region, &mut |other, _| {
                level = level.max(writes[other]);
                if writing {
                    level = level.max(reads[other]);
                }
                ControlFlow::Continue(())
            });
            let own = if writing { &mut writes } else { &mut reads };
            let own = &mut own[number[&region]];
            *own = (*own).max(level + 1);
            out[index] = level;
        }
    }
    out
}
