//! [`OutgoingCells`]: the cells that a rank sends, with their destinations.

use std::collections::BTreeMap;

use super::message_form::MessageForm;
use super::portion::{DestinationCounts, DestinationRun, DestinationShare, Portion, RunCursor, gather, ranks_of};
use crate::array::{CellSequence, IntoSequence, Sequence};
use crate::error::{ArrayError, Result};
use crate::trace::Activity;
use crate::transport::Payload;
use crate::world::World;

/// Destination ranks of elements.
#[derive(Debug, Clone)]
pub enum Destinations {
    /// Destination rank of each element.
    Each(Sequence<u32>),
    /// Pairs of rank and number of elements: the first elements go to the first rank, the next
    /// elements to the second rank, and so on. Ranks may be in any order and occur more than once.
    Runs(Vec<(usize, u64)>),
}

/// Types that a delivery accepts as [`Destinations`]: sequences of `u32` cells with ranks.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say where elements go",
    label = "neither cells of u32 on this rank nor `Destinations`",
    note = "pass a 1-D section of u32 on this rank that holds the rank of each element, or `Destinations::Runs(..)`"
)]
pub trait IntoDestinations: Into<Destinations> {}

impl IntoDestinations for Destinations {}

impl<S: IntoSequence<u32>> IntoDestinations for S {}

impl<S: IntoSequence<u32>> From<S> for Destinations {
    fn from(ranks: S) -> Self {
        Self::Each(ranks.into())
    }
}

/// Destination of each cell.
enum CellDestinations {
    /// Destination rank of each cell.
    Each(CellSequence),
    /// Runs with this rank as destination, and runs with other ranks.
    Runs { local: Vec<DestinationRun>, remote: Vec<DestinationRun> },
}

/// Cells that this rank sends.
pub(super) struct OutgoingCells {
    pub columns: Vec<CellSequence>,
    route: CellDestinations,
    /// Destination ranks in ascending order, with the number of cells for each.
    pub counts: Vec<(usize, u64)>,
    /// Number of cells per column.
    length: u64,
    width: u64,
    /// Maximum number of cells per portion.
    portion_cells: u64,
}

