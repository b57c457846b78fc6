//! The operations between two fences, on the side of the rank that asks.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::rc::Rc;

use super::wire::{Request, Requests, Verb};
use super::{boxes, serve};
use crate::array::{ArrayCore, GlobalSection, LocalSection};
use crate::device::Operator;
use crate::element::{Element, ElementInfo};
use crate::error::{ArrayError, Result};
use crate::plan::Moved;
use crate::plan::one_sided::split;
use crate::region::Region;
use crate::transport::Payload;
use crate::world::{World, copy::extents_differ, hash};

/// The operations queued since the last fence.
#[derive(Debug, Default)]
pub(in crate::world) struct Epoch {
    queue: RefCell<Vec<Queued>>,
    tickets: Cell<u64>,
}

/// One operation as it was called. Data to send was read at the call.
pub(super) struct Queued {
    pub array: Rc<ArrayCore>,
    pub region: Region,
    pub action: Action,
}

impl std::fmt::Debug for Queued {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}[{}, {})", self.array.name(), self.region.start, self.region.end)
    }
}

/// What is done with the bytes that a get brings.
pub(super) type Delivery = Box<dyn FnOnce(Vec<u8>, &mut Fetched) -> Result<()>>;

/// What an operation does.
pub(super) enum Action {
    Get(Delivery),
    Put(Vec<u8>),
    Accumulate(Vec<u8>, Operator),
}

/// Stands for the data of a [`get`](World::get) until the fence has brought it.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the data is had from Fetched::redeem after the fence"]
pub struct Ticket<T> {
    number: u64,
    element: PhantomData<T>,
}

/// What a fence brought.
#[derive(Debug, Default)]
pub struct Fetched {
    data: BTreeMap<u64, Vec<u8>>,
    /// What this rank sent and received data for.
    pub moved: Moved,
}

impl Fetched {
    /// The cells that a get asked for, axis 0 fastest.
    ///
    /// # Errors
    /// The ticket was redeemed already or belongs to another fence.
    pub fn redeem<T: Element>(&mut self, ticket: Ticket<T>) -> Result<Vec<T>> {
        let bytes = self.data.remove(&ticket.number).ok_or(ArrayError::Ticket { ticket: ticket.number })?;
        Ok(bytemuck::pod_collect_to_vec(&bytes))
    }
}

/// What put and accumulate send: host values, axis 0 fastest, or a section on this rank's device.
pub enum PutSource<'a, T, const D: usize> {
    /// Host values.
    Host(&'a [T]),
    /// A section of a local array or of a chunk.
    Device(LocalSection<T, D>),
}

impl<'a, T, const D: usize> From<&'a [T]> for PutSource<'a, T, D> {
    fn from(values: &'a [T]) -> Self {
        Self::Host(values)
    }
}

impl<'a, T, const D: usize> From<&'a Vec<T>> for PutSource<'a, T, D> {
    fn from(values: &'a Vec<T>) -> Self {
        Self::Host(values)
    }
}

impl<'a, T, const N: usize, const D: usize> From<&'a [T; N]> for PutSource<'a, T, D> {
    fn from(values: &'a [T; N]) -> Self {
        Self::Host(values)
    }
}

impl<T, const D: usize> From<LocalSection<T, D>> for PutSource<'_, T, D> {
    fn from(section: LocalSection<T, D>) -> Self {
        Self::Device(section)
    }
}

impl World {
    /// Asks for the cells of a section; the data is there after the next [`fence`](Self::fence). One-sided: any rank, any
    /// section, no other rank need know.
    ///
    /// # Errors
    /// A bad region.
    pub fn get<T: Element, const D: usize>(&self, section: GlobalSection<T, D>) -> Result<Ticket<T>> {
        let number = self.epoch.tickets.get();
        self.epoch.tickets.set(number + 1);
        let keep = move |data: Vec<u8>, fetched: &mut Fetched| {
            fetched.data.insert(number, data);
            Ok(())
        };
        self.queue(&section.core, section.region()?, Action::Get(Box::new(keep)));
        Ok(Ticket { number, element: PhantomData })
    }

