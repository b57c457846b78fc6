//! Exchanges of populations.

use zippy::{Exchange, Result};

use super::due_exchange::{DueExchange, slots_across};
use super::running_flow::Flow;

impl Flow<'_> {
    pub(super) fn parity(&self) -> usize {
        (self.steps % 2) as usize
    }

    fn add_ghost_slots(&self, exchange: Exchange, parity: usize) -> Exchange {
        let set = self.problem.set;
        self.populations.add_ghosts(exchange).components(3, move |direction| slots_across(set, parity, direction))
    }

    /// Returns the slots of the initial populations in ghost cells to their owners. Collective.
    pub(super) fn return_initial_populations(&mut self) -> Result<()> {
        self.world.exchange(self.add_ghost_slots(Exchange::new(), self.parity()).reverse())?;
        self.due = DueExchange::FillGhosts;
        Ok(())
    }

    pub(super) fn due_exchange(&self) -> Option<Exchange> {
        let parity = self.parity();
        match self.due {
            DueExchange::None => None,
            DueExchange::FillGhosts => Some(self.add_ghost_slots(Exchange::new(), parity)),
            DueExchange::ReturnAndFill => {
                let returned = self.add_ghost_slots(Exchange::new(), 1 - parity).reverse();
                Some(self.add_ghost_slots(returned, parity))
            }
        }
    }

    /// Performs the due exchange, so that kernels find all populations. Collective.
    pub(super) fn settle(&mut self) -> Result<()> {
        if let Some(exchange) = self.due_exchange() {
            self.world.exchange(exchange)?;
            self.due = DueExchange::None;
        }
        Ok(())
    }
}
