//! Density and velocity as records, for files.

use zippy::error::CallSite;
use zippy::{Element, GlobalArray, Result};

use super::fields::Fields;
use super::lattice_arrays::{create_on_lattice, scalar_layout};
use super::running_flow::Flow;

/// Velocity and density of a cell, as a record for files; zero in cells without fluid.
#[derive(Debug, Clone, Copy, PartialEq, Default, Element)]
#[repr(C)]
pub struct FlowSample {
    /// Velocity, in cells per step.
    pub velocity: [f32; 3],
    /// Density minus 1.
    pub excess: f32,
}

impl Flow<'_> {
    /// Creates an array for [`compute_samples`](Self::compute_samples). Collective. Cost: 16 bytes
    /// per cell.
    ///
    /// # Errors
    /// A name that is taken; no memory.
    #[track_caller]
    pub fn sample_array(&self, name: &str) -> Result<GlobalArray<FlowSample, 3>> {
        let _call = CallSite::enter();
        create_on_lattice(self.world, &self.problem, &self.parts, name, &scalar_layout(&self.problem, &self.parts))
    }

    /// Writes velocity and density of the current state to `samples` on the host, chunk by chunk,
    /// and to `fields`. Collective.
    ///
    /// # Errors
    /// [`FlowError::ForeignArray`](crate::FlowError::ForeignArray); a failure of any rank.
    #[track_caller]
    pub fn compute_samples(&mut self, fields: &Fields, samples: &GlobalArray<FlowSample, 3>) -> Result<()> {
        let _call = CallSite::enter();
        let checked = self.check_array(samples).map_err(Into::into);
        self.world.agree("checking the array of samples", checked)?;
        self.update_fields(fields)?;
        let mut written = Ok(());
        for (excess, velocity, samples) in zippy::zip_chunks((&fields.excess, &fields.velocity, samples))? {
            let write_chunk = || -> Result<()> {
                let (excess, u) = (excess.all().read()?, velocity.all().read()?);
                let count = excess.len();
                let sample =
                    |i: usize| FlowSample { velocity: [0, 1, 2].map(|axis| u[axis * count + i]), excess: excess[i] };
                samples.all().write(&(0..count).map(sample).collect::<Vec<_>>())
            };
            written = written.and_then(|()| write_chunk());
        }
        self.world.agree("writing samples of a flow", written)
    }
}
