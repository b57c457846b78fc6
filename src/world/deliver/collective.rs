//! The course of a delivery: announce, make room, agree, move.

use std::rc::Rc;

use super::columns::Column;
use super::departing::{Departing, Destinations};
use super::landing::{Announced, Destined, Landing};
use super::message::MessageForm;
use super::portions::{Counts, Cursor};
use crate::array::{ArrayCore, Cells};
use crate::error::Result;
use crate::plan::Moved;
use crate::trace::Activity;
use crate::transport::{Payload, Tag, copied, values};
use crate::world::{Collective, World};

/// What has come.
pub(crate) struct Landed {
    /// The cells of each column.
    pub cells: Vec<Cells>,
    /// The arrays that hold them, where arrays were asked for.
    pub arrays: Vec<Rc<ArrayCore>>,
    /// How many came from each rank, rising.
    pub counts: Vec<(usize, u64)>,
    pub moved: Moved,
}

/// What a rank waits for while cells move.
enum Event {
    Cells(usize, Payload),
    /// Another rank has taken so many bytes.
    Taken(u64),
}

/// Cells on their way.
struct DeliveryCourse<'a> {
    world: &'a World,
    form: &'a MessageForm,
    cells: Tag,
    taken: Tag,
    landing: Landing,
    /// Whether this rank sends so much that others tell it what they have taken.
    answered: bool,
    /// Bytes of which that has not been told.
    under_way: u64,
    messages: u64,
}

impl World {
    /// Brings the cells of columns to ranks as [`World::deliver`] does, which is this with types: the one way of all that
    /// sends cells by destination. Columns are the same on every rank; `cells` are this rank's, one sequence a column. They
    /// land where this rank wants them.
    #[track_caller]
    pub(crate) fn deliver_columns(
        &self,
        columns: &[Column],
        cells: Result<Vec<Cells>>,
        to: &Destinations,
        landing: Destined,
    ) -> Result<Landed> {
        let types: Vec<_> = columns.iter().map(|column| (column.element.name, column.element.bytes)).collect();
        let names = columns.iter().map(|column| format!("{:?} of {}", column.name, column.element.name));
        let call = Collective::new("deliver").and(names.collect::<Vec<_>>().join(", ")).with(types);
        self.collective(call.clone(), call.signature(), || {
            let form = MessageForm::new(columns.iter().map(|column| column.element.bytes));
            // A rank that has made a mistake announces nothing, and the others hear of it when all agree.
            let departing = cells.and_then(|cells| Departing::new(self, cells, to, &form));
            let announced = self.announce(departing.as_ref().ok())?;
            let ready =
                departing.and_then(|departing| Ok((departing, Landing::new(self, columns, &announced, landing)?)));
            match self.agreed(&call.to_string(), ready)? {
                Err(mistake) => Ok(Err(mistake)),
                Ok((departing, landing)) => {
                    let landed = self.move_cells(&departing, landing, &form);
                    landed.map(Ok).map_err(|error| self.in_operation(error))
                }
            }
        })?
    }

    /// Tells ranks how much comes from this one; what others, and this one itself, have for it.
    fn announce(&self, departing: Option<&Departing>) -> Result<Vec<Announced>> {
        let tell = |departing: &Departing| -> Vec<(usize, Payload)> {
            let answered = u64::from(departing.answered(self));
            departing.counts.iter().map(|&(to, cells)| (to, copied(&[cells, answered]))).collect()
        };
        let told = self.inner().sparse_exchange(departing.map_or(Vec::new(), tell))?;
        let announced = told.iter().map(|(from, told)| match values::<u64>(told)?[..] {
            [cells, answered] => Ok(Announced { from: *from, cells, answered: answered > 0 }),
            _ => Err(self.wrong_message(*from, 16, (**told).as_ref().len() as u64).into()),
        });
        announced.collect()
    }

    fn move_cells(&self, departing: &Departing, landing: Landing, form: &MessageForm) -> Result<Landed> {
        let (cells, taken) = (self.inner().next_sequence(), self.inner().next_sequence());
        let answered = departing.answered(self);
        let mut course =
            DeliveryCourse { world: self, form, cells, taken, landing, answered, under_way: 0, messages: 0 };
        course.move_own_runs(departing)?;
        course.send(departing)?;
        while course.landing.left > 0 || course.under_way > 0 {
            course.wait()?;
        }
        let [bytes_local, bytes_network] = [true, false].map(|own| departing.bytes(self, own));
        let announcements = departing.counts.iter().filter(|(to, _)| *to != self.rank()).count() as u64;
        let moved = Moved { bytes_local, bytes_network, messages: announcements + course.messages, rounds: 2 };
        let counts = course.landing.counts();
        Ok(Landed { cells: course.landing.cells, arrays: course.landing.arrays, counts, moved })
    }
}

impl DeliveryCourse<'_> {
    /// Runs that stay on this rank stay on its device.
    fn move_own_runs(&mut self, departing: &Departing) -> Result<()> {
        let world = self.world;
        for run in departing.own_runs() {
            let room = self.landing.room(world.rank(), run.cells.end - run.cells.start);
            let room = room.expect("announced by this rank itself");
            for (cells, landing) in departing.columns.iter().zip(&self.landing.cells) {
                let (from, to) = (cells.only(run.cells.clone()), landing.only(room.clone()));
                world.tracer().span(Activity::Local, || from.copy_to(&to))?;
            }
        }
        Ok(())
    }

    /// Sends portion by portion, and takes what comes in between.
    fn send(&mut self, departing: &Departing) -> Result<()> {
        let (world, most) = (self.world, self.world.message_sizes().most);
        let (mut cursor, mut counts) = (Cursor::default(), Counts::new(world.size()));
        while let Some(portion) = departing.next(world, &mut cursor, &mut counts)? {
            let mut read = departing.read(world, &portion)?;
            for share in &portion.shares {
                let bytes = self.form.bytes(share.cells.len() as u64);
                // Who waits to send takes what others send: no rank waits in a circle.
                while self.under_way > 0 && self.under_way + bytes > most {
                    self.wait()?;
                }
                let message = departing.message(world, (&portion, share), &mut read, self.form)?;
                if share.to == world.rank() {
                    self.landing.put(world, share.to, (*message).as_ref(), self.form)?;
                    continue;
                }
                self.under_way += if self.answered { bytes } else { 0 };
                self.messages += 1;
                world.inner().send(share.to, self.cells, message)?;
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
        let event = world.tracer().span(Activity::Wait, || world.inner().wait_for(None, || self.next()))?;
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
                self.landing.put(self.world, from, (*message).as_ref(), self.form)?;
                // Its sender may use the memory again when it hears of it.
                drop(message);
                if self.landing.answers(from) {
                    self.world.inner().send(from, self.taken, copied(&[bytes]))?;
                }
            }
        }
        Ok(())
    }
}
