//! Steps of a flow.

use zippy::Result;
use zippy::array::{ChunkRef, LocalSection};
use zippy::error::CallSite;

use super::due_exchange::DueExchange;
use super::flow_kernels::FlowKernels;
use super::populations::PopulationChunk;
use super::running_flow::Flow;

impl Flow<'_> {
    /// Makes `steps` steps. On return, messages to other ranks are complete; kernels may still run.
    /// Collective.
    ///
    /// # Errors
    /// A failure of any rank.
    #[track_caller]
    pub fn run(&mut self, steps: u64) -> Result<()> {
        let _call = CallSite::enter();
        for _ in 0..steps {
            self.step()?;
        }
        Ok(())
    }

    /// Makes one step. Collective.
    ///
    /// # Errors
    /// A failure of any rank.
    #[track_caller]
    pub fn step(&mut self) -> Result<()> {
        let _call = CallSite::enter();
        let words = self.populations.chunks();
        let kinds: Vec<_> = self.kinds.chunks().collect();
        match self.due_exchange() {
            Some(exchange) if self.overlaps_exchange() => {
                let pending = self.world.start(exchange)?;
                self.step_fluid(&words, &kinds, ChunkRef::interior)?;
                pending.wait()?;
                self.step_fluid(&words, &kinds, ChunkRef::boundary)?;
            }
            exchange => {
                if let Some(exchange) = exchange {
                    self.world.exchange(exchange)?;
                }
                self.read_outlet_neighbours()?;
                self.step_fluid(&words, &kinds, ChunkRef::all)?;
            }
        }
        self.step_boundary(&words)?;
        self.steps += 1;
        self.due = DueExchange::ReturnAndFill;
        Ok(())
    }

    /// Steps fluid cells that are not at open sides, in a part of each chunk.
    fn step_fluid(
        &self,
        words: &[PopulationChunk],
        kinds: &[ChunkRef<u8, 3>],
        part: impl Fn(&ChunkRef<u8, 3>) -> LocalSection<u8, 3>,
    ) -> Result<()> {
        for (chunk, lane) in self.lanes.iter().enumerate().filter(|(_, lane)| lane.lane == 0) {
            let mut call = self.call_updating(&self.kernels.step, words, chunk).read("kinds", kinds[chunk].all());
            let other = self.lanes.iter().position(|other| other.lane == 1 && other.word_chunk == lane.word_chunk);
            if let Some(other) = other {
                call = call.read("other_kinds", kinds[other].all());
                call = self.bind_force_field_as("other_force_field", call, other);
            }
            call.over(part(&kinds[chunk])).run()?;
        }
        Ok(())
    }

    /// Steps the cells of the boundary lists. The cells of a list are in the same half of their
    /// words, so no two of them share a word.
    fn step_boundary(&self, words: &[PopulationChunk]) -> Result<()> {
        let FlowKernels { moving_wall, open_side, mirror, .. } = &self.kernels;
        for (chunk, boundary) in self.boundary.chunks.iter().enumerate() {
            // Mirrors are last: they copy populations that the fluid sent in this step.
            let lists = [(moving_wall, &boundary.moving), (open_side, &boundary.open), (mirror, &boundary.mirrors)];
            for (kernel, range) in lists.into_iter().filter(|(_, range)| !range.is_empty()) {
                let cells = self.boundary.cells.at(range.clone());
                let call = self.call_updating(kernel, words, chunk).read("boundary_cells", cells.clone());
                call.over(cells).run()?;
            }
        }
        Ok(())
    }

    /// Copies the flow of the inner neighbours of outlets into the list of boundary cells. Must
    /// precede the step of the neighbours.
    pub(super) fn read_outlet_neighbours(&self) -> Result<()> {
        let words = self.populations.chunks();
        for (chunk, boundary) in self.boundary.chunks.iter().enumerate() {
            if !boundary.outlets.is_empty() {
                let cells = self.boundary.cells.at(boundary.outlets.clone());
                let call = self.call_reading(&self.kernels.outlet_input, &words, chunk);
                self.bind_force_field(call, chunk).update("boundary_cells", cells).run()?;
            }
        }
        Ok(())
    }

    /// True if interior cells are computed during the exchange: not if the host does both, and not
    /// with outlets, which read their neighbours before the step.
    fn overlaps_exchange(&self) -> bool {
        self.totals.outlets == 0 && !self.world.gpu().host_mapped()
    }
}
