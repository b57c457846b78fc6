//! The course of a delivery: announce, make room, agree, move.

use std::rc::Rc;

use super::incoming::Incoming;
use super::outgoing::{Destinations, Outgoing};
use super::sequence::{Cells, Column};
use super::slices::{Counts, Cursor};
use super::wire::Wire;
use crate::array::ArrayCore;
use crate::device::BoxOf;
use crate::error::Result;
use crate::plan::Moved;
use crate::trace::Span;
use crate::transport::{Payload, Tag, copied, values};
use crate::world::{Collective, World};

/// What has come: an array for each column, and how many cells came from each rank, rising.
pub(crate) struct Arrived {
    pub arrays: Vec<Rc<ArrayCore>>,
    pub counts: Vec<(usize, u64)>,
    pub moved: Moved,
}

/// What a rank waits for while cells move.
enum Event {
    Cells(usize, Payload),
    /// So many bytes have been taken.
    Taken(u64),
}

/// Cells on their way.
struct Course<'a> {
    world: &'a World,
    wire: &'a Wire,
    cells: Tag,
    taken: Tag,
    outgoing: Outgoing,
    incoming: Incoming,
    /// Whether this rank sends so much that it waits until others have taken it.
    answered: bool,
    /// Bytes sent and not yet taken, where that is answered.
    under_way: u64,
    messages: u64,
}

impl World {
    /// Brings the cells of columns to ranks, as [`World::deliver`] does: the core of all that sends cells by destination.
    pub(crate) fn deliver_columns(
        &self,
        columns: &[Column],
        cells: Result<Vec<Cells>>,
        to: &Destinations,
    ) -> Result<Arrived> {
        let types: Vec<_> = columns.iter().map(|column| (column.element.name, column.element.bytes)).collect();
        let names: Vec<_> =
            columns.iter().map(|column| format!("{:?} of {}", column.name, column.element.name)).collect();
        let call = Collective::new("deliver").and(names.join(", ")).with(types);
        self.collective(call.clone(), call.signature(), || {
            let wire = Wire::new(columns.iter().map(|column| column.element.bytes));
            // Mistakes that this rank alone can see stay its secret until all agree.
            let outgoing = cells.and_then(|cells| Outgoing::new(self, cells, to, &wire));
            let counts = self.announced(outgoing.as_ref().ok(), &wire)?;
            let ready = outgoing.and_then(|outgoing| Ok((outgoing, Incoming::new(self, columns, &counts)?)));
            let ready = self.agreed(&call.to_string(), ready)?;
            ready.map_or_else(
                |mistake| Ok(Err(mistake)),
                |(outgoing, incoming)| {
                    self.move_cells(outgoing, incoming, &wire).map_err(|error| self.in_operation(error)).map(Ok)
                },
            )
        })?
    }

    /// Tells ranks how much comes from this one, and returns how much comes from others and itself, and whether they wait
    /// for answers.
    fn announced(&self, outgoing: Option<&Outgoing>, wire: &Wire) -> Result<Vec<(usize, u64, bool)>> {
        let Some(outgoing) = outgoing else {
            self.inner().sparse_exchange(Vec::new())?;
            return Ok(Vec::new());
        };
        let answered = u64::from(outgoing.bytes(self, wire) > self.message_sizes().most);
        let tell = |&(to, count): &(usize, u64)| (to, copied(&[count, answered]));
        let told = self.inner().sparse_exchange(outgoing.counts.iter().map(tell).collect())?;
        let announced = told.iter().map(|(from, told)| match values::<u64>(told)?[..] {
            [count, answered] => Ok((*from, count, answered > 0)),
            _ => Err(self.wrong_message(*from, 16, (**told).as_ref().len() as u64).into()),
        });
        announced.collect()
    }

