//! Hand-written compositing of full-size pictures in host vectors: binary swap and direct send,
//! with dense or run-length encoded pixels. Ranks are in depth order: rank 0 is in front and gets
//! the result.

use std::ops::Range;
use std::sync::Arc;

use zippy::Result;
use zippy::transport::{Group, Payload, Tag};

use super::pixel::{Pixel, decode, encode};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Dense,
    /// Runs of pixels that are not empty.
    Runs,
}

/// A rank's picture, its blended result, and reusable messages.
pub(crate) struct HandWrittenCompositor<P> {
    /// Picture of this rank; never changed.
    pub source: Vec<P>,
    /// Blended pixels; the complete result on rank 0.
    pub blended: Vec<P>,
    coding: Coding,
    messages: Vec<Arc<Vec<u32>>>,
    runs: Vec<u32>,
}

struct Message(Arc<Vec<u32>>);

impl AsRef<[u8]> for Message {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

fn words(payload: &Payload) -> &[u32] {
    bytemuck::cast_slice((**payload).as_ref())
}

impl<P: Pixel> HandWrittenCompositor<P> {
    pub(crate) fn new(source: Vec<P>, coding: Coding) -> Self {
        let blended = vec![P::zeroed(); source.len()];
        Self { source, blended, coding, messages: Vec::new(), runs: Vec::new() }
    }

    /// Composites by binary swap. The number of ranks must be a power of two. Collective.
    pub(crate) fn binary_swap(&mut self, group: &Group) -> Result<()> {
        let (rank, pixels) = (group.rank(), self.source.len());
        let mut held = 0..pixels;
        for round in 0..group.size().ilog2() {
            let partner = rank ^ 1 << round;
            let middle = held.start + held.len() / 2;
            let halves = [held.start..middle, middle..held.end];
            let [kept, sent] = if rank < partner { halves } else { [halves[1].clone(), halves[0].clone()] };
            let tag = group.next_sequence();
            let message = self.message(round == 0, sent);
            group.send(partner, tag, message)?;
            let payload = group.receive(partner, tag)?;
            // Partners differ in this round's bit, so that all layers of one are in front of all
            // layers of the other.
            self.blend(round == 0, kept.clone(), words(&payload), partner < rank);
            held = kept;
        }
        if group.size() == 1 {
            self.blended.copy_from_slice(&self.source);
        }
        self.gather(group, held, |rank| {
            (0..group.size().ilog2()).fold(0..pixels, |held, round| {
                let middle = held.start + held.len() / 2;
                if rank >> round & 1 == 0 { held.start..middle } else { middle..held.end }
            })
        })
    }

    /// Composites by direct send: each rank blends one band of rows. Collective.
    pub(crate) fn direct_send(&mut self, group: &Group) -> Result<()> {
        let (rank, size, pixels) = (group.rank(), group.size(), self.source.len());
        let band = |rank: usize| pixels * rank / size..pixels * (rank + 1) / size;
        let tag = group.next_sequence();
        for to in (1..size).map(|distance| (rank + distance) % size) {
            let message = self.message(true, band(to));
            group.send(to, tag, message)?;
        }
        let own = band(rank);
        // Front to back: the first layer is copied, and all others are blended.
        let mut begun = false;
        for from in 0..size {
            if from == rank {
                let (blended, source) = (&mut self.blended[own.clone()], &self.source[own.clone()]);
                if begun {
                    blended.iter_mut().zip(source).for_each(|(front, back)| *front = front.over(*back));
                } else {
                    blended.copy_from_slice(source);
                }
            } else {
                let payload = group.receive(from, tag)?;
                if begun {
                    self.blend(false, own.clone(), words(&payload), false);
                } else {
                    self.put(own.clone(), words(&payload));
                }
            }
            begun = true;
        }
        self.gather(group, own, band)
    }

    fn message(&mut self, from_source: bool, range: Range<usize>) -> Payload {
        let index = self.messages.iter_mut().position(|message| Arc::get_mut(message).is_some()).unwrap_or_else(|| {
            self.messages.push(Arc::default());
            self.messages.len() - 1
        });
        let message = Arc::get_mut(&mut self.messages[index]).expect("the message is not shared");
        let pixels = &if from_source { &self.source } else { &self.blended }[range];
        match self.coding {
            Coding::Dense => {
                message.clear();
                message.extend_from_slice(bytemuck::cast_slice(pixels));
            }
            Coding::Runs => encode(pixels, &mut self.runs, message),
        }
        Box::new(Message(self.messages[index].clone()))
    }

    /// Blends a message with a range of pixels of `source` (in the first round) or of `blended`.
    fn blend(&mut self, from_source: bool, range: Range<usize>, words: &[u32], in_front: bool) {
        let (held, own) = (&mut self.blended[range.clone()], &self.source[range]);
        match self.coding {
            Coding::Dense => {
                let received: &[P] = bytemuck::cast_slice(words);
                match (from_source, in_front) {
                    (true, true) => zip(held, own, received, |held, own, received| *held = received.over(own)),
                    (true, false) => zip(held, own, received, |held, own, received| *held = own.over(received)),
                    (false, true) => {
                        held.iter_mut().zip(received).for_each(|(held, received)| *held = received.over(*held))
                    }
                    (false, false) => {
                        held.iter_mut().zip(received).for_each(|(held, received)| *held = held.over(*received))
                    }
                }
            }
            Coding::Runs => {
                if from_source {
                    held.copy_from_slice(own);
                }
                decode::<P>(words, |at, received| {
                    let held = held[at..at + received.len()].iter_mut().zip(received);
                    if in_front {
                        held.for_each(|(held, received)| *held = received.over(*held));
                    } else {
                        held.for_each(|(held, received)| *held = held.over(*received));
                    }
                });
            }
        }
    }

    fn put(&mut self, range: Range<usize>, words: &[u32]) {
        let held = &mut self.blended[range];
        match self.coding {
            Coding::Dense => held.copy_from_slice(bytemuck::cast_slice(words)),
            Coding::Runs => {
                held.fill(P::zeroed());
                decode::<P>(words, |at, received| held[at..at + received.len()].copy_from_slice(received));
            }
        }
    }

    /// Gathers the ranges of all ranks on rank 0. `range_of` computes the range of a rank.
    fn gather(&mut self, group: &Group, own: Range<usize>, range_of: impl Fn(usize) -> Range<usize>) -> Result<()> {
        let tag: Tag = group.next_sequence();
        if group.rank() > 0 {
            let message = self.message(false, own);
            return group.send(0, tag, message);
        }
        for from in 1..group.size() {
            let payload = group.receive(from, tag)?;
            self.put(range_of(from), words(&payload));
        }
        Ok(())
    }
}

fn zip<P: Pixel>(to: &mut [P], a: &[P], b: &[P], mut each: impl FnMut(&mut P, P, P)) {
    to.iter_mut().zip(a.iter().zip(b)).for_each(|(to, (a, b))| each(to, *a, *b));
}