    /// Asks for the cells of a section to be written to a section on this rank's device; they are there after the next
    /// fence. One-sided.
    ///
    /// # Errors
    /// A bad region, or extents that differ.
    pub fn get_into<T: Element, const D: usize>(
        &self,
        section: GlobalSection<T, D>,
        destination: LocalSection<T, D>,
    ) -> Result<()> {
        let action = get_action(&section, destination)?;
        self.queue(&section.core, section.region()?, action);
        Ok(())
    }

    /// Replaces the cells of a section at the next fence. The source is read now. One-sided.
    ///
    /// # Errors
    /// A bad region, another number of values than cells, or a device failure.
    pub fn put<'a, T: Element, const D: usize>(
        &self,
        source: impl Into<PutSource<'a, T, D>>,
        section: GlobalSection<T, D>,
    ) -> Result<()> {
        let data = captured(source.into(), &section)?;
        self.queue(&section.core, section.region()?, Action::Put(data));
        Ok(())
    }

    /// Combines values with the cells of a section at the next fence: `cell = operator(value, cell)`. The source is read
    /// now. One-sided.
    ///
    /// # Errors
    /// A bad region, another number of values than cells, an operator that does not exist for the type, or a device
    /// failure.
    pub fn accumulate<'a, T: Element, const D: usize>(
        &self,
        source: impl Into<PutSource<'a, T, D>>,
        section: GlobalSection<T, D>,
        operator: Operator,
    ) -> Result<()> {
        operator.check(&T::INFO)?;
        let data = captured(source.into(), &section)?;
        self.queue(&section.core, section.region()?, Action::Accumulate(data, operator));
        Ok(())
    }

    /// Runs all one-sided operations queued by all ranks since the last fence, in (rank, sequence) order, and brings
    /// what was asked for. Collective.
    ///
    /// Costs what this rank asked for and what it is asked for, and O(log ranks) to know that nobody asks more.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    pub fn fence(&self) -> Result<Fetched> {
        let queued = self.epoch.queue.take();
        self.collective("fence", hash("fence"), || self.run_epoch(queued))
    }

    fn queue(&self, array: &Rc<ArrayCore>, region: Region, action: Action) {
        self.epoch.queue.borrow_mut().push(Queued { array: array.clone(), region, action });
    }

    /// Sends requests to the owners, serves what is asked of this rank, and takes the replies.
    pub(super) fn run_epoch(&self, queued: Vec<Queued>) -> Result<Fetched> {
        let (outgoing, mut wanted) = requests(queued)?;
        let mut fetched = Fetched::default();
        let asked: Vec<usize> = outgoing.keys().copied().filter(|&rank| outgoing[&rank].wants_reply()).collect();
        let mut messages = Vec::new();
        for (&rank, out) in &outgoing {
            let message = out.requests.encode(&out.payload);
            if rank == self.rank() {
                fetched.moved.bytes_local += out.payload.len() as u64;
            } else {
                fetched.moved.bytes_network += out.payload.len() as u64;
                fetched.moved.messages += 1;
            }
            messages.push((rank, message));
        }
        drop(outgoing);
        let incoming = self
            .inner()
            .sparse_exchange(messages.into_iter().map(|(to, message)| (to, Box::new(message) as Payload)).collect())?;
        let reply_tag = self.inner().next_sequence();
        for (to, reply) in serve::serve(self, incoming)? {
            if to != self.rank() {
                fetched.moved.bytes_network += reply.len() as u64;
                fetched.moved.messages += 1;
            }
            self.inner().send(to, reply_tag, Box::new(reply))?;
        }
        for owner in asked {
            let payload = self.inner().receive(owner, reply_tag)?;
            let reply = (*payload).as_ref();
            let mut offset = 0;
            for want in wanted.iter_mut() {
                for part in want.parts.iter().filter(|part| part.owner == owner) {
                    let end = offset + part.bytes;
                    boxes::place(&want.region, &mut want.data, &part.region, want.element.bytes, &reply[offset..end]);
                    offset = end.next_multiple_of(4);
                }
            }
        }
        fetched.moved.rounds = 2;
        for want in wanted {
            (want.then)(want.data, &mut fetched)?;
        }
        Ok(fetched)
    }
}

