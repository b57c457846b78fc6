//! [`Swap`]: binary swap, generalised to any radices and any number of participants.

use std::ops::Range;

use crate::error::PlanError;

/// Swap reduction of a list of items (the pixels of an image) over ordered positions: every active
/// position gets the complete reduction of its own range of items.
///
/// * First the positions of each of the [`folds`](Self::folds) send all items to the first of them,
///   which combines them in order. Only the first position of a fold and positions without a fold
///   are active after that.
/// * In each round the members of a group have the same range. They divide the range into one part
///   per member, send each other member its part, and combine the received parts with their own in
///   the order of the group.
///
/// A group combines a contiguous run of positions, so operators need not commute: layers may be
/// blended in depth order. Ranges are ranges of global items, so that a part is a region of an
/// image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swap {
    /// Active position `j` represents the positions `active[j]..active[j + 1]`; the last entry is
    /// the number of positions.
    active: Vec<usize>,
    /// Size of the groups of each round. The product is the number of active positions.
    radices: Vec<usize>,
    items: u64,
}

/// Work of an active position in a round of a [`Swap`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwapStep {
    /// Positions of the group, with this position, in the order in which their parts combine.
    pub members: Vec<usize>,
    /// Index of this position in `members`.
    pub index: usize,
    /// Items that every member has before the round.
    pub before: Range<u64>,
    /// Items of each member after the round: `parts[index]` for this position.
    pub parts: Vec<Range<u64>>,
}

impl SwapStep {
    /// Returns the items that this position keeps.
    pub fn keep(&self) -> Range<u64> {
        self.parts[self.index].clone()
    }
}

impl Swap {
    /// Creates the pattern over `count` positions for `items` items. Binary swap has radix 2.
    ///
    /// `radices` has the group size of each round; its last entry repeats. A radix is reduced if
    /// fewer participants are left, and excess positions are folded into a neighbour.
    ///
    /// # Errors
    /// [`PlanError::Pattern`]: `count` is 0, the list is empty, or a radix is less than 2.
    pub fn new(count: usize, radices: &[usize], items: u64) -> Result<Self, PlanError> {
        let (1.., Some(2..), Some(&last)) = (count, radices.iter().copied().min(), radices.last()) else {
            return Err(PlanError::Pattern { count, radix: radices.iter().copied().min().unwrap_or(0) });
        };
        let (mut groups, mut sizes) = (1, Vec::new());
        while count / groups > 1 {
            let radix = radices.get(sizes.len()).copied().unwrap_or(last).min(count / groups);
            sizes.push(radix);
            groups *= radix;
        }
        // Contiguous runs whose lengths differ by at most one, longer runs first.
        let (size, longer) = (count / groups, count % groups);
        let active = (0..=groups).map(|group| group * size + group.min(longer)).collect();
        Ok(Self { active, radices: sizes, items })
    }

    /// Returns the runs of positions that send all items to the first of the run before the first
    /// round.
    pub fn folds(&self) -> Vec<Range<usize>> {
        self.active.windows(2).map(|run| run[0]..run[1]).filter(|run| run.len() > 1).collect()
    }

    /// Returns the number of rounds after folding.
    pub fn rounds(&self) -> usize {
        self.radices.len()
    }

    /// Returns the positions that are active in the rounds, ascending.
    pub fn active(&self) -> &[usize] {
        &self.active[..self.active.len() - 1]
    }

    /// Returns the work of a position in a round; `None` for a folded position.
    ///
    /// # Panics
    /// The round does not exist.
    pub fn step(&self, round: usize, position: usize) -> Option<SwapStep> {
        let leader = self.active().binary_search(&position).ok()?;
        let (stride, radix) = (self.stride(round), self.radices[round]);
        let index = leader / stride % radix;
        let first = leader - index * stride;
        let members = (0..radix).map(|member| self.active[first + member * stride]).collect();
        let before = self.range(round, leader);
        let parts = (0..radix).map(|index| part(&before, index, radix)).collect();
        Some(SwapStep { members, index, parts, before })
    }

    /// Returns the items whose complete reduction a position has after the last round; empty for a
    /// folded position.
    pub fn result(&self, position: usize) -> Range<u64> {
        self.active().binary_search(&position).map_or(0..0, |leader| self.range(self.rounds(), leader))
    }

    /// Returns the distance, in active positions, between members of a group of this round.
    fn stride(&self, round: usize) -> usize {
        self.radices[..round].iter().product()
    }

    /// Returns the items of an active position before a round.
    fn range(&self, round: usize, leader: usize) -> Range<u64> {
        (0..round).fold(0..self.items, |range, round| {
            let radix = self.radices[round];
            part(&range, leader / self.stride(round) % radix, radix)
        })
    }
}

/// Returns part `index` of `count` parts whose lengths differ by at most one, longer parts first.
fn part(range: &Range<u64>, index: usize, count: usize) -> Range<u64> {
    let (length, index, count) = (range.end - range.start, index as u64, count as u64);
    let start = |index: u64| range.start + length / count * index + index.min(length % count);
    start(index)..start(index + 1)
}
