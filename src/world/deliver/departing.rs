//! What a rank sends: which cells go where, found out before anything moves.

use std::collections::BTreeMap;

use super::message::MessageForm;
use super::portions::{Counts, Cursor, DestinationRun, Portion, Share, pick, ranks_of};
use crate::array::{Cells, IntoSequence, Sequence};
use crate::error::{ArrayError, Result};
use crate::trace::Activity;
use crate::transport::Payload;
use crate::world::World;

/// Where elements go.
#[derive(Debug, Clone)]
pub enum Destinations {
    /// The rank of each element.
    Each(Sequence<u32>),
    /// Ranks, each with how many elements go there: the first ones to the first rank, the next ones to the second one, and
    /// so on. In any order of ranks, which may be named again.
    Runs(Vec<(usize, u64)>),
}

/// Destinations of elements as an argument: cells of this rank that hold ranks, or [`Destinations`].
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

/// How it is known where cells go.
enum Route {
    /// They name it.
    Each(Cells),
    /// They lie in runs; those for this rank, and the others.
    Runs { own: Vec<DestinationRun>, others: Vec<DestinationRun> },
}

/// This rank's cells on their way.
pub(super) struct Departing {
    pub columns: Vec<Cells>,
    route: Route,
    /// Ranks, rising, and how many cells go there.
    pub counts: Vec<(usize, u64)>,
    /// Cells of each column.
    length: u64,
    /// Bytes of a cell of all columns.
    width: u64,
    /// The most cells that are read at a time.
    portion: u64,
}

impl Departing {
    /// # Errors
    /// A rank that there is not; columns and destinations of different lengths; a section that cannot be read.
    pub fn new(world: &World, columns: Vec<Cells>, to: &Destinations, form: &MessageForm) -> Result<Self> {
        // Beside a cell its rank and its place are held; four portions are a message's worth.
        let width = form.width();
        let portion = (world.message_sizes().most / 4 / (width + 8)).clamp(1, 1 << 30);
        let (length, route, counts);
        match to {
            Destinations::Each(ranks) => {
                let ranks = ranks.cells()?;
                length = ranks.len();
                same_length(&columns, length, || format!("the list of ranks, {},", ranks.label()))?;
                counts = counted(world, ranks, portion)?;
                route = Route::Each(ranks.clone());
            }
            Destinations::Runs(runs) => {
                length = runs.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count));
                same_length(&columns, length, || format!("the list of {} runs", runs.len()))?;
                (route, counts) = in_runs(world, runs)?;
            }
        }
        Ok(Self { columns, route, counts, length, width, portion })
    }

    /// Bytes for this rank itself, or for all others.
    pub fn bytes(&self, world: &World, own: bool) -> u64 {
        let counts = self.counts.iter().filter(|(to, _)| (*to == world.rank()) == own);
        counts.map(|(_, count)| count.saturating_mul(self.width)).fold(0, u64::saturating_add)
    }

    /// Whether it is so much that this rank must know what others have taken before it sends all.
    pub fn answered(&self, world: &World) -> bool {
        self.bytes(world, false) > world.message_sizes().most
    }

    /// The runs of this rank's cells for itself, where they lie in runs.
    pub fn own_runs(&self) -> &[DestinationRun] {
        match &self.route {
            Route::Each(_) => &[],
            Route::Runs { own, .. } => own,
        }
    }

    /// The next cells that have not been taken; `None` at the end. Runs of this rank's own are left out.
    pub fn next(&self, world: &World, cursor: &mut Cursor, counts: &mut Counts) -> Result<Option<Portion>> {
        match &self.route {
            Route::Each(ranks) => {
                let all = [DestinationRun { to: world.rank(), cells: 0..self.length }];
                let next = cursor.next(&all, self.portion).pop();
                next.map(|run| Portion::sorted(world, ranks, run.cells, counts)).transpose()
            }
            Route::Runs { others, .. } => {
                let next = cursor.next(others, self.portion);
                Ok((!next.is_empty()).then(|| Portion::of_runs(&next)))
            }
        }
    }

    /// The cells of a portion, column by column.
    pub fn read(&self, world: &World, portion: &Portion) -> Result<Vec<Payload>> {
        self.columns.iter().map(|column| column.pack(world, portion.ranges.iter().cloned())).collect()
    }

    /// Those that go to one rank, as a message.
    pub fn message(
        &self,
        world: &World,
        (portion, share): (&Portion, &Share),
        read: &mut Vec<Payload>,
        form: &MessageForm,
    ) -> Result<Payload> {
        // All cells of one column are a message as they are.
        if portion.shares.len() == 1
            && read.len() == 1
            && let Some(all) = read.pop()
        {
            return Ok(all);
        }
        let cells = share.cells.len() as u64;
        let fill = |message: &mut [u8]| {
            for ((column, cells), place) in self.columns.iter().zip(read.iter()).zip(form.columns(cells)) {
                let (size, cells) = (column.element().bytes, (**cells).as_ref());
                match portion.order.get(share.cells.clone()) {
                    Some(order) if !order.is_empty() => pick(cells, order, size, &mut message[place]),
                    _ => message[place].copy_from_slice(&cells[share.cells.start * size..share.cells.end * size]),
                }
            }
        };
        let bytes = form.bytes(cells) as usize;
        Ok(Box::new(world.tracer().span(Activity::Pack, || world.device().payload(bytes, fill))?))
    }
}

/// `Err` unless all columns are so long.
fn same_length(columns: &[Cells], length: u64, what: impl Fn() -> String) -> Result<()> {
    match columns.iter().find(|column| column.len() != length) {
        None => Ok(()),
        Some(column) => {
            let (given, section, expected) = (length as usize, column.label(), column.len());
            Err(ArrayError::Length { what: what(), given, section, expected }.into())
        }
    }
}

/// How many cells name each rank.
fn counted(world: &World, each: &Cells, portion: u64) -> Result<Vec<(usize, u64)>> {
    let mut counts = Counts::new(world.size());
    let mut start = 0;
    while start < each.len() {
        let end = each.len().min(start + portion);
        let named = each.pack(world, std::iter::once(start..end))?;
        counts.add(each, start, &ranks_of((*named).as_ref()))?;
        start = end;
    }
    Ok(counts.take())
}

/// Runs as ranges, and how many cells go to each rank.
fn in_runs(world: &World, runs: &[(usize, u64)]) -> Result<(Route, Vec<(usize, u64)>)> {
    let mut counts = BTreeMap::new();
    let (mut own, mut others, mut start) = (Vec::new(), Vec::new(), 0);
    for (place, &(to, count)) in runs.iter().enumerate() {
        if to >= world.size() {
            let (named_by, ranks) = (format!("run {place} of {}", runs.len()), world.size());
            return Err(ArrayError::Destination { named_by, rank: to as u64, ranks }.into());
        }
        let cells = start..start + count;
        start = cells.end;
        if count > 0 {
            *counts.entry(to).or_insert(0) += count;
            let list = if to == world.rank() { &mut own } else { &mut others };
            list.push(DestinationRun { to, cells });
        }
    }
    Ok((Route::Runs { own, others }, counts.into_iter().collect()))
}
