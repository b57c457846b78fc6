//! What goes between chunks in a step.
//!
//! A cell reads and writes slots of its own and of the neighbours to one side of it, as velocities have it: the first of
//! each pair points there. So ghost cells are slots of other chunks' cells that this chunk's cells will use next, and what
//! they have left in them goes back: of each pair one slot forwards and one backwards, in one exchange.
//!
//! A ghost cell of a face has slots that a cell of another chunk writes as its own ghost cell at an
//! edge. Both return to the owner. Edges come after faces and corners after edges, so the last
//! write is the right one. This order exists for grids of parts, not for covers by boxes.

use zippy::{Exchange, Result};

use super::Flow;
use crate::velocities::VelocitySet;

/// What must move before the populations can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// Nothing.
    Nothing,
    /// Ghost cells are to be filled.
    Filling,
    /// What a step has left in ghost cells goes back, and they are filled for the next one.
    Both,
}

/// The slots that cells use of a neighbour that lies in `direction`, in a step of this parity.
pub fn across(set: VelocitySet, odd: usize, direction: &[i8]) -> Vec<usize> {
    let leads = |q: &usize| {
        let c = set.velocity(*q);
        (0..3).all(|axis| direction[axis] == 0 || i64::from(direction[axis]) == c[axis])
    };
    set.firsts().filter(leads).map(|q| q + odd).collect()
}

impl Flow<'_> {
    /// The parity of the step that comes next.
    pub(super) fn odd(&self) -> usize {
        (self.steps % 2) as usize
    }

    /// What is due, as an exchange.
    pub(super) fn exchange(&self) -> Option<Exchange> {
        let (set, odd) = (self.problem.set, self.odd());
        let there =
            |exchange: Exchange| self.f.ghosts(exchange).components(3, move |direction| across(set, odd, direction));
        let back = |exchange: Exchange| {
            self.f.ghosts(exchange).components(3, move |direction| across(set, 1 - odd, direction)).reverse()
        };
        match self.due {
            Due::Nothing => None,
            Due::Filling => Some(there(Exchange::new())),
            Due::Both => Some(there(back(Exchange::new()))),
        }
    }

    /// Brings the populations to where the next step, or whoever looks at them, finds them. Collective.
    pub(super) fn settle(&mut self) -> Result<()> {
        if let Some(exchange) = self.exchange() {
            self.world.exchange(exchange)?;
            self.due = Due::Nothing;
        }
        Ok(())
    }
}
