//! Calls of kernels with populations.

use zippy::Kernel;
use zippy::kernel::Call;

use super::chunk_lanes::ChunkLane;
use super::populations::PopulationChunk;
use super::running_flow::Flow;
use crate::problem::RelaxationRates;

/// First step at which outlets have stored their flow: stored values are two steps old.
const FIRST_STEP_WITH_STORED_FLOW: u64 = 2;

impl Flow<'_> {
    /// Call of a kernel that reads the populations of a chunk of cells.
    pub(super) fn call_reading<'k>(&self, kernel: &'k Kernel, words: &[PopulationChunk], chunk: usize) -> Call<'k> {
        self.bind_parameters(words[self.lanes[chunk].word_chunk].bind_read(kernel.call()), chunk)
    }

    /// Call of a kernel that reads and writes the populations of a chunk of cells, with the force
    /// on its cells.
    pub(super) fn call_updating<'k>(&self, kernel: &'k Kernel, words: &[PopulationChunk], chunk: usize) -> Call<'k> {
        let call = words[self.lanes[chunk].word_chunk].bind_update(kernel.call());
        self.bind_force_field(self.bind_parameters(call, chunk), chunk)
    }

    pub(super) fn bind_force_field<'k>(&self, call: Call<'k>, chunk: usize) -> Call<'k> {
        self.bind_force_field_as("force_field", call, chunk)
    }

    pub(super) fn bind_force_field_as<'k>(&self, variable: &'static str, call: Call<'k>, chunk: usize) -> Call<'k> {
        match self.force_field.as_ref().and_then(|forces| forces.chunks().nth(chunk)) {
            Some(forces) => call.read(variable, forces.all()),
            None => call,
        }
    }

    fn bind_parameters<'k>(&self, call: Call<'k>, chunk: usize) -> Call<'k> {
        let ChunkLane { lane, first_word, last_word, origin, first_layer, .. } = self.lanes[chunk];
        let RelaxationRates { symmetric, antisymmetric } = self.problem.relaxation_rates();
        let magic = (1.0 / symmetric - 0.5) * (1.0 / antisymmetric - 0.5);
        let constant = self.problem.smagorinsky.unwrap_or(0.0);
        call.param("parity", self.parity() as i32)
            .param("is_starting", i32::from(self.steps < FIRST_STEP_WITH_STORED_FLOW))
            .param("rate_plus", symmetric as f32)
            .param("rate_minus", antisymmetric as f32)
            .param("eddy_factor", (18.0 * 2.0_f64.sqrt() * constant * constant) as f32)
            .param("magic", magic as f32)
            .param("lane", lane)
            .param("first_word", first_word)
            .param("last_word", last_word)
            // Seeds random numbers, which may repeat after 2^32 steps.
            .param("step", self.steps as u32 as i32)
            .param("first_layer", first_layer)
            .param("restoring_factor", self.problem.outlet_restoring_factor() as f32)
            .param("origin", origin)
            .param("force", self.problem.force.map(|x| x as f32))
    }
}
