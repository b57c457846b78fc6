//! Steps.

use zippy::kernel::Call;
use zippy::{Exchange, Kernel, Result};

use super::Flow;
use super::exchange::{Due, across};
use crate::shader;

impl Flow<'_> {
    /// So many steps. Complete on return is what ghosts of other ranks need; kernels may still run.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    pub fn run(&mut self, steps: u64) -> Result<()> {
        for _ in 0..steps {
            self.step()?;
        }
        Ok(())
    }

    /// One step of all cells.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    pub fn step(&mut self) -> Result<()> {
        // An outlet looks at populations of its neighbours before these collide.
        let halo = match self.exchange() {
            Some(exchange) if self.overlaps() => Some(self.world.start(exchange)?),
            Some(exchange) => {
                self.world.exchange(exchange)?;
                None
            }
            None => None,
        };
        let chunks: Vec<_> = self.f.chunks().zip(self.cells.chunks()).collect();
        let step = |f: &zippy::array::ChunkRef<f32, 4>, cells, over| {
            let call = self.kernels.step.call().update("f", f.all()).read("cells", cells).over(over);
            self.parameters(call).run()
        };
        match halo {
            Some(halo) => {
                for (f, cells) in &chunks {
                    step(f, cells.all(), cells.interior())?;
                }
                halo.wait()?;
                for (f, cells) in &chunks {
                    step(f, cells.all(), cells.boundary())?;
                }
            }
            None => {
                self.look_before_outlets()?;
                for (f, cells) in &chunks {
                    step(f, cells.all(), cells.all())?;
                }
            }
        }
        for ((f, _), list) in chunks.iter().zip(&self.lists.chunks) {
            if !list.active.is_empty() {
                let list = self.lists.borders.at(list.active.clone());
                let call = self.kernels.borders.call().update("f", f.all()).read("borders", list.clone()).over(list);
                self.parameters(call).run()?;
            }
        }
        self.steps += 1;
        self.due = Due::Both;
        Ok(())
    }

    /// What outlets take over, from cells that have not made their step.
    pub(super) fn look_before_outlets(&self) -> Result<()> {
        for (f, list) in self.f.chunks().zip(&self.lists.chunks).filter(|(_, list)| !list.outlets.is_empty()) {
            let list = self.lists.borders.at(list.outlets.clone());
            self.parameters(self.kernels.outlets.call().read("f", f.all()).update("borders", list)).run()?;
        }
        Ok(())
    }

    /// Whether cells that need no ghosts are computed while these are on their way: not where the host moves cells and
    /// computes, too, and not with outlets.
    fn overlaps(&self) -> bool {
        !self.any_outlets && !self.world.gpu().host_mapped()
    }

    /// What all kernels of populations are told.
    pub(super) fn parameters<'k>(&self, call: Call<'k>) -> Call<'k> {
        let [plus, minus] = self.problem.rates();
        let magic = (1.0 / plus - 0.5) * (1.0 / minus - 0.5);
        let constant = self.problem.smagorinsky.unwrap_or(0.0);
        // What outlets remember is two steps old.
        call.param("odd", self.odd() as i32)
            .param("fresh", i32::from(self.steps < 2))
            .param("plus", plus as f32)
            .param("minus", minus as f32)
            .param("eddies", (18.0 * 2.0_f64.sqrt() * constant * constant) as f32)
            .param("magic", magic as f32)
            .param("force", self.problem.force.map(|x| x as f32))
    }

    /// Populations of the beginning.
    pub(super) fn begin(&mut self) -> Result<()> {
        let start: Kernel = self.world.kernel(shader::start(self.problem.set))?;
        let excess = self.scalar("excess")?;
        let velocity = self.vector("velocity")?;
        let problem = self.problem.clone();
        let layers = [0, 1, 2].map(|axis| problem.layer(axis));
        // Beyond a side as at the nearest cell, where functions are known; walls hold what is at rest.
        let cell = |at: [i64; 3]| -> ([i64; 3], bool) {
            let place: [i64; 3] = std::array::from_fn(|axis| at[axis] - layers[axis]);
            (place, problem.cell(place).flows())
        };
        self.world.agree(
            "the beginning of a flow",
            excess.fill_with(|at| match cell(at) {
                (place, true) => ((problem.density)(place) - 1.0) as f32,
                _ => 0.0,
            }),
        )?;
        velocity.fill_with(|[x, y, z, axis]| match cell([x, y, z]) {
            (place, true) => (problem.velocity)(place)[axis as usize] as f32,
            _ => 0.0,
        })?;
        for ((f, excess), velocity) in self.f.chunks().zip(excess.chunks()).zip(velocity.chunks()) {
            let call = start.call().write("f", f.all()).read("excess", excess.all()).read("velocity", velocity.all());
            self.parameters(call.over(excess.all())).run()?;
        }
        // Half of what was written belongs to cells of others.
        let (set, odd) = (self.problem.set, self.odd());
        let back = Exchange::new().ghosts(&self.f).components(3, move |direction| across(set, odd, direction));
        self.world.exchange(back.reverse())?;
        self.due = Due::Filling;
        Ok(())
    }
}