    fn move_cells(&self, outgoing: Outgoing, incoming: Incoming, wire: &Wire) -> Result<Arrived> {
        let (cells, taken) = (self.inner().next_sequence(), self.inner().next_sequence());
        let sent = outgoing.bytes(self, wire);
        let announcements = outgoing.counts.iter().filter(|(to, _)| *to != self.rank()).count() as u64;
        let own = incoming.sources().iter().filter(|source| source.rank == self.rank());
        let moved = Moved {
            bytes_local: own.map(|source| source.count * wire.width()).sum(),
            bytes_network: sent,
            messages: announcements,
            rounds: 2,
        };
        let answered = sent > self.message_sizes().most;
        let mut course =
            Course { world: self, wire, cells, taken, outgoing, incoming, answered, under_way: 0, messages: 0 };
        course.move_own_runs()?;
        course.send()?;
        while course.incoming.left > 0 || course.under_way > 0 {
            course.wait()?;
        }
        let Course { incoming, messages, .. } = course;
        let counts = incoming.sources().iter().map(|source| (source.rank, source.count)).collect();
        Ok(Arrived { arrays: incoming.arrays, counts, moved: Moved { messages: moved.messages + messages, ..moved } })
    }
}

impl Course<'_> {
    /// Runs that stay on this rank stay on its device.
    fn move_own_runs(&mut self) -> Result<()> {
        let (world, rank) = (self.world, self.world.rank());
        for run in self.outgoing.own_runs() {
            let count = run.cells.end - run.cells.start;
            let room = self.incoming.room(rank, count).expect("announced by this rank itself");
            for (column, cells) in self.outgoing.columns().iter().enumerate() {
                let Some(buffer) = self.incoming.column(column) else { continue };
                let mut next = room.offset;
                let pairs: Vec<_> = cells
                    .boxes(run.cells.clone())
                    .map(|(from, view)| {
                        let to = crate::device::Strided::dense(next, view.extents);
                        next += view.cells();
                        (BoxOf { buffer: from, view }, BoxOf { buffer, view: to })
                    })
                    .collect();
                let bytes = cells.element().bytes;
                world.tracer().span(Span::Local, || world.device().copy_boxes(bytes, &pairs))?;
            }
        }
        Ok(())
    }

    /// Sends slice by slice, and takes what comes in between.
    fn send(&mut self) -> Result<()> {
        let (world, mut cursor, mut counts) = (self.world, Cursor::default(), Counts::new(self.world.size()));
        while let Some(slice) = self.outgoing.next(world, &mut cursor, &mut counts)? {
            let mut read = self.outgoing.read(world, &slice)?;
            for group in &slice.groups {
                let bytes = self.wire.bytes(group.cells.len() as u64);
                while self.under_way > 0 && self.under_way + bytes > world.message_sizes().most {
                    self.wait()?;
                }
                let message = self.outgoing.message(world, (&slice, group), &mut read, self.wire)?;
                if group.to == world.rank() {
                    self.incoming.place(world, group.to, (*message).as_ref(), self.wire)?;
                    continue;
                }
                self.under_way += if self.answered { bytes } else { 0 };
                self.messages += 1;
                world.inner().send(group.to, self.cells, message)?;
            }
            while let Some(event) = self.next()? {
                self.meet(event)?;
            }
        }
        Ok(())
    }

    /// Waits for something to come.
    fn wait(&mut self) -> Result<()> {
        let world = self.world;
        let event = world.tracer().span(Span::Wait, || world.inner().wait_for(None, || self.next()))?;
        self.meet(event)
    }

    fn next(&self) -> Result<Option<Event>> {
        let group = self.world.inner();
        if let Some((from, taken)) = group.try_receive(None, self.taken)? {
            return match values::<u64>(&taken)?[..] {
                [bytes] => Ok(Some(Event::Taken(bytes))),
                _ => Err(self.world.wrong_message(from, 8, (*taken).as_ref().len() as u64).into()),
            };
        }
        Ok(group.try_receive(None, self.cells)?.map(|(from, message)| Event::Cells(from, message)))
    }

    fn meet(&mut self, event: Event) -> Result<()> {
        match event {
            Event::Taken(bytes) => self.under_way = self.under_way.saturating_sub(bytes),
            Event::Cells(from, message) => {
                let bytes = (*message).as_ref().len() as u64;
                self.incoming.place(self.world, from, (*message).as_ref(), self.wire)?;
                drop(message);
                if self.incoming.answers(from) {
                    self.world.inner().send(from, self.taken, copied(&[bytes]))?;
                }
            }
        }
        Ok(())
    }
}
