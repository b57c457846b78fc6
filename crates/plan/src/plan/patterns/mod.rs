//! Partner patterns over positions (chunk ids, or other ordered participants): merge, all-reduce
//! and swap, for any count and any radix.
//!
//! Each group that combines is a contiguous run of the positions that its members represent, in
//! order. Patterns thus support operators that do not commute, such as `Over` along the depth
//! order.
//!
//! A list of radices has the group size of each round; its last entry repeats. Merging supports any
//! count. Exchange patterns ([`AllReduce`], [`Swap`]) need as many participants as the product of
//! the radices: a radix is reduced if fewer participants are left, and excess positions are first
//! folded into a neighbour.

mod swap;

pub use swap::{Swap, SwapStep};

use crate::error::PlanError;

/// Group of positions that combine in a round, in order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Partners {
    /// Positions, ascending.
    pub members: Vec<usize>,
}

impl Partners {
    /// First member.
    pub fn root(&self) -> usize {
        self.members[0]
    }
}

fn check(count: usize, radices: &[usize]) -> Result<(), PlanError> {
    match (count, radices.iter().copied().min()) {
        (1.., Some(2..)) => Ok(()),
        (_, radix) => Err(PlanError::Pattern { count, radix: radix.unwrap_or(0) }),
    }
}

fn radix(radices: &[usize], round: usize) -> usize {
    radices[round.min(radices.len() - 1)]
}

/// Reduction tree: in each round the members of a group send to its root. Position 0 has the
/// result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merge {
    rounds: Vec<Vec<Partners>>,
}

impl Merge {
    /// Tree over `count` positions.
    ///
    /// # Errors
    /// [`PlanError::Pattern`]: `count` is 0, the list is empty, or a radix is less than 2.
    pub fn new(count: usize, radices: &[usize]) -> Result<Self, PlanError> {
        check(count, radices)?;
        let mut active: Vec<usize> = (0..count).collect();
        let mut rounds = Vec::new();
        while active.len() > 1 {
            let groups = active.chunks(radix(radices, rounds.len()));
            let next = groups.clone().map(|members| members[0]).collect();
            let sending = groups.filter(|members| members.len() > 1);
            rounds.push(sending.map(|members| Partners { members: members.to_vec() }).collect());
            active = next;
        }
        Ok(Self { rounds })
    }

    /// Groups of each round. A position without partners in a round is in no group.
    pub fn rounds(&self) -> &[Vec<Partners>] {
        &self.rounds
    }
}

/// Participants of an exchange: leaders with the positions folded into each, and the radices whose
/// product is the number of leaders.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FoldedExchange {
    /// Leader `j` represents the positions `leaders[j]..leaders[j + 1]`; the last entry is the
    /// count.
    leaders: Vec<usize>,
    radices: Vec<usize>,
}

impl FoldedExchange {
    fn new(count: usize, requested: &[usize]) -> Result<Self, PlanError> {
        check(count, requested)?;
        let (mut active, mut radices) = (1, Vec::new());
        while count / active > 1 {
            let radix = radix(requested, radices.len()).min(count / active);
            radices.push(radix);
            active *= radix;
        }
        // Contiguous runs with lengths that differ by at most one, longer runs first.
        let (size, longer) = (count / active, count % active);
        let leaders = (0..=active).map(|leader| leader * size + leader.min(longer)).collect();
        Ok(Self { leaders, radices })
    }

    fn count(&self) -> usize {
        self.leaders.len() - 1
    }

    /// Distance, in leaders, between members of a group of this round.
    fn stride(&self, round: usize) -> usize {
        self.radices[..round].iter().product()
    }

    /// Index of the leader at this position, or `None` for a folded position.
    fn leader(&self, position: usize) -> Option<usize> {
        self.leaders[..self.count()].binary_search(&position).ok()
    }

    fn group(&self, round: usize, leader: usize) -> (Partners, usize) {
        let stride = self.stride(round);
        let index = leader / stride % self.radices[round];
        let first = leader - index * stride;
        let members = (0..self.radices[round]).map(|member| self.leaders[first + member * stride]).collect();
        (Partners { members }, index)
    }

    fn folds(&self) -> Vec<Partners> {
        let runs = self.leaders.windows(2).filter(|run| run[1] - run[0] > 1);
        runs.map(|run| Partners { members: (run[0]..run[1]).collect() }).collect()
    }
}

/// Butterfly all-reduce: every position gets the combination of all positions.
///
/// First the members of each [`folds`](Self::folds) group send to its root. Then in each round the
/// members of a group exchange their values and combine them in order. Finally the roots send the
/// result to their fold group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllReduce {
    exchange: FoldedExchange,
}

impl AllReduce {
    /// Pattern over `count` positions.
    ///
    /// # Errors
    /// [`PlanError::Pattern`]: `count` is 0, the list is empty, or a radix is less than 2.
    pub fn new(count: usize, radices: &[usize]) -> Result<Self, PlanError> {
        Ok(Self { exchange: FoldedExchange::new(count, radices)? })
    }

    /// Groups whose members fold into the root before the first round, and get the result from the
    /// root after the last round.
    pub fn folds(&self) -> Vec<Partners> {
        self.exchange.folds()
    }

    /// Number of rounds between folding and unfolding.
    pub fn rounds(&self) -> usize {
        self.exchange.radices.len()
    }

    /// All groups of a round.
    ///
    /// # Panics
    /// For a round that does not exist.
    pub fn groups(&self, round: usize) -> Vec<Partners> {
        let groups = (0..self.exchange.count()).map(|leader| self.exchange.group(round, leader));
        groups.filter(|(_, index)| *index == 0).map(|(group, _)| group).collect()
    }
}
