//! Execution of a plan with run-length coded pixels: each rank codes pixels into its outbox, the
//! used parts of the streams are copied into the receivers' inboxes, and blended from there.

use std::cell::RefCell;

use zippy::Result;
use zippy::World;
use zippy::collective::CollectiveWorld;
use zippy::plan::Moved;

use super::canvases::Canvases;
use super::coded_round::{CodedRound, Stream};
use super::host;
use super::kernels::CodingKernels;
use super::mailboxes::Mailboxes;
use super::pixel::Pixel;
use super::plan::{BlendPlan, BlendRule, Round};
use crate::error::RenderError;

/// Executor of plans with coded pixels; its arrays only grow.
pub(super) struct Coder<'w> {
    world: &'w World,
    name: String,
    mailboxes: RefCell<Option<(Mailboxes, [Vec<u64>; 2])>>,
    backend: CodingBackend<'w>,
}

/// Implementation of coding and blending, chosen once per coder.
enum CodingBackend<'w> {
    /// The host, in mapped memory.
    Host,
    Kernels(CodingKernels<'w>),
}

impl<'w> Coder<'w> {
    pub(super) fn new(world: &'w World, name: &str) -> Self {
        let backend = if world.gpu().is_host() {
            CodingBackend::Host
        } else {
            CodingBackend::Kernels(CodingKernels::new(world, name))
        };
        Self { world, name: name.to_string(), mailboxes: RefCell::new(None), backend }
    }

    /// Prepares the rounds of a plan for coding. Equal on all ranks.
    ///
    /// # Errors
    /// Streams may be too long for a buffer.
    pub(super) fn coded_rounds<P: Pixel>(
        &self,
        plan: &BlendPlan,
        on: &Canvases<'_, P>,
    ) -> Result<Vec<CodedRound>, RenderError> {
        let coded = |round| {
            let coded = CodedRound::new::<P>(round, &|canvas, region| on.placed(canvas, region));
            coded.check(self.world.size(), self.world.limits().buffer_bytes).map(|()| coded)
        };
        plan.rounds.iter().map(coded).collect()
    }

    pub(super) fn execute<P: Pixel>(
        &self,
        plan: &BlendPlan,
        coded_rounds: &[CodedRound],
        on: &Canvases<'_, P>,
        opaque: Option<f32>,
    ) -> Result<Moved> {
        let mut moved = Moved::default();
        for (round, coded) in plan.rounds.iter().zip(coded_rounds) {
            moved += self.round(round, coded, on, opaque)?;
        }
        Ok(moved)
    }

    fn round<P: Pixel>(
        &self,
        round: &Round,
        coded: &CodedRound,
        on: &Canvases<'_, P>,
        opaque: Option<f32>,
    ) -> Result<Moved> {
        on.clear(&round.clears)?;
        // The stream of a blend that replaces its destination omits empty pixels.
        for blend in round.blends.iter().filter(|blend| blend.way == BlendRule::Alone) {
            on.clear(&[(blend.to, blend.region)])?;
        }
        let mailboxes = self.mailboxes(coded.sizes(self.world.size()))?;
        let operation = "coding pixels as runs";
        let lengths = self.world.failing(operation, || {
            let code = |(&(from, _), stream): (&(usize, usize), &Stream)| {
                if from == self.world.rank() { self.code(coded, stream, on, &mailboxes) } else { Ok(0) }
            };
            coded.streams.iter().map(code).collect::<Result<Vec<u64>>>()
        })?;
        let streams = || coded.streams.iter().zip(&lengths);
        let apart = streams().filter(|(((from, to), _), _)| from != to);
        let moves = apart.fold(zippy::Exchange::new(), |all, ((&(from, to), stream), &length)| {
            let (outbox, inbox) = mailboxes.ends(from, to, stream);
            all.prefix(outbox, inbox, length)
        });
        let mut moved = self.world.exchange(moves)?;
        let local = streams().filter(|(((from, to), _), _)| from == to);
        moved.bytes_local += local.map(|(_, length)| 4 * length).sum::<u64>();
        self.world.failing("blending runs of pixels", || match &self.backend {
            CodingBackend::Host => host::blend(self.world, coded, on, &mailboxes, opaque),
            CodingBackend::Kernels(kernels) => kernels.blend(coded, on, &mailboxes, opaque),
        })?;
        Ok(moved)
    }

    /// Codes a stream of this rank; returns the stream's length in words.
    fn code<P: Pixel>(
        &self,
        coded: &CodedRound,
        stream: &Stream,
        on: &Canvases<'_, P>,
        mailboxes: &Mailboxes,
    ) -> Result<u64> {
        match &self.backend {
            CodingBackend::Host => host::code(self.world, coded, stream, on, mailboxes),
            CodingBackend::Kernels(kernels) => kernels.code(coded, stream, on, mailboxes),
        }
    }

    /// Returns mailboxes with at least these numbers of words on each rank.
    fn mailboxes(&self, mut sizes: [Vec<u64>; 2]) -> Result<Mailboxes> {
        let mut cached = self.mailboxes.borrow_mut();
        if let Some((mailboxes, have)) = &*cached {
            let enough = |which: usize| sizes[which].iter().zip(&have[which]).all(|(size, have)| size <= have);
            if enough(0) && enough(1) {
                return Ok(mailboxes.clone());
            }
            for (size, have) in sizes.iter_mut().flatten().zip(have.iter().flatten()) {
                *size = (*size).max(*have);
            }
        }
        *cached = None;
        let mailboxes = Mailboxes::new(self.world, &self.name, &sizes)?;
        Ok(cached.insert((mailboxes, sizes)).0.clone())
    }
}
