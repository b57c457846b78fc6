//! The mass of a flow.

use zippy::Result;
use zippy::error::CallSite;

use super::running_flow::Flow;

impl Flow<'_> {
    /// Computes the mass: the sum of the density minus 1 of all fluid cells, including populations
    /// in solid cells. In a closed box it is constant, except for the rounding of collisions and of
    /// 16-bit populations. Collective.
    ///
    /// # Errors
    /// A failure of any rank.
    #[track_caller]
    pub fn mass(&mut self) -> Result<f64> {
        let _call = CallSite::enter();
        self.settle()?;
        let (words, values) = (self.populations.chunks(), self.create_scalar("mass")?);
        for (chunk, (kinds, values)) in self.kinds.chunks().zip(values.chunks()).enumerate() {
            // Neighbours beyond a periodic end are in the lattice.
            let (region, lattice) = (kinds.region(), self.problem.lattice_extents());
            let is_periodic = |axis: usize| self.problem.is_periodic(axis);
            let start = [0, 1, 2].map(|axis| if is_periodic(axis) { 1 } else { region.start[axis] as i32 });
            let bounds = [0, 1, 2].map(|axis| if is_periodic(axis) { i32::MAX } else { lattice[axis] as i32 });
            let call = self.call_reading(&self.kernels.mass, &words, chunk).read("kinds", kinds.all());
            call.param("start", start).param("bounds", bounds).write("values", values.all()).run()?;
        }
        self.read_outlet_neighbours()?;
        for (chunk, (boundary, values)) in self.boundary.chunks.iter().zip(values.chunks()).enumerate() {
            if !boundary.open.is_empty() {
                let cells = self.boundary.cells.at(boundary.open.clone());
                let call = self.call_reading(&self.kernels.open_mass, &words, chunk);
                let call = call.read("boundary_cells", cells.clone()).update("values", values.all());
                self.bind_force_field(call, chunk).over(cells).run()?;
            }
        }
        self.world.sum(values.at(..))
    }
}