/// What goes to one owner.
#[derive(Default)]
struct Outgoing {
    requests: Requests,
    payload: Vec<u8>,
}

impl Outgoing {
    fn wants_reply(&self) -> bool {
        self.requests.requests.iter().any(|request| request.verb == Verb::Get)
    }
}

/// A get under way.
struct Wanted {
    region: Region,
    element: &'static ElementInfo,
    parts: Vec<WantedPart>,
    data: Vec<u8>,
    then: Delivery,
}

struct WantedPart {
    owner: usize,
    region: Region,
    bytes: usize,
}

/// Sorts the queue by owner.
fn requests(queued: Vec<Queued>) -> Result<(BTreeMap<usize, Outgoing>, Vec<Wanted>)> {
    let mut outgoing: BTreeMap<usize, Outgoing> = BTreeMap::new();
    let mut wanted = Vec::new();
    for (sequence, Queued { array, region, action }) in queued.into_iter().enumerate() {
        let element = array.element();
        let found = split(array.placement(), &region)?;
        for part in &found {
            let bytes = part.region.cells() as usize * element.bytes;
            let out = outgoing.entry(part.owner.rank).or_default();
            let verb = match &action {
                Action::Get(_) => Verb::Get,
                Action::Put(data) => {
                    boxes::take(&region, data, &part.region, element.bytes, &mut out.payload);
                    Verb::Put
                }
                Action::Accumulate(data, operator) => {
                    boxes::take(&region, data, &part.region, element.bytes, &mut out.payload);
                    Verb::Accumulate(out.requests.operator(operator))
                }
            };
            out.requests.requests.push(Request {
                sequence: sequence as u64,
                array: array.id().0,
                chunk: part.chunk as u64,
                bounds: Request::bounds(&part.region),
                verb,
                bytes: bytes.next_multiple_of(4) as u64,
            });
        }
        if let Action::Get(then) = action {
            let bytes = region.cells() as usize * element.bytes;
            let parts = found
                .iter()
                .map(|part| WantedPart {
                    owner: part.owner.rank,
                    region: part.region,
                    bytes: part.region.cells() as usize * element.bytes,
                })
                .collect();
            wanted.push(Wanted { region, element, parts, data: vec![0; bytes], then });
        }
    }
    Ok((outgoing, wanted))
}

/// The action that writes what a get brings to a section on this rank.
pub(super) fn get_action<T: Element, const D: usize>(
    section: &GlobalSection<T, D>,
    destination: LocalSection<T, D>,
) -> Result<Action> {
    let (from, to) = (section.region()?, destination.one_box("get")?);
    if from.extents() != to.extents() {
        return Err(extents_differ(format!("array \"{}\"", section.core.name()), &from, destination.label(), &to));
    }
    Ok(Action::Get(Box::new(move |data, _| destination.write(&bytemuck::pod_collect_to_vec::<u8, T>(&data)))))
}

/// The values of a source, as bytes.
pub(super) fn captured<T: Element, const D: usize>(
    source: PutSource<'_, T, D>,
    section: &GlobalSection<T, D>,
) -> Result<Vec<u8>> {
    let region = section.region()?;
    match source {
        PutSource::Host(values) if values.len() as u64 == region.cells() => {
            Ok(bytemuck::cast_slice::<T, u8>(values).to_vec())
        }
        PutSource::Host(values) => Err(ArrayError::Length {
            what: "the slice to put".to_string(),
            given: values.len(),
            section: format!("section [{}, {}) of array \"{}\"", region.start, region.end, section.core.name()),
            expected: region.cells(),
        }
        .into()),
        PutSource::Device(from) => {
            let own = from.one_box("put")?;
            if own.extents() != region.extents() {
                let to = format!("array \"{}\"", section.core.name());
                return Err(extents_differ(from.label(), &own, to, &region));
            }
            Ok(bytemuck::cast_slice::<T, u8>(&from.read()?).to_vec())
        }
    }
}
