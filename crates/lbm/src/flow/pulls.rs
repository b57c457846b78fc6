//! What the fluid does to bodies.

use zippy::error::CallSite;
use zippy::{Layout, LocalArray, Result};

use super::Flow;
use super::lists::ListOfBody;

/// Force and torque of the fluid on a body, in units of the lattice, by the momentum that populations exchange with it
/// (Ladd 1994) in the last step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pull {
    /// The force.
    pub force: [f64; 3],
    /// The torque about the body's centre.
    pub torque: [f64; 3],
}

impl Flow<'_> {
    /// Force and torque on each body, in the order in which the problem has them. Summed without rounding, so that they are
    /// the same for every number of ranks.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    #[track_caller]
    pub fn pulls(&mut self) -> Result<Vec<Pull>> {
        let _call = CallSite::enter();
        self.settle()?;
        let mut pulls = Vec::new();
        for body in &self.lists.bodies {
            let parts = self.pulls_of(body);
            let parts = self.world.agree("forces on a body", parts)?;
            let mut six = [0.0; 6];
            for (k, sum) in six.iter_mut().enumerate() {
                *sum = self.world.sum(parts.at((.., k as i64)))?;
            }
            let [x, y, z, a, b, c] = six;
            pulls.push(Pull { force: [x, y, z], torque: [a, b, c] });
        }
        Ok(pulls)
    }

    /// Six numbers for each cell of a body on this rank.
    fn pulls_of(&self, body: &ListOfBody) -> Result<LocalArray<f32, 2>> {
        let length = body.chunks.last().map_or(0, |part| part.end);
        let parts = self.world.local_array(&self.problem.array_name("pulls"), &Layout::new([length.max(1), 6]))?;
        let f = self.f.chunks();
        for (n, part) in body.chunks.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
            let list = body.borders.at(part.clone());
            let call = self.reading(&self.kernels.pulls, &f, n).read("borders", list.clone());
            call.write("pulls", parts.at((part.clone(), ..))).over(list).run()?;
        }
        Ok(parts)
    }
}
