use std::ops::Range;

use super::{FoldedExchange, Partners};
use crate::error::PlanError;

/// Swap reduction of a list of items (the pixels of an image), binary or with any radices: every
/// active position gets the complete reduction of its own range of items.
///
/// * First the members of each [`folds`](Self::folds) group send all items to its root, which
///   combines them in order. Afterwards only roots and positions without a fold are active.
/// * In each round the members of a group have the same range. They divide it into one part per
///   member, send each other member its part, and combine the received parts with their own in the
///   order of the group.
///
/// Ranges are ranges of global items, so that a part is a region of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swap {
    exchange: FoldedExchange,
    items: u64,
}

/// Work of an active position in a round of a [`Swap`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwapStep {
    /// Positions of the group, including this position, in the order in which their parts combine.
    pub members: Vec<usize>,
    /// Index of this position in `members`.
    pub place: usize,
    /// Items that every member has before the round.
    pub before: Range<u64>,
    /// Items of each member after the round: `parts[place]` for this position.
    pub parts: Vec<Range<u64>>,
}

impl SwapStep {
    /// Items that this position keeps.
    pub fn keep(&self) -> Range<u64> {
        self.parts[self.place].clone()
    }
}

impl Swap {
    /// Pattern over `count` positions for `items` items. Binary swap has radix 2.
    ///
    /// # Errors
    /// [`PlanError::Pattern`]: `count` is 0, the list is empty, or a radix is less than 2.
    pub fn new(count: usize, radices: &[usize], items: u64) -> Result<Self, PlanError> {
        Ok(Self { exchange: FoldedExchange::new(count, radices)?, items })
    }

    /// Groups, as contiguous runs of positions, whose members send all items to the root before the
    /// first round.
    pub fn folds(&self) -> Vec<Partners> {
        self.exchange.folds()
    }

    /// Number of rounds after folding.
    pub fn rounds(&self) -> usize {
        self.exchange.radices.len()
    }

    /// Positions that are active in the rounds, ascending.
    pub fn active(&self) -> &[usize] {
        &self.exchange.leaders[..self.exchange.count()]
    }

    /// Work of a position in a round; `None` for a folded position.
    ///
    /// # Panics
    /// For a round that does not exist.
    pub fn step(&self, round: usize, position: usize) -> Option<SwapStep> {
        let leader = self.exchange.leader(position)?;
        let (group, place) = self.exchange.group(round, leader);
        let before = self.range(round, leader);
        let parts = (0..self.exchange.radices[round]).map(|place| part(&before, place, self.exchange.radices[round]));
        Some(SwapStep { members: group.members, place, parts: parts.collect(), before })
    }

    /// Completely reduced items of a position after the last round; empty for a folded
    /// position.
    pub fn result(&self, position: usize) -> Range<u64> {
        self.exchange.leader(position).map_or(0..0, |leader| self.range(self.rounds(), leader))
    }

    fn range(&self, round: usize, leader: usize) -> Range<u64> {
        (0..round).fold(0..self.items, |range, round| {
            let radix = self.exchange.radices[round];
            part(&range, leader / self.exchange.stride(round) % radix, radix)
        })
    }
}

/// Part `index` of `count` parts with lengths that differ by at most one, longer parts first.
fn part(range: &Range<u64>, index: usize, count: usize) -> Range<u64> {
    let (length, index, count) = (range.end - range.start, index as u64, count as u64);
    let start = |index: u64| range.start + length / count * index + index.min(length % count);
    start(index)..start(index + 1)
}
