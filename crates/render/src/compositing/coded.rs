//! A plan carried out with run-length coded pixels: each rank codes what it sends into its outbox, the streams are
//! copied as far as they reach into slots of the receivers' inboxes, and are blended from there.

use std::cell::{OnceCell, RefCell};

use zippy::Result;
use zippy::array::GlobalArray;
use zippy::layout::{Layout, Split};
use zippy::plan::Moved;
use zippy::world::World;

use super::compositor::Canvases;
use super::exchange::{Exchange, Slot};
use super::kernels::Kernels;
use super::plan::{Plan, Round, Way};
use super::{Pixel, host};
use crate::error::RenderError;

/// The streams of one round: what a rank has coded, and what it was sent. One chunk a rank.
#[derive(Clone)]
pub(super) struct Boxes {
    pub outbox: GlobalArray<u32, 1>,
    pub inbox: GlobalArray<u32, 1>,
}

/// Carries out plans. Keeps its arrays, which only grow.
pub(super) struct Coder<'w> {
    world: &'w World,
    name: String,
    boxes: RefCell<Option<(Boxes, [Vec<u64>; 2])>>,
    kernels: OnceCell<Kernels<'w>>,
}

impl<'w> Coder<'w> {
    pub fn new(world: &'w World, name: &str) -> Self {
        Self { world, name: name.to_string(), boxes: RefCell::new(None), kernels: OnceCell::new() }
    }

    /// The exchanges of a plan's rounds. The same on every rank.
    ///
    /// # Errors
    /// Streams may be too long for a buffer.
    pub fn exchanges<P: Pixel>(&self, plan: &Plan, on: &Canvases<P>) -> Result<Vec<Exchange>, RenderError> {
        let exchange = |round| {
            let exchange = Exchange::new::<P>(round, &|canvas, region| on.placed(canvas, region));
            exchange.check(self.world.size(), self.world.buffer_bytes()).map(|()| exchange)
        };
        plan.rounds.iter().map(exchange).collect()
    }

    /// Carries out a plan by its exchanges. Collective.
    pub fn execute<P: Pixel>(
        &self,
        plan: &Plan,
        exchanges: &[Exchange],
        on: &Canvases<P>,
        opaque: f32,
    ) -> Result<Moved> {
        let mut moved = Moved::default();
        for (round, exchange) in plan.rounds.iter().zip(exchanges) {
            moved += self.round(round, exchange, on, opaque)?;
        }
        Ok(moved)
    }

    fn round<P: Pixel>(&self, round: &Round, exchange: &Exchange, on: &Canvases<P>, opaque: f32) -> Result<Moved> {
        on.clear(&round.clears)?;
        // What is alone comes without its empty pixels.
        for blend in round.blends.iter().filter(|blend| blend.way == Way::Alone) {
            on.clear(&[(blend.to, blend.region)])?;
        }
        let boxes = self.boxes(exchange.sizes(self.world.size()))?;
        let operation = "coding pixels as runs";
        let lengths = self.world.failing(operation, || {
            let code = |(&(from, _), slot): (&(usize, usize), &Slot)| match from == self.world.rank() {
                true => self.code(exchange, slot, on, &boxes),
                false => Ok(0),
            };
            exchange.slots.iter().map(code).collect::<Result<Vec<u64>>>()
        })?;
        let slots = || exchange.slots.iter().zip(&lengths);
        let apart = slots().filter(|(((from, to), _), _)| from != to);
        let streams = apart.fold(zippy::Exchange::new(), |all, ((&(from, to), slot), &length)| {
            let outbox = section(&boxes.outbox, from, slot.outbox, slot);
            all.prefix(outbox, section(&boxes.inbox, to, slot.inbox, slot), length)
        });
        let mut moved = self.world.exchange(streams)?;
        let local = slots().filter(|(((from, to), _), _)| from == to);
        moved.bytes_local += local.map(|(_, length)| 4 * length).sum::<u64>();
        self.world.failing("blending runs of pixels", || match self.world.gpu().is_host() {
            true => host::blend(self.world, exchange, on, &boxes, opaque),
            false => self.kernels().blend(exchange, on, &boxes, opaque),
        })?;
        Ok(moved)
    }

    /// Codes a slot of this rank; returns the words.
    fn code<P: Pixel>(&self, exchange: &Exchange, slot: &Slot, on: &Canvases<P>, boxes: &Boxes) -> Result<u64> {
        match self.world.gpu().is_host() {
            true => host::code(self.world, exchange, slot, on, boxes),
            false => self.kernels().code(exchange, slot, on, boxes),
        }
    }

    fn kernels(&self) -> &Kernels<'w> {
        self.kernels.get_or_init(|| Kernels::new(self.world, &self.name))
    }

    /// Boxes with at least so many words on each rank.
    fn boxes(&self, mut sizes: [Vec<u64>; 2]) -> Result<Boxes> {
        let mut kept = self.boxes.borrow_mut();
        if let Some((boxes, have)) = &*kept {
            let enough = |which: usize| sizes[which].iter().zip(&have[which]).all(|(size, have)| size <= have);
            if enough(0) && enough(1) {
                return Ok(boxes.clone());
            }
            for (size, have) in sizes.iter_mut().flatten().zip(have.iter().flatten()) {
                *size = (*size).max(*have);
            }
        }
        *kept = None;
        let array = |suffix: &str, sizes: &[u64]| {
            let sizes: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
            let layout = Layout::new([sizes.iter().sum::<i64>()]).split([Split::Sizes(sizes)]);
            self.world.array::<u32, 1>(&format!("{}.{suffix}", self.name), &layout)
        };
        let boxes = Boxes { outbox: array("outbox", &sizes[0])?, inbox: array("inbox", &sizes[1])? };
        Ok(kept.insert((boxes, sizes)).0.clone())
    }
}

/// A slot in a rank's chunk of an array of streams.
fn section(array: &GlobalArray<u32, 1>, rank: usize, at: u64, slot: &Slot) -> zippy::array::GlobalSection<u32, 1> {
    let start = array.core().chunks().region(rank).start[0] + at as i64;
    array.at(start..start + slot.capacity as i64)
}
