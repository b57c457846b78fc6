//! Stability checks: by the fastest cell, on the device, and by the fields of all cells.

use zippy::array::ChunkRef;
use zippy::error::CallSite;
use zippy::{Layout, Result};

use super::cell_number::{cell_number, cell_with_number};
use super::fastest_cell::FastestCell;
use super::fields::Fields;
use super::pending_checks::{MAX_PENDING_CHECKS, PendingChecks, RESULT_WORDS, empty_results};
use super::running_flow::Flow;
use crate::cell_index::CellIndex;
use crate::error::FlowError;
use crate::shader::{RUN_CELLS, UNSTABLE_KEY, run_fastest_kernel, run_index_kernel};

const SOUND_SQUARE: f64 = 1.0 / 3.0;

/// Key and number of a cell. The fastest cell has the largest key and, of equal keys, the least
/// number.
type RankedCell = [u64; 2];

const NO_CELL: RankedCell = [0, u64::MAX];

fn keep_faster(best: &mut RankedCell, other: &RankedCell) {
    let ([best_key, best_number], [key, number]) = (*best, *other);
    if key > best_key || key == best_key && number < best_number {
        *best = *other;
    }
}

impl Flow<'_> {
    /// Starts a stability check on the device: kernels find the fastest cell of the current state.
    /// Returns without waiting. Cells at open sides do not count. Collective. Cost: a pass over the
    /// populations, and an exchange that the next step then omits.
    ///
    /// [`finish_checks`](Self::finish_checks) reads the results, at the latest after 32 checks.
    ///
    /// # Errors
    /// A failure of any rank; the errors of [`finish_checks`](Self::finish_checks).
    #[track_caller]
    pub fn start_check(&mut self) -> Result<()> {
        let _call = CallSite::enter();
        if self.pending_checks.as_ref().is_some_and(|checks| checks.steps.len() == MAX_PENDING_CHECKS) {
            self.finish_checks()?;
        }
        self.settle()?;
        let checks = match self.pending_checks.take() {
            Some(checks) => checks,
            None => self.world.agree("allocating stability checks", self.create_checks())?,
        };
        let started = self.find_fastest(&checks);
        self.pending_checks.insert(checks).steps.push(self.steps);
        self.world.agree("starting a stability check", started)
    }

    /// Reads the results of all pending checks; waits for the device. Collective.
    ///
    /// # Errors
    /// [`FlowError::Unstable`] for a cell that is not finite or faster than sound, with the fastest
    /// cell of the check before, the same on every rank and for every number of ranks. A failure of
    /// any rank.
    #[track_caller]
    pub fn finish_checks(&mut self) -> Result<()> {
        let _call = CallSite::enter();
        let Some(checks) = self.pending_checks.as_mut().filter(|checks| !checks.steps.is_empty()) else {
            return Ok(());
        };
        let steps = std::mem::take(&mut checks.steps);
        let read = checks.fastest.all().read().and_then(|words| {
            checks.fastest.all().write(&empty_results(checks.run_fastest.len()))?;
            Ok(words)
        });
        let words = self.world.agree("reading stability checks", read)?;
        let words_per_check = RESULT_WORDS * self.kinds.chunks().count().max(1);
        let mut found: Vec<RankedCell> =
            words.chunks(words_per_check).take(steps.len()).map(|words| self.fastest_on_rank(words)).collect();
        self.world.group().all_reduce(&mut found, keep_faster)?;
        for ([key, number], step) in found.into_iter().zip(steps) {
            let cell = if key == 0 { [0; 3] } else { cell_with_number(number, self.problem.extents) };
            let square = f64::from(f32::from_bits(key as u32));
            let is_subsonic = square < SOUND_SQUARE;
            if key == u64::from(UNSTABLE_KEY) || !is_subsonic {
                return Err(self.unstable_error(step, cell).into());
            }
            self.fastest = Some(FastestCell { step, cell, speed: square.sqrt() });
        }
        Ok(())
    }

    /// The fastest cell of the latest check that [`finish_checks`](Self::finish_checks) has read.
    /// Local.
    pub fn fastest_cell(&self) -> Option<FastestCell> {
        self.fastest
    }

    /// Checks that the density of each cell is finite and near 1, and that no speed is above that
    /// of sound, from the fields of all cells; [`start_check`](Self::start_check) is faster.
    /// Collective.
    ///
    /// # Errors
    /// [`FlowError::Unstable`] with the first such cell, the same on every rank and for every
    /// number of ranks; [`FlowError::ForeignArray`]; a failure of any rank.
    #[track_caller]
    pub fn check_stability(&mut self, fields: &Fields) -> Result<()> {
        let _call = CallSite::enter();
        let checked = self.check_fields(fields).map_err(Into::into);
        self.world.agree("checking arrays of density and velocity", checked)?;
        let found = self.first_unstable_cell(fields);
        let mut first = [self.world.agree("checking the stability of a flow", found)?];
        self.world.group().all_reduce(&mut first, |first, other| *first = (*first).min(*other))?;
        match first[0] {
            u64::MAX => Ok(()),
            number => Err(self.unstable_error(self.steps, cell_with_number(number, self.problem.extents)).into()),
        }
    }

    /// Least number of this rank's unstable cells; `u64::MAX` if there are none.
    fn first_unstable_cell(&self, fields: &Fields) -> Result<u64> {
        let mut first = u64::MAX;
        for (excess, velocity) in zippy::zip_chunks((&fields.excess, &fields.velocity))? {
            let (values, u) = (excess.all().read()?, velocity.all().read()?);
            let count = values.len();
            for (i, at) in excess.region().points().enumerate() {
                let square: f32 = (0..3).map(|axis| u[axis * count + i].powi(2)).sum();
                // Comparisons with NaN are false.
                if !(values[i].abs() < 1.0 && square < SOUND_SQUARE as f32) {
                    let cell = self.problem.box_cell([at[0], at[1], at[2]]);
                    first = first.min(cell_number(cell, self.problem.extents));
                }
            }
        }
        Ok(first)
    }

    fn unstable_error(&self, step: u64, cell: CellIndex) -> FlowError {
        FlowError::Unstable {
            step,
            cell,
            fastest: self.fastest.filter(|fastest| fastest.step <= step),
            relaxation_time: self.problem.relaxation_time(),
        }
    }

    fn create_checks(&self) -> Result<PendingChecks> {
        let create_runs = |chunk: ChunkRef<u8, 3>| {
            let [nx, ny, nz] = self.run_extents(&chunk);
            let name = self.problem.array_name("fastest of runs");
            self.world.local_array(&name, &Layout::new([nx, ny, nz, RESULT_WORDS as i64]))
        };
        let run_fastest = self.kinds.chunks().map(create_runs).collect::<Result<Vec<_>>>()?;
        let empty = empty_results(run_fastest.len());
        let fastest = self.world.local_array(&self.problem.array_name("fastest"), &Layout::new([empty.len()]))?;
        fastest.all().write(&empty)?;
        Ok(PendingChecks {
            run_fastest_kernel: self.world.kernel(run_fastest_kernel(&self.form)?)?,
            run_index_kernel: self.world.kernel(run_index_kernel()?)?,
            run_fastest,
            fastest,
            steps: Vec::new(),
        })
    }

    /// Number of runs of cells along each axis of a chunk.
    fn run_extents(&self, chunk: &ChunkRef<u8, 3>) -> [i64; 3] {
        let (region, last_axis) = (chunk.region(), self.problem.set.axes() - 1);
        std::array::from_fn(|axis| {
            let cells = region.end[axis] - region.start[axis];
            if axis == last_axis { (cells + RUN_CELLS - 1) / RUN_CELLS } else { cells }
        })
    }

    fn find_fastest(&self, checks: &PendingChecks) -> Result<()> {
        let words = self.populations.chunks();
        for (chunk, (kinds, run_fastest)) in self.kinds.chunks().zip(&checks.run_fastest).enumerate() {
            let slot = (RESULT_WORDS * (checks.steps.len() * checks.run_fastest.len() + chunk)) as u32;
            let domain = self.run_extents(&kinds);
            let call = self.call_reading(&checks.run_fastest_kernel, &words, chunk).read("kinds", kinds.all());
            let call = self.bind_force_field(call, chunk).write("run_fastest", run_fastest.all());
            call.update("fastest", checks.fastest.all()).param("slot", slot).over(domain).run()?;
            let call = checks.run_index_kernel.call().read("run_fastest", run_fastest.all());
            call.update("fastest", checks.fastest.all()).param("slot", slot).over(domain).run()?;
        }
        Ok(())
    }

    fn fastest_on_rank(&self, words: &[u32]) -> RankedCell {
        let mut best = NO_CELL;
        for (chunk, result) in self.kinds.chunks().zip(words.chunks(RESULT_WORDS)) {
            let (key, index, region) = (result[0], i64::from(result[1]), chunk.region());
            if key > 0 {
                let [nx, ny] = [0, 1].map(|axis| region.end[axis] - region.start[axis]);
                let in_chunk = [index % nx, index / nx % ny, index / nx / ny];
                let cell = self.problem.box_cell(std::array::from_fn(|axis| region.start[axis] + in_chunk[axis]));
                keep_faster(&mut best, &[key.into(), cell_number(cell, self.problem.extents)]);
            }
        }
        best
    }
}
