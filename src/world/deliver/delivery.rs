//! Steps of a delivery: announce counts, allocate memory, agree, move.

use super::column::Column;
use super::incoming_cells::{Announcement, DeliveredCells, DeliveryTarget, IncomingCells};
use super::message_form::MessageForm;
use super::outgoing_cells::{Destinations, OutgoingCells};
use super::portion::{DestinationCounts, RunCursor};
use crate::array::CellSequence;
use crate::error::Result;
use crate::plan::Moved;
use crate::trace::Activity;
use crate::transport::{Payload, Tag, copied, values};
use crate::world::{Collective, CollectiveWorld, World};

/// Message that a rank receives while cells move between ranks.
enum DeliveryMessage {
    Cells(usize, Payload),
    /// Number of bytes that another rank has received from this one.
    Acknowledged(u64),
}

struct Delivery<'a> {
    world: &'a World,
    form: &'a MessageForm,
    cell_tag: Tag,
    acknowledgement_tag: Tag,
    incoming: IncomingCells,
    /// True if this rank sends more than `ZIPPY_MESSAGE` bytes, so that receivers acknowledge.
    is_acknowledged: bool,
    /// Number of sent bytes without an acknowledgement.
    unacknowledged: u64,
    messages: u64,
}

impl World {
    /// Runs the collective of [`deliver_columns`](CollectiveWorld::deliver_columns).
    pub(in crate::world) fn run_delivery(
        &self,
        columns: &[Column<'_>],
        cells: Result<Vec<CellSequence>>,
        to: &Destinations,
        target: DeliveryTarget<'_>,
    ) -> Result<DeliveredCells> {
        let types: Vec<_> = columns.iter().map(|column| (column.element.name, column.element.bytes)).collect();
        let names = columns.iter().map(|column| format!("{:?} of {}", column.name, column.element.name));
        let call = Collective::new("deliver").text_after(names.collect::<Vec<_>>().join(", ")).also_compare(types);
        self.collective(call.clone(), call.signature(), || {
            let form = MessageForm::new(columns.iter().map(|column| column.element.bytes));
            // A rank with an error announces nothing. The other ranks learn about the error in
            // `agree_within`.
            let outgoing = cells.and_then(|cells| OutgoingCells::new(self, cells, to, &form));
            let announced = self.announce(outgoing.as_ref().ok())?;
            let ready =
                outgoing.and_then(|outgoing| Ok((outgoing, IncomingCells::new(self, columns, &announced, target)?)));
            match self.agree_within(&call.to_string(), ready)? {
                Err(mistake) => Ok(Err(mistake)),
                Ok((outgoing, incoming)) => {
                    let delivered = self.move_cells(&outgoing, incoming, &form);
                    delivered.map(Ok).map_err(|error| self.in_operation(error))
                }
            }
        })?
    }

    /// Sends the number of cells to each destination rank, and returns the announcements that this
    /// rank receives.
    fn announce(&self, outgoing: Option<&OutgoingCells>) -> Result<Vec<Announcement>> {
        let messages = |outgoing: &OutgoingCells| -> Vec<(usize, Payload)> {
            let is_acknowledged = u64::from(outgoing.needs_acknowledgements(self));
            outgoing.counts.iter().map(|&(to, cells)| (to, copied(&[cells, is_acknowledged]))).collect()
        };
        let received = self.inner_group().sparse_exchange(outgoing.map_or(Vec::new(), messages))?;
        let announced = received.iter().map(|(from, message)| match values::<u64>(message)?[..] {
            [cells, is_acknowledged] => Ok(Announcement { from: *from, cells, is_acknowledged: is_acknowledged > 0 }),
            _ => Err(self.wrong_message(*from, 16, (**message).as_ref().len() as u64).into()),
        });
        announced.collect()
    }

    fn move_cells(
        &self,
        outgoing: &OutgoingCells,
        incoming: IncomingCells,
        form: &MessageForm,
    ) -> Result<DeliveredCells> {
        let mut delivery = Delivery {
            world: self,
            form,
            cell_tag: self.inner_group().next_sequence(),
            acknowledgement_tag: self.inner_group().next_sequence(),
            incoming,
            is_acknowledged: outgoing.needs_acknowledgements(self),
            unacknowledged: 0,
            messages: 0,
        };
        delivery.move_local_runs(outgoing)?;
        delivery.send(outgoing)?;
        while delivery.incoming.missing > 0 || delivery.unacknowledged > 0 {
            delivery.wait()?;
        }
        let (bytes_local, bytes_network) = (outgoing.local_bytes(self), outgoing.remote_bytes(self));
        let announcements = outgoing.counts.iter().filter(|(to, _)| *to != self.rank()).count() as u64;
        let moved = Moved { bytes_local, bytes_network, messages: announcements + delivery.messages, rounds: 2 };
        let counts = delivery.incoming.counts();
        Ok(DeliveredCells { cells: delivery.incoming.cells, arrays: delivery.incoming.arrays, counts, moved })
    }
}

impl Delivery<'_> {
    /// Moves the runs whose destination is this rank within its device.
    fn move_local_runs(&mut self, outgoing: &OutgoingCells) -> Result<()> {
        let world = self.world;
        for run in outgoing.local_runs() {
            let room = self.incoming.reserve(world.rank(), run.cells.end - run.cells.start);
            let room = room.expect("announced by this rank itself");
            for (source, destination) in outgoing.columns.iter().zip(&self.incoming.cells) {
                let (from, to) = (source.only(run.cells.clone()), destination.only(room.clone()));
                world.tracer().span(Activity::Local, || from.copy_to(&to))?;
            }
        }
        Ok(())
    }

