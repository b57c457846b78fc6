//! Compositing of full-size pictures in plain vectors, written by hand: binary swap and direct send, dense or with runs of
//! pixels that are not empty. Ranks stand in depth order, rank 0 in front; rank 0 gets the picture.

use std::ops::Range;
use std::sync::Arc;

use zippy::Result;
use zippy::transport::{Group, Payload, Tag};

use super::pixel::{Pixel, decode, encode};

/// How pixels travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    Dense,
    Runs,
}

/// One rank's picture, what is blended from it, and messages that are used again.
pub struct ByHand<P> {
    /// This rank's own picture; it is only read.
    pub source: Vec<P>,
    /// Where this rank blends; on rank 0 the whole picture in the end.
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

impl<P: Pixel> ByHand<P> {
    pub fn new(source: Vec<P>, coding: Coding) -> Self {
        let blended = vec![P::zeroed(); source.len()];
        Self { source, blended, coding, messages: Vec::new(), runs: Vec::new() }
    }

    /// In each round two ranks exchange halves of what both hold. The number of ranks is a power of two.
    pub fn binary_swap(&mut self, group: &Group) -> Result<()> {
        let (rank, pixels) = (group.rank(), self.source.len());
        let mut held = 0..pixels;
        for round in 0..group.size().ilog2() {
            let partner = rank ^ 1 << round;
            let middle = held.start + held.len() / 2;
            let halves = [held.start..middle, middle..held.end];
            let [keep, give] = if rank < partner { halves } else { [halves[1].clone(), halves[0].clone()] };
            let tag = group.next_sequence();
            let message = self.message(round == 0, give);
            group.send(partner, tag, message)?;
            let payload = group.receive(partner, tag)?;
            // Partners differ in this round's bit: all that one stands for is in front of all of the other.
            self.blend(round == 0, keep.clone(), words(&payload), partner < rank);
            held = keep;
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

    /// Every rank blends a band of rows of the picture, from what all send to it.
    pub fn direct_send(&mut self, group: &Group) -> Result<()> {
        let (rank, size, pixels) = (group.rank(), group.size(), self.source.len());
        let band = |rank: usize| pixels * rank / size..pixels * (rank + 1) / size;
        let tag = group.next_sequence();
        for to in (1..size).map(|distance| (rank + distance) % size) {
            let message = self.message(true, band(to));
            group.send(to, tag, message)?;
        }
        let own = band(rank);
        // Front to back; the band starts as this rank's own where nothing is in front of it.
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

    /// A message with a part of the own picture or of what is blended.
    fn message(&mut self, of_source: bool, part: Range<usize>) -> Payload {
        let index = self.messages.iter_mut().position(|one| Arc::get_mut(one).is_some()).unwrap_or_else(|| {
            self.messages.push(Arc::default());
            self.messages.len() - 1
        });
        let message = Arc::get_mut(&mut self.messages[index]).expect("nobody else has it");
        let pixels = &if of_source { &self.source } else { &self.blended }[part];
        match self.coding {
            Coding::Dense => {
                message.clear();
                message.extend_from_slice(bytemuck::cast_slice(pixels));
            }
            Coding::Runs => encode(pixels, &mut self.runs, message),
        }
        Box::new(Message(self.messages[index].clone()))
    }

    /// Blends a message with a part of what is held, which is in the own picture or already blended.
    fn blend(&mut self, of_source: bool, part: Range<usize>, words: &[u32], in_front: bool) {
        let (held, own) = (&mut self.blended[part.clone()], &self.source[part]);
        match self.coding {
            Coding::Dense => {
                let came: &[P] = bytemuck::cast_slice(words);
                match (of_source, in_front) {
                    (true, true) => zip(held, own, came, |held, own, came| *held = came.over(own)),
                    (true, false) => zip(held, own, came, |held, own, came| *held = own.over(came)),
                    (false, true) => held.iter_mut().zip(came).for_each(|(held, came)| *held = came.over(*held)),
                    (false, false) => held.iter_mut().zip(came).for_each(|(held, came)| *held = held.over(*came)),
                }
            }
            Coding::Runs => {
                if of_source {
                    held.copy_from_slice(own);
                }
                decode::<P>(words, |at, came| {
                    let held = held[at..at + came.len()].iter_mut().zip(came);
                    match in_front {
                        true => held.for_each(|(held, came)| *held = came.over(*held)),
                        false => held.for_each(|(held, came)| *held = held.over(*came)),
                    }
                });
            }
        }
    }

    /// Replaces a part of what is held by a message.
    fn put(&mut self, part: Range<usize>, words: &[u32]) {
        let held = &mut self.blended[part];
        match self.coding {
            Coding::Dense => held.copy_from_slice(bytemuck::cast_slice(words)),
            Coding::Runs => {
                held.fill(P::zeroed());
                decode::<P>(words, |at, came| held[at..at + came.len()].copy_from_slice(came));
            }
        }
    }

    /// Rank 0 gets the parts that the others hold.
    fn gather(&mut self, group: &Group, own: Range<usize>, part: impl Fn(usize) -> Range<usize>) -> Result<()> {
        let tag: Tag = group.next_sequence();
        if group.rank() > 0 {
            let message = self.message(false, own);
            return group.send(0, tag, message);
        }
        for from in 1..group.size() {
            let payload = group.receive(from, tag)?;
            self.put(part(from), words(&payload));
        }
        Ok(())
    }
}

fn zip<P: Pixel>(to: &mut [P], a: &[P], b: &[P], mut each: impl FnMut(&mut P, P, P)) {
    to.iter_mut().zip(a.iter().zip(b)).for_each(|(to, (a, b))| each(to, *a, *b));
}
