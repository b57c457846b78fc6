//! [`Arrivals`]: messages that MPI receives or has received, before their receive calls.

use super::label::Label;
use super::pool::{BytePool, PooledBytes};
use super::raw::InFlight;
use crate::{Payload, Received, Tag};
use zippy_base::error::TransportError;

struct Incoming {
    source: usize,
    /// MPI tag.
    tag: u32,
    body: Body,
}

enum Body {
    Local(Tag, Payload),
    /// The pieces so far, and true if more follow. The first piece ends with the label.
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

    fn label(&self) -> Result<Tag, TransportError> {
        match &self.body {
            Body::Local(tag, _) => Ok(*tag),
            Body::Pieces(pieces, _) => {
                let first = pieces.first().and_then(InFlight::buffer).ok_or_else(lost_message)?;
                Label::from_piece(first.as_ref()).map(|label| label.tag(self.tag as u8)).ok_or_else(lost_message)
            }
        }
    }
}

/// Messages in order of arrival, searched linearly as they are few.
#[derive(Default)]
pub(super) struct Arrivals {
    waiting: Vec<Incoming>,
    bytes: usize,
}

impl Arrivals {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn in_flight(&self) -> bool {
        self.waiting.iter().any(|arrival| match &arrival.body {
            Body::Local(..) => false,
            Body::Pieces(pieces, more) => *more || pieces.iter().any(|piece| !piece.was_complete()),
        })
    }

    pub(super) fn add_local(&mut self, source: usize, tag: u32, label: Tag, payload: Payload) {
        self.waiting.push(Incoming { source, tag, body: Body::Local(label, payload) });
    }

    /// Adds a piece of `length` bytes to the incomplete message with the same source and MPI tag
    /// (`from`), or to a new message. A piece of fewer than `full` bytes ends its message.
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
                let body = Body::Pieces(vec![piece], length == Label::PIECE_BYTES);
                self.waiting.push(Incoming { source, tag, body });
            }
        }
    }

    /// Takes the first complete message with the MPI tag `tag` from rank `from`, or from any rank.
    /// With `wanted`, the message must belong to the exchange of that tag. Messages of one source
    /// are taken in order, also across an incomplete message.
    pub(super) fn take(
        &mut self,
        from: Option<usize>,
        tag: u32,
        wanted: Option<Tag>,
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
            // Several exchanges may share an MPI tag.
            if wanted.is_none_or(|wanted| wanted.same_exchange(tag)) {
                let body = self.waiting.remove(i).body;
                return Ok(Some(Received { from: source, tag, payload: self.join(body, pool)? }));
            }
        }
        Ok(None)
    }

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

    /// True if all messages of a rank, or of all ranks, are complete.
    pub(super) fn all_complete(&mut self, from: Option<usize>) -> Result<bool, TransportError> {
        for arrival in self.waiting.iter_mut().filter(|arrival| from.is_none_or(|from| arrival.source == from)) {
            if !arrival.complete()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Number of waiting messages from a rank, without wait messages ([`Tag::wait_message`]) and
    /// messages with the MPI tag `control`. `None` during the arrival of a message.
    pub(super) fn messages_from(&mut self, rank: usize, control: u32) -> Result<Option<u64>, TransportError> {
        let mut count = 0;
        for arrival in self.waiting.iter_mut().filter(|arrival| arrival.source == rank) {
            if !arrival.complete()? {
                return Ok(None);
            }
            count += u64::from(arrival.tag != control && !arrival.label()?.is_wait_message());
        }
        Ok(Some(count))
    }

    fn join(&mut self, body: Body, pool: &BytePool) -> Result<Payload, TransportError> {
        let Body::Pieces(pieces, _) = body else {
            let Body::Local(_, payload) = body else { return Err(lost_message()) };
            return Ok(payload);
        };
        let mut parts = Vec::with_capacity(pieces.len());
        for piece in pieces {
            parts.push(piece.into_buffer().ok_or_else(lost_message)?);
        }
        self.bytes -= parts.iter().map(|part| part.as_ref().len()).sum::<usize>();
        // A label is a separate first piece, or ends the only piece.
        if parts.len() > 1 {
            parts.remove(0);
        } else if let [part] = &mut parts[..] {
            part.take_last::<{ Label::BYTES }>().ok_or_else(lost_message)?;
        }
        if parts.len() == 2 && parts[1].as_ref().is_empty() {
            parts.pop();
        }
        let length: usize = parts.iter().map(|part| part.as_ref().len()).sum();
        if let [_] = parts[..] {
            return Ok(Box::new(parts.remove(0)));
        }
        let mut whole = pool.take(length);
        let mut rest = whole.as_mut();
        // Frees each part before the next copy touches new pages.
        for part in parts {
            let (head, tail) = rest.split_at_mut(part.as_ref().len());
            head.copy_from_slice(part.as_ref());
            rest = tail;
        }
        Ok(Box::new(whole))
    }
}

fn lost_message() -> TransportError {
    TransportError::Other("a message was lost on its way in".into())
}
