//! Swap (binary swap and its generalisation to any radix and count).

use std::ops::Range;

use super::{Core, Partners};
use crate::error::PlanError;

/// The reduction of a list of items (the pixels of an image) in which every active position ends with
/// the complete reduction of its own range.
///
/// First the members of each [`folds`](Self::folds) group send all items to its root, which combines them in order; only
/// roots and positions without a fold are active from then on. In each round the members of a group divide
/// the range that all of them hold into one part each, send every other member its part, and combine what they get
/// with their own in the order of the group. Ends of ranges are global items, so a part can be named as a
/// region of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swap {
    core: Core,
    items: u64,
}

/// What one active position does in one round of a [`Swap`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwapStep {
    /// The positions of the group, in the order in which their parts combine; this one included.
    pub members: Vec<usize>,
    /// This position's place among them.
    pub place: usize,
    /// The items that every member holds before the round.
    pub before: Range<u64>,
    /// The items that each member keeps: `parts[place]` is what this position ends the round with.
    pub parts: Vec<Range<u64>>,
}

impl SwapStep {
    /// The items that this position keeps.
    pub fn keep(&self) -> Range<u64> {
        self.parts[self.place].clone()
    }
}

impl Swap {
    /// The pattern over `count` positions for `items` items. Binary swap has radix 2.
    ///
    /// # Errors
    /// When there are no positions or a radix is below 2.
    pub fn new(count: usize, radices: &[usize], items: u64) -> Result<Self, PlanError> {
        Ok(Self { core: Core::new(count, radices)?, items })
    }

    /// Groups whose members send everything to the root before the first round; contiguous runs of positions.
    pub fn folds(&self) -> Vec<Partners> {
        self.core.folds()
    }

    /// Number of rounds after folding.
    pub fn rounds(&self) -> usize {
        self.core.radices.len()
    }

    /// The positions that take part in the rounds, ascending.
    pub fn active(&self) -> &[usize] {
        &self.core.leaders[..self.core.count()]
    }

    /// What a position does in a round; `None` where it was folded.
    ///
    /// # Panics
    /// If there is no such round.
    pub fn step(&self, round: usize, position: usize) -> Option<SwapStep> {
        let leader = self.core.leader(position)?;
        let (group, place) = self.core.group(round, leader);
        let before = self.range(round, leader);
        let parts = (0..self.core.radices[round]).map(|place| part(&before, place, self.core.radices[round]));
        Some(SwapStep { members: group.members, place, parts: parts.collect(), before })
    }

    /// The items of which a position has the complete reduction after the last round; empty for a
    /// folded one.
    pub fn result(&self, position: usize) -> Range<u64> {
        self.core.leader(position).map_or(0..0, |leader| self.range(self.rounds(), leader))
    }

    /// What a leader holds before a round.
    fn range(&self, round: usize, leader: usize) -> Range<u64> {
        (0..round).fold(0..self.items, |range, round| {
            let radix = self.core.radices[round];
            part(&range, leader / self.core.stride(round) % radix, radix)
        })
    }
}

/// Part `place` of `count` parts whose lengths differ by at most one, the longer ones first.
fn part(range: &Range<u64>, place: usize, count: usize) -> Range<u64> {
    let (length, place, count) = (range.end - range.start, place as u64, count as u64);
    let start = |place: u64| range.start + length / count * place + place.min(length % count);
    start(place)..start(place + 1)
}