impl OutgoingCells {
    /// Counts the cells for each destination rank.
    ///
    /// # Errors
    /// A rank that does not exist; different lengths of columns and destinations; an unreadable
    /// section.
    pub(super) fn new(
        world: &World,
        columns: Vec<CellSequence>,
        to: &Destinations,
        form: &MessageForm,
    ) -> Result<Self> {
        // A cell also needs 8 bytes for its rank and its index. Four portions make a maximum
        // message.
        let width = form.width();
        let portion_cells = (world.message_sizes().max_bytes / 4 / (width + 8)).clamp(1, 1 << 30);
        let (length, route, counts);
        match to {
            Destinations::Each(ranks) => {
                let ranks = ranks.cells()?;
                length = ranks.len();
                check_length(&columns, length, || format!("the list of ranks, {},", ranks.label()))?;
                counts = count_destinations(world, ranks, portion_cells)?;
                route = CellDestinations::Each(ranks.clone());
            }
            Destinations::Runs(runs) => {
                length = runs.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count));
                check_length(&columns, length, || format!("the list of {} runs", runs.len()))?;
                (route, counts) = split_runs(world, runs)?;
            }
        }
        Ok(Self { columns, route, counts, length, width, portion_cells })
    }

    pub(super) fn local_bytes(&self, world: &World) -> u64 {
        self.bytes(|to| to == world.rank())
    }

    pub(super) fn remote_bytes(&self, world: &World) -> u64 {
        self.bytes(|to| to != world.rank())
    }

    fn bytes(&self, is_included: impl Fn(usize) -> bool) -> u64 {
        let counts = self.counts.iter().filter(|(to, _)| is_included(*to));
        counts.map(|(_, count)| count.saturating_mul(self.width)).fold(0, u64::saturating_add)
    }

    /// True if receivers must acknowledge, because this rank sends more than `ZIPPY_MESSAGE` bytes.
    pub(super) fn needs_acknowledgements(&self, world: &World) -> bool {
        self.remote_bytes(world) > world.message_sizes().max_bytes
    }

    /// Runs with this rank as destination. Empty if the destinations are given per element.
    pub(super) fn local_runs(&self) -> &[DestinationRun] {
        match &self.route {
            CellDestinations::Each(_) => &[],
            CellDestinations::Runs { local, .. } => local,
        }
    }

    /// Returns the next portion, or `None` at the end. Runs with this rank as destination are
    /// excluded.
    pub(super) fn next_portion(
        &self,
        world: &World,
        cursor: &mut RunCursor,
        counts: &mut DestinationCounts,
    ) -> Result<Option<Portion>> {
        match &self.route {
            CellDestinations::Each(ranks) => {
                let all = [DestinationRun { to: world.rank(), cells: 0..self.length }];
                let next = cursor.next(&all, self.portion_cells).pop();
                next.map(|run| Portion::sorted(world, ranks, run.cells, counts)).transpose()
            }
            CellDestinations::Runs { remote, .. } => {
                let next = cursor.next(remote, self.portion_cells);
                Ok((!next.is_empty()).then(|| Portion::of_runs(&next)))
            }
        }
    }

    pub(super) fn read(&self, world: &World, portion: &Portion) -> Result<Vec<Payload>> {
        self.columns.iter().map(|column| column.pack(world, portion.ranges.iter().cloned())).collect()
    }

    pub(super) fn message(
        &self,
        world: &World,
        (portion, share): (&Portion, &DestinationShare),
        read: &mut Vec<Payload>,
        form: &MessageForm,
    ) -> Result<Payload> {
        // A portion of a single column for a single rank is already a message.
        if portion.shares.len() == 1
            && read.len() == 1
            && let Some(all) = read.pop()
        {
            return Ok(all);
        }
        let cells = share.cells.len() as u64;
        let fill = |message: &mut [u8]| {
            for ((column, cells), range) in self.columns.iter().zip(read.iter()).zip(form.columns(cells)) {
                let (size, cells) = (column.element().bytes, (**cells).as_ref());
                match portion.order.get(share.cells.clone()) {
                    Some(order) if !order.is_empty() => gather(cells, order, size, &mut message[range]),
                    _ => message[range].copy_from_slice(&cells[share.cells.start * size..share.cells.end * size]),
                }
            }
        };
        let bytes = form.bytes(cells) as usize;
        Ok(Box::new(world.tracer().span(Activity::Pack, || world.device().payload(bytes, fill))?))
    }
}

fn check_length(columns: &[CellSequence], length: u64, list: impl Fn() -> String) -> Result<()> {
    match columns.iter().find(|column| column.len() != length) {
        None => Ok(()),
        Some(column) => {
            let (given, section, expected) = (length as usize, column.label(), column.len());
            Err(ArrayError::Length { what: list(), given, section, expected }.into())
        }
    }
}

fn count_destinations(world: &World, each: &CellSequence, portion_cells: u64) -> Result<Vec<(usize, u64)>> {
    let mut counts = DestinationCounts::new(world.size());
    let mut start = 0;
    while start < each.len() {
        let end = each.len().min(start + portion_cells);
        let named = each.pack(world, std::iter::once(start..end))?;
        counts.add(each, start, &ranks_of((*named).as_ref()))?;
        start = end;
    }
    Ok(counts.take())
}

/// Converts run lengths to ranges and counts the cells for each rank.
fn split_runs(world: &World, runs: &[(usize, u64)]) -> Result<(CellDestinations, Vec<(usize, u64)>)> {
    let mut counts = BTreeMap::new();
    let (mut local, mut remote, mut start) = (Vec::new(), Vec::new(), 0);
    for (index, &(to, count)) in runs.iter().enumerate() {
        if to >= world.size() {
            let (named_by, ranks) = (format!("run {index} of {}", runs.len()), world.size());
            return Err(ArrayError::Destination { named_by, rank: to as u64, ranks }.into());
        }
        let cells = start..start + count;
        start = cells.end;
        if count > 0 {
            *counts.entry(to).or_insert(0) += count;
            let list = if to == world.rank() { &mut local } else { &mut remote };
            list.push(DestinationRun { to, cells });
        }
    }
    Ok((CellDestinations::Runs { local, remote }, counts.into_iter().collect()))
}
