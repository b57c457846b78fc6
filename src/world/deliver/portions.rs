//! Long sequences in portions, and the cells of a portion by destination.

use std::borrow::Cow;
use std::ops::Range;

use crate::array::Cells;
use crate::error::{ArrayError, Result};
use crate::world::World;

/// Cells of the sequence that all go to one rank.
pub(super) struct DestinationRun {
    pub to: usize,
    pub cells: Range<u64>,
}

/// Cells that are read together, and where they go.
pub(super) struct Portion {
    /// Their places in the sequence, in rising order.
    pub ranges: Vec<Range<u64>>,
    pub shares: Vec<Share>,
    /// The cells by destination, as places in the portion; empty where they lie like that already.
    pub order: Vec<u32>,
}

/// The cells of a portion that go to one rank.
pub(super) struct Share {
    pub to: usize,
    /// Their places in the order.
    pub cells: Range<usize>,
}

impl Portion {
    /// A portion of cells that lie by destination.
    pub fn of_runs(runs: &[DestinationRun]) -> Self {
        let mut shares: Vec<Share> = Vec::with_capacity(runs.len());
        let mut end = 0;
        for run in runs {
            let start = end;
            end += (run.cells.end - run.cells.start) as usize;
            match shares.last_mut().filter(|last| last.to == run.to) {
                Some(last) => last.cells.end = end,
                None => shares.push(Share { to: run.to, cells: start..end }),
            }
        }
        Self { ranges: runs.iter().map(|run| run.cells.clone()).collect(), shares, order: Vec::new() }
    }

    /// A portion of cells that name their ranks; each rank's keep their order.
    ///
    /// # Errors
    /// A rank that there is not.
    pub fn sorted(world: &World, each: &Cells, cells: Range<u64>, counts: &mut Counts) -> Result<Self> {
        let named = each.pack(world, std::iter::once(cells.clone()))?;
        let ranks = ranks_of((*named).as_ref());
        counts.add(each, cells.start, &ranks)?;
        let found = counts.take();
        let (mut shares, mut end) = (Vec::with_capacity(found.len()), 0);
        for &(to, count) in &found {
            let start = end;
            end += count as usize;
            shares.push(Share { to, cells: start..end });
            // From now on where the next cell for this rank goes.
            counts.of[to] = start as u64;
        }
        let mut order = Vec::new();
        if shares.len() > 1 {
            order.resize(ranks.len(), 0);
            for (place, &to) in ranks.iter().enumerate() {
                let next = &mut counts.of[to as usize];
                order[*next as usize] = place as u32;
                *next += 1;
            }
        }
        for (to, _) in found {
            counts.of[to] = 0;
        }
        Ok(Self { ranges: vec![cells], shares, order })
    }
}

/// How many cells name each rank.
pub(super) struct Counts {
    of: Vec<u64>,
    /// The ranks that some do.
    named: Vec<usize>,
}

impl Counts {
    pub fn new(ranks: usize) -> Self {
        Self { of: vec![0; ranks], named: Vec::new() }
    }

    /// Adds cells of `each` from a place on.
    ///
    /// # Errors
    /// A rank that there is not.
    pub fn add(&mut self, each: &Cells, start: u64, ranks: &[u32]) -> Result<()> {
        for (place, &rank) in ranks.iter().enumerate() {
            let Some(count) = self.of.get_mut(rank as usize) else {
                let (named_by, ranks) = (each.cell(start + place as u64), self.of.len());
                return Err(ArrayError::Destination { named_by, rank: u64::from(rank), ranks }.into());
            };
            if *count == 0 {
                self.named.push(rank as usize);
            }
            *count += 1;
        }
        Ok(())
    }

    /// The ranks that were named, rising, with how often; begins again from zero.
    pub fn take(&mut self) -> Vec<(usize, u64)> {
        self.named.sort_unstable();
        self.named.drain(..).map(|rank| (rank, std::mem::take(&mut self.of[rank]))).collect()
    }
}

/// The ranks that cells name.
pub(super) fn ranks_of(bytes: &[u8]) -> Cow<'_, [u32]> {
    match bytemuck::try_cast_slice(bytes) {
        Ok(ranks) => ranks.into(),
        Err(_) => bytemuck::pod_collect_to_vec(bytes).into(),
    }
}

/// The next cells of runs, at most `most`, from a place in them on.
#[derive(Default)]
pub(super) struct Cursor {
    run: usize,
    /// Cells of that run that have been taken.
    taken: u64,
}

impl Cursor {
    pub fn next(&mut self, runs: &[DestinationRun], most: u64) -> Vec<DestinationRun> {
        let (mut out, mut room) = (Vec::new(), most);
        while let Some(run) = runs.get(self.run).filter(|_| room > 0) {
            let start = run.cells.start + self.taken;
            let count = room.min(run.cells.end - start);
            if count > 0 {
                out.push(DestinationRun { to: run.to, cells: start..start + count });
            }
            (self.taken, room) = (self.taken + count, room - count);
            if start + count == run.cells.end {
                (self.run, self.taken) = (self.run + 1, 0);
            }
        }
        out
    }
}

/// Cells of a portion in an order, as bytes.
pub(super) fn pick(cells: &[u8], order: &[u32], bytes: usize, into: &mut [u8]) {
    fn fixed<const N: usize>(cells: &[u8], order: &[u32], into: &mut [u8]) {
        let (cells, into) = (cells.as_chunks::<N>().0, into.as_chunks_mut::<N>().0);
        for (to, &place) in into.iter_mut().zip(order) {
            *to = cells[place as usize];
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
            for (to, &place) in into.chunks_exact_mut(bytes).zip(order) {
                to.copy_from_slice(&cells[place as usize * bytes..][..bytes]);
            }
        }
    }
}
