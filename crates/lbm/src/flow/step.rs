//! Steps.

use zippy::array::{ChunkRef, LocalSection};
use zippy::error::CallSite;
use zippy::kernel::Call;
use zippy::{Exchange, Kernel, Result};

use super::exchange::{Due, across};
use super::populations::{Lane, Words};
use super::{Flow, Kernels};
use crate::cell::Cell;
use crate::problem::Place;
use crate::shader;

impl Flow<'_> {
    /// So many steps. Complete on return is what ghosts of other ranks need; kernels may still run.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    #[track_caller]
    pub fn run(&mut self, steps: u64) -> Result<()> {
        let _call = CallSite::enter();
        for _ in 0..steps {
            self.step()?;
        }
        Ok(())
    }

    /// One step of all cells.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    #[track_caller]
    pub fn step(&mut self) -> Result<()> {
        let _call = CallSite::enter();
        // An outlet looks at populations of its neighbours before these collide.
        let halo = match self.exchange() {
            Some(exchange) if self.overlaps() => Some(self.world.start(exchange)?),
            Some(exchange) => {
                self.world.exchange(exchange)?;
                None
            }
            None => None,
        };
        let words = self.f.chunks();
        let cells: Vec<_> = self.cells.chunks().collect();
        match halo {
            Some(halo) => {
                self.collide(&words, &cells, ChunkRef::interior)?;
                halo.wait()?;
                self.collide(&words, &cells, ChunkRef::boundary)?;
            }
            None => {
                self.look_before_outlets()?;
                self.collide(&words, &cells, ChunkRef::all)?;
            }
        }
        // The cells of a list are in one half of their words, so that no two of them share one.
        for (n, list) in self.lists.chunks.iter().enumerate() {
            let Kernels { moving, open, mirror, .. } = &self.kernels;
            // Mirrors come last: they copy populations that the fluid has sent in this step.
            for (kernel, list) in [(moving, &list.moving), (open, &list.open), (mirror, &list.mirrors)] {
                if !list.is_empty() {
                    let list = self.lists.borders.at(list.clone());
                    let call = words[self.lanes[n].words].update(kernel.call()).read("borders", list.clone());
                    self.forced(self.parameters(call, n), n).over(list).run()?;
                }
            }
        }
        self.steps += 1;
        self.due = Due::Both;
        Ok(())
    }

    /// A step of all cells with fluid and nothing else, over this part of each chunk.
    fn collide(
        &self,
        words: &[Words],
        cells: &[ChunkRef<u8, 3>],
        part: impl Fn(&ChunkRef<u8, 3>) -> LocalSection<u8, 3>,
    ) -> Result<()> {
        for (n, lane) in self.lanes.iter().enumerate().filter(|(_, lane)| lane.lane == 0) {
            let mut call = words[lane.words].update(self.kernels.step.call()).read("cells", cells[n].all());
            let other = self.lanes.iter().position(|other| other.lane == 1 && other.words == lane.words);
            if let Some(other) = other {
                call = call.read("others", cells[other].all());
                if let Some(forces) = self.forces.as_ref().and_then(|forces| forces.chunks().nth(other)) {
                    call = call.read("more_forces", forces.all());
                }
            }
            self.forced(self.parameters(call, n), n).over(part(&cells[n])).run()?;
        }
        Ok(())
    }

    /// What outlets take over, from cells that have not made their step.
    pub(super) fn look_before_outlets(&self) -> Result<()> {
        let words = self.f.chunks();
        for (n, list) in self.lists.chunks.iter().enumerate().filter(|(_, list)| !list.outlets.is_empty()) {
            let list = self.lists.borders.at(list.outlets.clone());
            self.forced(self.reading(&self.kernels.outlets, &words, n), n).update("borders", list).run()?;
        }
        Ok(())
    }

    /// Whether cells that need no ghosts are computed while these are on their way: not where the host moves cells and
    /// computes, too, and not with outlets.
    fn overlaps(&self) -> bool {
        !self.any_outlets && !self.world.gpu().host_mapped()
    }

    /// A kernel that reads the populations of a chunk of the lattice.
    pub(super) fn reading<'k>(&self, kernel: &'k Kernel, words: &[Words], chunk: usize) -> Call<'k> {
        self.parameters(words[self.lanes[chunk].words].read(kernel.call()), chunk)
    }

    /// Gives a kernel the forces on a chunk's cells, where they differ.
    pub(super) fn forced<'k>(&self, call: Call<'k>, chunk: usize) -> Call<'k> {
        match self.forces.as_ref().and_then(|forces| forces.chunks().nth(chunk)) {
            Some(forces) => call.read("forces", forces.all()),
            None => call,
        }
    }

    /// What all kernels of populations are told.
    fn parameters<'k>(&self, call: Call<'k>, chunk: usize) -> Call<'k> {
        let Lane { lane, ends: [first, last], origin, layer, .. } = self.lanes[chunk];
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
            .param("lane", lane)
            .param("first", first)
            .param("last", last)
            // Chance differs from step to step; that it begins anew after four thousand million does not matter.
            .param("step", self.steps as u32 as i32)
            .param("layer", layer)
            .param("restore", self.problem.restoring_speed() as f32)
            .param("origin", origin)
            .param("force", self.problem.force.map(|x| x as f32))
    }

    /// Populations of the beginning.
    pub(super) fn begin(&mut self) -> Result<()> {
        let start: Kernel = self.world.kernel(shader::start(&self.form))?;
        let excess = self.scalar("excess")?;
        let velocity = self.vector("velocity")?;
        let problem = self.problem.clone();
        let layers = [0, 1, 2].map(|axis| problem.layer(axis));
        let cell = |at: [i64; 3]| -> (Place, Cell) {
            let place: Place = std::array::from_fn(|axis| at[axis] - layers[axis]);
            (place, problem.cell(place))
        };
        self.world.agree(
            "the beginning of a flow",
            excess.fill_with(|at| match cell(at) {
                (place, cell) if cell.flows() => ((problem.density)(place) - 1.0) as f32,
                _ => 0.0,
            }),
        )?;
        // A stream along a wall that moves with it is in equilibrium with the populations from the
        // wall.
        velocity.fill_with(|[x, y, z, axis]| match cell([x, y, z]) {
            (place, cell) if cell.flows() => (problem.velocity)(place)[axis as usize] as f32,
            (_, Cell::Moving(velocity)) => velocity[axis as usize] as f32,
            _ => 0.0,
        })?;
        let words = self.f.chunks();
        for (n, (excess, velocity)) in excess.chunks().zip(velocity.chunks()).enumerate() {
            let call = words[self.lanes[n].words].update(start.call());
            let call = call.read("excess", excess.all()).read("velocity", velocity.all()).over(excess.all());
            self.forced(self.parameters(call, n), n).run()?;
        }
        // Half of what was written belongs to cells of others.
        let (set, odd) = (self.problem.set, self.odd());
        let back = self.f.ghosts(Exchange::new()).components(3, move |direction| across(set, odd, direction));
        self.world.exchange(back.reverse())?;
        self.due = Due::Filling;
        Ok(())
    }
}