    /// Sends the cells in portions and receives messages between portions.
    fn send(&mut self, outgoing: &OutgoingCells) -> Result<()> {
        let (world, max_bytes) = (self.world, self.world.message_sizes().max_bytes);
        let (mut cursor, mut counts) = (RunCursor::default(), DestinationCounts::new(world.size()));
        while let Some(portion) = outgoing.next_portion(world, &mut cursor, &mut counts)? {
            let mut read = outgoing.read(world, &portion)?;
            for share in &portion.shares {
                let bytes = self.form.bytes(share.cells.len() as u64);
                // A rank that waits to send also receives, so that no cycle of waiting ranks
                // arises.
                while self.unacknowledged > 0 && self.unacknowledged + bytes > max_bytes {
                    self.wait()?;
                }
                let message = outgoing.message(world, (&portion, share), &mut read, self.form)?;
                if share.to == world.rank() {
                    self.incoming.write(world, share.to, (*message).as_ref(), self.form)?;
                    continue;
                }
                self.unacknowledged += if self.is_acknowledged { bytes } else { 0 };
                self.messages += 1;
                world.inner_group().send(share.to, self.cell_tag, message)?;
            }
            while let Some(event) = self.next()? {
                self.process(event)?;
            }
        }
        Ok(())
    }

    fn wait(&mut self) -> Result<()> {
        let world = self.world;
        let event = world.tracer().span(Activity::Wait, || world.inner_group().wait_for(None, || self.next()))?;
        self.process(event)
    }

    fn next(&self) -> Result<Option<DeliveryMessage>> {
        let group = self.world.inner_group();
        if let Some((from, acknowledgement)) = group.try_receive(None, self.acknowledgement_tag)? {
            return match values::<u64>(&acknowledgement)?[..] {
                [bytes] => Ok(Some(DeliveryMessage::Acknowledged(bytes))),
                _ => Err(self.world.wrong_message(from, 8, (*acknowledgement).as_ref().len() as u64).into()),
            };
        }
        Ok(group.try_receive(None, self.cell_tag)?.map(|(from, message)| DeliveryMessage::Cells(from, message)))
    }

    fn process(&mut self, event: DeliveryMessage) -> Result<()> {
        match event {
            DeliveryMessage::Acknowledged(bytes) => self.unacknowledged = self.unacknowledged.saturating_sub(bytes),
            DeliveryMessage::Cells(from, message) => {
                let bytes = (*message).as_ref().len() as u64;
                self.incoming.write(self.world, from, (*message).as_ref(), self.form)?;
                // The sender may reuse the memory after the acknowledgement.
                drop(message);
                if self.incoming.is_acknowledged(from) {
                    self.world.inner_group().send(from, self.acknowledgement_tag, copied(&[bytes]))?;
                }
            }
        }
        Ok(())
    }
}
