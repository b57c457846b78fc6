//! Partner patterns over positions (chunk ids, or any other ordered participants): merge, all-reduce and
//! swap, for any count and any radix.
//!
//! Positions are ordered, and every group that combines is a contiguous run of what its members stand for, listed
//! in order. So patterns serve operators that do not commute, such as `Over` along the depth order.
//!
//! A radix list gives the group size of each round; its last entry repeats. Merging takes any count as it comes.
//! Exchanging patterns ([`AllReduce`], [`Swap`]) need as many participants as the product of the radices:
//! a radix is lowered where fewer are left, and positions in excess are first folded into a neighbour.

mod swap;

pub use swap::{Swap, SwapStep};

use crate::error::PlanError;

/// Positions that work together in a round, in order; the first is the root where there is one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Partners {
    /// The positions, ascending.
    pub members: Vec<usize>,
}

impl Partners {
    /// The first member.
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

/// A reduction tree: in each round the members of a group send to its root, until position 0 has all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merge {
    rounds: Vec<Vec<Partners>>,
}

impl Merge {
    /// The tree over `count` positions.
    ///
    /// # Errors
    /// When there are no positions or a radix is below 2.
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

    /// The groups of each round; a position without partners in a round stands in none.
    pub fn rounds(&self) -> &[Vec<Partners>] {
        &self.rounds
    }
}

/// Participants of an exchange: leaders, each with the positions folded into it, and the radices whose
/// product is the number of leaders.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Core {
    /// Leader `j` stands for the positions `leaders[j]..leaders[j + 1]`; the last entry is the count.
    leaders: Vec<usize>,
    radices: Vec<usize>,
}

impl Core {
    fn new(count: usize, wanted: &[usize]) -> Result<Self, PlanError> {
        check(count, wanted)?;
        let (mut active, mut radices) = (1, Vec::new());
        while count / active > 1 {
            let this = radix(wanted, radices.len()).min(count / active);
            radices.push(this);
            active *= this;
        }
        // Even contiguous runs, the longer ones first.
        let (size, longer) = (count / active, count % active);
        let leaders = (0..=active).map(|leader| leader * size + leader.min(longer)).collect();
        Ok(Self { leaders, radices })
    }

    fn count(&self) -> usize {
        self.leaders.len() - 1
    }

    /// The distance in leaders between the members of a group of this round.
    fn stride(&self, round: usize) -> usize {
        self.radices[..round].iter().product()
    }

    /// Which leader this position is, `None` where it was folded into one.
    fn leader(&self, position: usize) -> Option<usize> {
        self.leaders[..self.count()].binary_search(&position).ok()
    }

    /// The members of the group of leader `leader`, and its place among them.
    fn group(&self, round: usize, leader: usize) -> (Partners, usize) {
        let stride = self.stride(round);
        let place = leader / stride % self.radices[round];
        let first = leader - place * stride;
        let members = (0..self.radices[round]).map(|place| self.leaders[first + place * stride]).collect();
        (Partners { members }, place)
    }

    fn folds(&self) -> Vec<Partners> {
        let runs = self.leaders.windows(2).filter(|run| run[1] - run[0] > 1);
        runs.map(|run| Partners { members: (run[0]..run[1]).collect() }).collect()
    }
}

/// A butterfly: every position ends with the combination of all.
///
/// First the members of each [`folds`](Self::folds) group send to its root; then in each round the members of each
/// group send what they have to each other and combine in order; at last the roots send the result
/// back to the members of their fold group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllReduce {
    core: Core,
}

impl AllReduce {
    /// The pattern over `count` positions.
    ///
    /// # Errors
    /// When there are no positions or a radix is below 2.
    pub fn new(count: usize, radices: &[usize]) -> Result<Self, PlanError> {
        Ok(Self { core: Core::new(count, radices)? })
    }

    /// Groups that are folded into their root before the first round, and unfolded after the last.
    pub fn folds(&self) -> Vec<Partners> {
        self.core.folds()
    }

    /// Number of rounds between folding and unfolding.
    pub fn rounds(&self) -> usize {
        self.core.radices.len()
    }

    /// All groups of a round.
    ///
    /// # Panics
    /// If there is no such round.
    pub fn groups(&self, round: usize) -> Vec<Partners> {
        let groups = (0..self.core.count()).map(|leader| self.core.group(round, leader));
        groups.filter(|(_, place)| *place == 0).map(|(group, _)| group).collect()
    }
}
