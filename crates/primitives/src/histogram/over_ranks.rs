//! Histograms of small integers in distributed vectors.

use zippy::collective::CollectiveWorld;
use zippy::element::Element;
use zippy::error::{ArrayError, CallSite, Result};

use super::count_into;
use crate::scan::largest;
use crate::vectors::{IntoVector, Vectors, local_cells};

impl Vectors<'_> {
    /// Returns the number of cells that are equal to 0, 1, …, `bins` − 1, on every rank.
    /// Collective; one all-reduce of all bins. For bins of floating-point numbers, see
    /// [`World::histogram`](zippy::World::histogram).
    ///
    /// # Errors
    /// A number without a bin (the same error on all ranks), an invalid section, a failure of any
    /// rank.
    #[track_caller]
    pub fn histogram(&self, numbers: impl IntoVector<u32>, bins: usize) -> Result<Vec<u64>> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("histogram");
        let (world, numbers) = (self.world(), numbers.into());
        let label = numbers.label()?;
        let most = world.limits().buffer_bytes / 4;
        if bins as u64 > most {
            return Err(ArrayError::Other(format!("{bins} bins are too many; there can be {most}")).into());
        }
        self.collective("histogram", vec![numbers.named()?], bins, || {
            let local_numbers = local_cells(&numbers)?;
            let mut most = [largest(world, &local_numbers)?.map_or(0, |most| u64::from(most) + 1)];
            world.inner_group().all_reduce(&mut most, |most, other| *most = (*most).max(*other))?;
            if most[0] > bins as u64 {
                return Ok(Err(ArrayError::Other(format!(
                    "{label} contains {}, but there are {bins} bins",
                    most[0] - 1
                ))));
            }
            let counts = world.scratch_cells("counts", &u32::INFO, bins as u64)?;
            count_into(world, &local_numbers, &counts)?;
            let mut found = vec![0_u32; bins];
            counts.read(0..bins as u64, bytemuck::cast_slice_mut(&mut found))?;
            let mut all: Vec<u64> = found.into_iter().map(u64::from).collect();
            world.inner_group().all_reduce(&mut all, |sum, more| *sum += more)?;
            Ok(Ok(all))
        })?
        .map_err(Into::into)
    }
}
