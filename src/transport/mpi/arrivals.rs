//! What has come in and has not been asked for yet.

use super::label::Label;
use super::pool::{BytePool, PooledBytes};
use super::raw::InFlight;
use crate::error::TransportError;
use crate::transport::{Payload, Received, Tag};

/// A message on its way in, or here.
struct Incoming {
    source: usize,
    /// As MPI knows it.
    tag: u32,
    body: Body,
}

enum Body {
    Here(Tag, Payload),
    /// Its pieces so far, and whether more follow. The first one ends with the label.
    Pieces(Vec<InFlight<PooledBytes>>, bool),
}

impl Incoming {
    fn complete(&mut self) -> Result<bool, TransportError> {
        let Body::Pieces(pieces, more) = &mut self.body else { return Ok(true) };
        for piece in pieces.iter_mut() {
            if !piece.done()? {
                return Ok(false);
            }
        }
        Ok(!*more)
    }

    /// What a complete message is labelled with.
    fn label(&self) -> Result<Tag, TransportError> {
        match &self.body {
            Body::Here(tag, _) => Ok(*tag),
            Body::Pieces(pieces, _) => {
                let first = pieces.first().and_then(InFlight::held).ok_or_else(lost)?;
                Label::of_piece(first.as_ref()).map(|label| label.tag(self.tag as u8)).ok_or_else(lost)
            }
        }
    }
}

/// Messages in order of arrival. Few wait at a time, so they are searched.
#[derive(Default)]
pub(super) struct Arrivals {
    waiting: Vec<Incoming>,
    /// Bytes of the pieces in `waiting`.
    bytes: usize,
}

impl Arrivals {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether some message was not here completely when it was last looked at.
    pub(super) fn in_flight(&self) -> bool {
        self.waiting.iter().any(|arrival| match &arrival.body {
            Body::Here(..) => false,
            Body::Pieces(pieces, more) => *more || pieces.iter().any(|piece| !piece.was_done()),
        })
    }

    pub(super) fn add_here(&mut self, source: usize, tag: u32, label: Tag, payload: Payload) {
        self.waiting.push(Incoming { source, tag, body: Body::Here(label, payload) });
    }

    /// Adds a piece of `length` bytes, to the message whose last piece has not come yet if there is one. Full pieces have
    /// `full` bytes.
    pub(super) fn add_piece(&mut self, from: (usize, u32), piece: InFlight<PooledBytes>, length: usize, full: usize) {
        self.bytes += length;
        let unfinished = self.waiting.iter_mut().find_map(|arrival| match &mut arrival.body {
            Body::Pieces(pieces, open) if *open && (arrival.source, arrival.tag) == from => Some((pieces, open)),
            _ => None,
        });
        match unfinished {
            Some((pieces, open)) => {
                pieces.push(piece);
                *open = length == full;
            }
            None => {
                let (source, tag) = from;
                let body = Body::Pieces(vec![piece], length == Label::ALONE_BYTES);
                self.waiting.push(Incoming { source, tag, body });
            }
        }
    }

    /// The first complete message of an exchange from a rank, or from any, unless an earlier one of its rank is incomplete.
    /// `tag` is the exchange's as MPI knows it.
    pub(super) fn take(
        &mut self,
        from: Option<usize>,
        (tag, wanted): (u32, Option<Tag>),
        pool: &BytePool,
    ) -> Result<Option<Received>, TransportError> {
        let mut incomplete: Vec<usize> = Vec::new();
        for i in 0..self.waiting.len() {
            let arrival = &mut self.waiting[i];
            let source = arrival.source;
            if arrival.tag != tag || from.is_some_and(|from| from != source) || incomplete.contains(&source) {
                continue;
            }
            if !arrival.complete()? {
                incomplete.push(source);
                continue;
            }
            let tag = arrival.label()?;
            // MPI has fewer tags than there are exchanges.
            if wanted.is_none_or(|wanted| wanted.meets(tag)) {
                let body = self.waiting.remove(i).body;
                return Ok(Some(Received { from: source, tag, payload: self.join(body, pool)? }));
            }
        }
        Ok(None)
    }

    /// Drops all complete messages with other tags than `kept`.
    pub(super) fn discard(&mut self, kept: u32, pool: &BytePool) -> Result<(), TransportError> {
        let mut i = 0;
        while i < self.waiting.len() {
            if self.waiting[i].tag != kept && self.waiting[i].complete()? {
                let body = self.waiting.remove(i).body;
                drop(self.join(body, pool)?);
            } else {
                i += 1;
            }
        }
        Ok(())
    }

    /// Whether every message that has come in from a rank, or from any, is here completely.
    pub(super) fn settled(&mut self, from: Option<usize>) -> Result<bool, TransportError> {
        for arrival in self.waiting.iter_mut().filter(|arrival| from.is_none_or(|from| arrival.source == from)) {
            if !arrival.complete()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// How many messages from a rank wait, inquiries and what has the tag `control` not counted; `None` while one of them is
    /// not here completely.
    pub(super) fn messages_from(&mut self, rank: usize, control: u32) -> Result<Option<u64>, TransportError> {
        let mut count = 0;
        for arrival in self.waiting.iter_mut().filter(|arrival| arrival.source == rank) {
            if !arrival.complete()? {
                return Ok(None);
            }
            count += u64::from(arrival.tag != control && !arrival.label()?.is_inquiry());
        }
        Ok(Some(count))
    }

    fn join(&mut self, body: Body, pool: &BytePool) -> Result<Payload, TransportError> {
        let Body::Pieces(pieces, _) = body else {
            let Body::Here(_, payload) = body else { return Err(lost()) };
            return Ok(payload);
        };
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            parts.push(piece.into_held().ok_or_else(lost)?);
        }
        self.bytes -= parts.iter().map(|part| part.as_ref().len()).sum::<usize>();
        // A label of its own, or behind all there is.
        if parts.len() > 1 {
            parts.remove(0);
        } else if let [part] = &mut parts[..] {
            part.take_last::<{ Label::BYTES }>().ok_or_else(lost)?;
        }
        // A last piece without bytes only says that there are no more.
        if parts.len() == 2 && parts[1].as_ref().is_empty() {
            parts.pop();
        }
        let length: usize = parts.iter().map(|part| part.as_ref().len()).sum();
        if let [_] = parts[..] {
            return Ok(Box::new(parts.remove(0)));
        }
        let mut whole = pool.take(length);
        let mut rest = whole.as_mut();
        // One after the other, so that each goes before the next one's place is touched.
        for part in parts {
            let (head, tail) = rest.split_at_mut(part.as_ref().len());
            head.copy_from_slice(part.as_ref());
            rest = tail;
        }
        Ok(Box::new(whole))
    }
}

fn lost() -> TransportError {
    TransportError::Other("a message was lost on its way in".into())
}
