//! What has come in and has not been asked for yet.

use super::raw::InFlight;
use crate::error::TransportError;
use crate::transport::{BytePool, Bytes, Payload};

/// A message on its way in, or here.
struct Arrival {
    source: usize,
    tag: u32,
    body: Body,
}

enum Body {
    Here(Payload),
    /// Its pieces so far, and whether more follow.
    Pieces(Vec<InFlight<Bytes>>, bool),
}

impl Arrival {
    fn complete(&mut self) -> Result<bool, TransportError> {
        let Body::Pieces(pieces, more) = &mut self.body else { return Ok(true) };
        for piece in pieces.iter_mut() {
            if !piece.done()? {
                return Ok(false);
            }
        }
        Ok(!*more)
    }
}

/// Messages in order of arrival. Few wait at a time, so they are searched.
#[derive(Default)]
pub(super) struct Arrivals {
    waiting: Vec<Arrival>,
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
            Body::Here(_) => false,
            Body::Pieces(pieces, more) => *more || pieces.iter().any(|piece| !piece.was_done()),
        })
    }

    pub(super) fn add_here(&mut self, source: usize, tag: u32, payload: Payload) {
        self.waiting.push(Arrival { source, tag, body: Body::Here(payload) });
    }

    /// Adds a piece of `length` bytes, to the message whose last piece has not come yet if there is one.
    pub(super) fn add_piece(&mut self, from: (usize, u32), piece: InFlight<Bytes>, length: usize, more: bool) {
        self.bytes += length;
        let unfinished = self.waiting.iter_mut().find_map(|arrival| match &mut arrival.body {
            Body::Pieces(pieces, open) if *open && (arrival.source, arrival.tag) == from => Some((pieces, open)),
            _ => None,
        });
        match unfinished {
            Some((pieces, open)) => {
                pieces.push(piece);
                *open = more;
            }
            None => {
                let (source, tag) = from;
                self.waiting.push(Arrival { source, tag, body: Body::Pieces(vec![piece], more) });
            }
        }
    }

    /// The first complete message with this tag from a rank, or from any, unless an earlier one of its rank is incomplete.
    pub(super) fn take(
        &mut self,
        from: Option<usize>,
        tag: u32,
        pool: &BytePool,
    ) -> Result<Option<(usize, Payload)>, TransportError> {
        let mut incomplete: Vec<usize> = Vec::new();
        for i in 0..self.waiting.len() {
            let arrival = &mut self.waiting[i];
            let source = arrival.source;
            if arrival.tag != tag || from.is_some_and(|from| from != source) || incomplete.contains(&source) {
                continue;
            }
            if arrival.complete()? {
                let body = self.waiting.remove(i).body;
                return Ok(Some((source, self.join(body, pool)?)));
            }
            incomplete.push(source);
        }
        Ok(None)
    }

    /// Drops all complete messages with other tags than `kept`; who has sent one of them, if there are any.
    pub(super) fn discard(&mut self, kept: u32, pool: &BytePool) -> Result<Option<usize>, TransportError> {
        let (mut i, mut sender) = (0, None);
        while i < self.waiting.len() {
            if self.waiting[i].tag != kept && self.waiting[i].complete()? {
                let Arrival { source, body, .. } = self.waiting.remove(i);
                drop(self.join(body, pool)?);
                sender = Some(source);
            } else {
                i += 1;
            }
        }
        Ok(sender)
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

    fn join(&mut self, body: Body, pool: &BytePool) -> Result<Payload, TransportError> {
        let Body::Pieces(pieces, _) = body else {
            let Body::Here(payload) = body else { return Err(lost()) };
            return Ok(payload);
        };
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            parts.push(piece.into_held().ok_or_else(lost)?);
        }
        let length: usize = parts.iter().map(|part| part.as_ref().len()).sum();
        self.bytes -= length;
        // A last piece without bytes only says that there are no more.
        if parts.len() == 2 && parts[1].as_ref().is_empty() {
            parts.pop();
        }
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
