//! The fastest cell of a flow, found on the device while the flow goes on.

use zippy::error::CallSite;
use zippy::{Kernel, KernelSource, Layout, LocalArray, Result};

use super::Flow;
use crate::error::FlowError;
use crate::problem::Place;
use crate::shader::fastest::{LOST, PLACE, RUN, runs};

/// Looks that are kept until [`Flow::finish_checks`] reads them.
const KEPT: usize = 32;

/// Squared speed of sound, in cells² a step²: no fluid is faster.
const SOUND: f64 = 1.0 / 3.0;

/// The fastest cell of fluid at a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fastest {
    /// Steps that the flow had made.
    pub step: u64,
    /// The cell, counted from the first one of the box.
    pub place: Place,
    /// Its speed, in cells a step.
    pub speed: f64,
}

/// Stability checks with results that are still on the device.
pub struct Looks {
    runs: Kernel,
    place: Kernel,
    /// Key and index of the fastest cell of each run, chunk by chunk.
    best: Vec<LocalArray<u32, 4>>,
    /// Key and index of the fastest cell, look by look and in each chunk by chunk.
    found: LocalArray<u32, 1>,
    /// Steps at which there was a look.
    steps: Vec<u64>,
}

/// The largest key and the number of its cell in the box, the least one of several.
type Found = [u64; 2];

