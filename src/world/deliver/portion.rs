//! [`Portion`]: bounded part of the cells to send, sorted by destination.

use std::borrow::Cow;
use std::ops::Range;

use crate::array::CellSequence;
use crate::error::{ArrayError, Result};
use crate::world::World;

/// Range of consecutive cells with the same destination rank.
pub(super) struct DestinationRun {
    pub to: usize,
    pub cells: Range<u64>,
}

/// Cells that are read together, with their destination ranks.
pub(super) struct Portion {
    /// Ranges of the cells in the sequence, in ascending order.
    pub ranges: Vec<Range<u64>>,
    pub shares: Vec<DestinationShare>,
    /// Index in the portion of each cell, in ascending order of destination. Empty if the cells are
    /// in this order already.
    pub order: Vec<u32>,
}

pub(super) struct DestinationShare {
    pub to: usize,
    /// Range of cells in [`Portion::order`].
    pub cells: Range<usize>,
}

impl Portion {
    /// Creates a portion of cells that are in ascending order of destination.
    pub(super) fn of_runs(runs: &[DestinationRun]) -> Self {
        let mut shares: Vec<DestinationShare> = Vec::with_capacity(runs.len());
        let mut end = 0;
        for run in runs {
            let start = end;
            end += (run.cells.end - run.cells.start) as usize;
            match shares.last_mut().filter(|last| last.to == run.to) {
                Some(last) => last.cells.end = end,
                None => shares.push(DestinationShare { to: run.to, cells: start..end }),
            }
        }
        Self { ranges: runs.iter().map(|run| run.cells.clone()).collect(), shares, order: Vec::new() }
    }

    /// Creates a portion of cells with a rank each, sorted stably by rank.
    ///
    /// # Errors
    /// A rank that does not exist.
    pub(super) fn sorted(
        world: &World,
        each: &CellSequence,
        cells: Range<u64>,
        counts: &mut DestinationCounts,
    ) -> Result<Self> {
        let packed = each.pack(world, std::iter::once(cells.clone()))?;
        let ranks = ranks_of((*packed).as_ref());
        counts.add(each, cells.start, &ranks)?;
        let found = counts.take();
        let (mut shares, mut end) = (Vec::with_capacity(found.len()), 0);
        for &(to, count) in &found {
            let start = end;
            end += count as usize;
            shares.push(DestinationShare { to, cells: start..end });
            // From here on, the entry is the index of the next cell for this rank.
            counts.by_rank[to] = start as u64;
        }
        let mut order = Vec::new();
        if shares.len() > 1 {
            order.resize(ranks.len(), 0);
            for (index, &to) in ranks.iter().enumerate() {
                let next = &mut counts.by_rank[to as usize];
                order[*next as usize] = index as u32;
                *next += 1;
            }
        }
        for (to, _) in found {
            counts.by_rank[to] = 0;
        }
        Ok(Self { ranges: vec![cells], shares, order })
    }
}

pub(super) struct DestinationCounts {
    by_rank: Vec<u64>,
    /// Ranks with a count above zero.
    nonzero: Vec<usize>,
}

impl DestinationCounts {
    pub(super) fn new(ranks: usize) -> Self {
        Self { by_rank: vec![0; ranks], nonzero: Vec::new() }
    }

    /// Counts the destination ranks `ranks` of the cells of `each` from index `start` on.
    ///
    /// # Errors
    /// A rank that does not exist.
    pub(super) fn add(&mut self, each: &CellSequence, start: u64, ranks: &[u32]) -> Result<()> {
        for (index, &rank) in ranks.iter().enumerate() {
            let Some(count) = self.by_rank.get_mut(rank as usize) else {
                let (named_by, ranks) = (each.cell(start + index as u64), self.by_rank.len());
                return Err(ArrayError::Destination { named_by, rank: u64::from(rank), ranks }.into());
            };
            if *count == 0 {
                self.nonzero.push(rank as usize);
            }
            *count += 1;
        }
        Ok(())
    }

    /// Ranks with a count above zero in ascending order, with their counts. Resets all counts.
    pub(super) fn take(&mut self) -> Vec<(usize, u64)> {
        self.nonzero.sort_unstable();
        self.nonzero.drain(..).map(|rank| (rank, std::mem::take(&mut self.by_rank[rank]))).collect()
    }
}

/// Converts packed cells to destination ranks.
pub(super) fn ranks_of(bytes: &[u8]) -> Cow<'_, [u32]> {
    match bytemuck::try_cast_slice(bytes) {
        Ok(ranks) => ranks.into(),
        Err(_) => bytemuck::pod_collect_to_vec(bytes).into(),
    }
}

/// Position in a list of runs, which advances by at most `max_cells` cells per call.
#[derive(Default)]
pub(super) struct RunCursor {
    run: usize,
    /// Number of returned cells of the current run.
    taken: u64,
}

impl RunCursor {
    pub(super) fn next(&mut self, runs: &[DestinationRun], max_cells: u64) -> Vec<DestinationRun> {
        let (mut next_runs, mut room) = (Vec::new(), max_cells);
        while let Some(run) = runs.get(self.run).filter(|_| room > 0) {
            let start = run.cells.start + self.taken;
            let count = room.min(run.cells.end - start);
            if count > 0 {
                next_runs.push(DestinationRun { to: run.to, cells: start..start + count });
            }
            (self.taken, room) = (self.taken + count, room - count);
            if start + count == run.cells.end {
                (self.run, self.taken) = (self.run + 1, 0);
            }
        }
        next_runs
    }
}

/// Gathers the cells of a portion in the given order, as bytes.
pub(super) fn gather(cells: &[u8], order: &[u32], bytes: usize, into: &mut [u8]) {
    fn fixed<const N: usize>(cells: &[u8], order: &[u32], into: &mut [u8]) {
        let (cells, into) = (cells.as_chunks::<N>().0, into.as_chunks_mut::<N>().0);
        for (to, &index) in into.iter_mut().zip(order) {
            *to = cells[index as usize];
        }
    }
    match bytes {
        1 => fixed::<1>(cells, order, into),
        2 => fixed::<2>(cells, order, into),
        4 => fixed::<4>(cells, order, into),
        8 => fixed::<8>(cells, order, into),
        12 => fixed::<12>(cells, order, into),
        16 => fixed::<16>(cells, order, into),
        _ => {
            for (to, &index) in into.chunks_exact_mut(bytes).zip(order) {
                to.copy_from_slice(&cells[index as usize * bytes..][..bytes]);
            }
        }
    }
}