impl Flow<'_> {
    /// Starts a stability check on the device: kernels find the fastest cell of the current state,
    /// and the method returns without waiting. Cells at open sides do not count. Collective. Cost:
    /// a pass over the populations, and an exchange that the next step does not need to make again.
    ///
    /// [`finish_checks`](Self::finish_checks) reads the results; after 32 looks this method does so
    /// itself.
    ///
    /// # Errors
    /// A failure of this or of another rank; those of [`finish_checks`](Self::finish_checks).
    #[track_caller]
    pub fn start_check(&mut self) -> Result<()> {
        let _call = CallSite::enter();
        if self.looks.as_ref().is_some_and(|looks| looks.steps.len() == KEPT) {
            self.finish_checks()?;
        }
        self.settle()?;
        let looks = match self.looks.take() {
            Some(looks) => looks,
            None => self.world.agree("making room for the fastest cell of a flow", self.new_looks())?,
        };
        let started = self.start_look(&looks);
        let looks = self.looks.insert(looks);
        looks.steps.push(self.steps);
        self.world.agree("looking for the fastest cell of a flow", started)
    }

    /// Takes the results of all looks that were [started](Self::start_check). Waits for the device.
    /// Collective.
    ///
    /// # Errors
    /// [`FlowError::Unstable`] where a look found a cell that is not finite or faster than sound,
    /// with the fastest cell of the last look before it: the same on every rank, and for every
    /// number of ranks. A failure of this or of another rank.
    #[track_caller]
    pub fn finish_checks(&mut self) -> Result<()> {
        let _call = CallSite::enter();
        let Some(looks) = self.looks.as_mut().filter(|looks| !looks.steps.is_empty()) else { return Ok(()) };
        let steps = std::mem::take(&mut looks.steps);
        let read = looks.found.all().read().and_then(|found| {
            looks.found.all().write(&nothing(looks.best.len()))?;
            Ok(found)
        });
        let words = self.world.agree("reading the fastest cell of a flow", read)?;
        let mut found: Vec<Found> = vec![[0, u64::MAX]; steps.len()];
        for (found, words) in found.iter_mut().zip(words.chunks(2 * self.cells.chunks().count().max(1))) {
            for (chunk, words) in self.cells.chunks().zip(words.chunks(2)) {
                let (region, index) = (chunk.region(), i64::from(words[1]));
                let [nx, ny] = [0, 1].map(|axis| region.end[axis] - region.start[axis]);
                let at = [index % nx, index / nx % ny, index / nx / ny];
                let place = self.place(std::array::from_fn(|axis| region.start[axis] + at[axis]));
                if words[0] > 0 {
                    faster(found, &[words[0].into(), number(place, self.problem.extents)]);
                }
            }
        }
        self.world.group().all_reduce(&mut found, faster)?;
        for ([key, at], step) in found.into_iter().zip(steps) {
            let place = if key == 0 { [0; 3] } else { numbered(at, self.problem.extents) };
            let square = f64::from(f32::from_bits(key as u32));
            // A NaN is not slow.
            let is_slow = square < SOUND;
            if key == u64::from(LOST) || !is_slow {
                return Err(self.unstable(step, place).into());
            }
            self.fastest = Some(Fastest { step, place, speed: square.sqrt() });
        }
        Ok(())
    }

    /// The fastest cell of the latest check that was read, [`finish_checks`](Self::finish_checks).
    /// Local.
    pub fn fastest(&self) -> Option<Fastest> {
        self.fastest
    }

    /// The error of a cell that is not finite, or faster than sound.
    pub(super) fn unstable(&self, step: u64, cell: Place) -> FlowError {
        let relaxation_time = self.problem.relaxation_time();
        FlowError::Unstable {
            step,
            cell,
            fastest: self.fastest.filter(|fastest| fastest.step <= step),
            relaxation_time,
        }
    }

    fn new_looks(&self) -> Result<Looks> {
        let runs = self.world.kernel(runs(&self.form))?;
        let place = self.world.kernel(KernelSource::text("place.wgsl", PLACE))?;
        let room = |chunk: zippy::array::ChunkRef<u8, 3>| {
            let [nx, ny, nz] = self.runs_of(&chunk);
            self.world.local_array(&self.problem.array_name("fastest of runs"), &Layout::new([nx, ny, nz, 2]))
        };
        let best = self.cells.chunks().map(room).collect::<Result<Vec<_>>>()?;
        let empty = nothing(best.len());
        let found = self.world.local_array(&self.problem.array_name("fastest"), &Layout::new([empty.len()]))?;
        found.all().write(&empty)?;
        Ok(Looks { runs, place, best, found, steps: Vec::new() })
    }

    /// The number of runs of cells along each axis of a chunk.
    fn runs_of(&self, chunk: &zippy::array::ChunkRef<u8, 3>) -> [i64; 3] {
        let (region, last) = (chunk.region(), self.problem.set.axes() - 1);
        std::array::from_fn(|axis| {
            let cells = region.end[axis] - region.start[axis];
            if axis == last { (cells + RUN - 1) / RUN } else { cells }
        })
    }

    fn start_look(&self, looks: &Looks) -> Result<()> {
        let words = self.f.chunks();
        for (n, (cells, best)) in self.cells.chunks().zip(&looks.best).enumerate() {
            let slot = 2 * (looks.steps.len() * looks.best.len() + n) as u32;
            let domain = self.runs_of(&cells);
            let call = self.reading(&looks.runs, &words, n).read("cells", cells.all());
            let call = self.forced(call, n).write("best", best.all()).update("looks", looks.found.all());
            call.param("slot", slot).over(domain).run()?;
            let call = looks.place.call().read("best", best.all()).update("looks", looks.found.all());
            call.param("slot", slot).over(domain).run()?;
        }
        Ok(())
    }
}

/// Empty results for a number of chunks.
fn nothing(chunks: usize) -> Vec<u32> {
    [0, u32::MAX].repeat(KEPT * chunks.max(1))
}

/// Keeps the larger key, or of the same ones the cell with the lesser number.
fn faster(one: &mut Found, other: &Found) {
    if other[0] > one[0] || other[0] == one[0] && other[1] < one[1] {
        *one = *other;
    }
}

/// The number of a cell of a box.
pub fn number([x, y, z]: Place, [nx, ny, _]: [i64; 3]) -> u64 {
    (x + nx * (y + ny * z)) as u64
}

/// The cell of a box with this number.
pub fn numbered(number: u64, [nx, ny, _]: [i64; 3]) -> Place {
    let number = number as i64;
    [number % nx, number / nx % ny, number / nx / ny]
}
