//! Hand-written exchange of boxes between host vectors.
//!
//! The lists of boxes are computed once. A step packs one reused message per peer row by row, sends
//! it over the library's transport, copies the local boxes, and unpacks the received messages.

use std::sync::Arc;

use zippy::Result;
use zippy::transport::{Group, Payload};

/// A box of cells in dense storage, axis 0 fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CellBox {
    pub start: [usize; 3],
    pub extent: [usize; 3],
}

impl CellBox {
    pub(crate) fn cells(&self) -> usize {
        self.extent.iter().product()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Peer {
    pub rank: usize,
    pub send: Vec<CellBox>,
    pub receive: Vec<CellBox>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Exchange {
    /// Extents of the source storage and of the destination storage.
    pub source: [usize; 3],
    pub destination: [usize; 3],
    pub peers: Vec<Peer>,
    /// Source and destination of each box that stays on the rank.
    pub local: Vec<(CellBox, CellBox)>,
}

/// Pool of messages: a message is reused after its receiver has dropped it.
#[derive(Default)]
pub(crate) struct Messages(Vec<Arc<Vec<f32>>>);

struct Message(Arc<Vec<f32>>);

impl AsRef<[u8]> for Message {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

impl Messages {
    pub(crate) fn pack(&mut self, cells: usize, fill: impl FnOnce(&mut [f32])) -> Payload {
        let free = self.0.iter_mut().position(|message| message.len() == cells && Arc::get_mut(message).is_some());
        let index = free.unwrap_or_else(|| {
            self.0.push(Arc::new(vec![0.0; cells]));
            self.0.len() - 1
        });
        fill(Arc::get_mut(&mut self.0[index]).expect("the message is not shared"));
        Box::new(Message(self.0[index].clone()))
    }
}

/// Calls `row` with the index of the first cell of each row of a box.
fn rows(pitch: [usize; 3], block: &CellBox, mut row: impl FnMut(usize)) {
    for z in block.start[2]..block.start[2] + block.extent[2] {
        for y in block.start[1]..block.start[1] + block.extent[1] {
            row(block.start[0] + pitch[0] * (y + pitch[1] * z));
        }
    }
}

fn pack(pitch: [usize; 3], block: &CellBox, from: &[f32], to: &mut [f32]) {
    let width = block.extent[0];
    let mut at = 0;
    if width == 1 {
        rows(pitch, block, |start| {
            to[at] = from[start];
            at += 1;
        });
        return;
    }
    rows(pitch, block, |start| {
        to[at..at + width].copy_from_slice(&from[start..start + width]);
        at += width;
    });
}

fn unpack(pitch: [usize; 3], block: &CellBox, from: &[f32], to: &mut [f32]) {
    let width = block.extent[0];
    let mut at = 0;
    if width == 1 {
        rows(pitch, block, |start| {
            to[start] = from[at];
            at += 1;
        });
        return;
    }
    rows(pitch, block, |start| {
        to[start..start + width].copy_from_slice(&from[at..at + width]);
        at += width;
    });
}

impl Exchange {
    /// Adds a box that this rank sends to a peer. Sender and receiver must add boxes in the same
    /// order.
    pub(crate) fn send_box(&mut self, rank: usize, block: CellBox) {
        self.peer(rank).send.push(block);
    }

    pub(crate) fn receive_box(&mut self, rank: usize, block: CellBox) {
        self.peer(rank).receive.push(block);
    }

    fn peer(&mut self, rank: usize) -> &mut Peer {
        let index = self.peers.iter().position(|peer| peer.rank == rank).unwrap_or_else(|| {
            self.peers.push(Peer { rank, send: Vec::new(), receive: Vec::new() });
            self.peers.len() - 1
        });
        &mut self.peers[index]
    }

    pub(crate) fn bytes(&self) -> u64 {
        let sent = self.peers.iter().flat_map(|peer| &peer.send);
        sent.chain(self.local.iter().map(|(from, _)| from)).map(|block| block.cells() as u64 * 4).sum()
    }

    pub(crate) fn send(
        &self,
        group: &Group,
        tag: zippy::transport::Tag,
        field: &[f32],
        messages: &mut Messages,
    ) -> Result<()> {
        for peer in self.peers.iter().filter(|peer| !peer.send.is_empty()) {
            let cells = peer.send.iter().map(CellBox::cells).sum();
            let message = messages.pack(cells, |message| {
                let mut at = 0;
                for block in &peer.send {
                    pack(self.source, block, field, &mut message[at..at + block.cells()]);
                    at += block.cells();
                }
            });
            group.send(peer.rank, tag, message)?;
        }
        Ok(())
    }

    pub(crate) fn receive(&self, group: &Group, tag: zippy::transport::Tag, field: &mut [f32]) -> Result<()> {
        for peer in self.peers.iter().filter(|peer| !peer.receive.is_empty()) {
            let payload = group.receive(peer.rank, tag)?;
            let message: &[f32] = bytemuck::cast_slice((*payload).as_ref());
            let mut at = 0;
            for block in &peer.receive {
                unpack(self.destination, block, &message[at..at + block.cells()], field);
                at += block.cells();
            }
        }
        Ok(())
    }

    /// Exchanges boxes within one vector: updates its ghost cells. Collective.
    pub(crate) fn step_in_place(&self, group: &Group, field: &mut [f32], messages: &mut Messages) -> Result<()> {
        let tag = group.next_sequence();
        self.send(group, tag, field, messages)?;
        for (from, to) in &self.local {
            let (width, mut starts) = (from.extent[0], Vec::with_capacity(from.extent[1] * from.extent[2]));
            rows(self.destination, to, |start| starts.push(start));
            let mut to = starts.into_iter();
            rows(self.source, from, |start| {
                let to = to.next().expect("boxes of equal extents");
                if width == 1 { field[to] = field[start] } else { field.copy_within(start..start + width, to) }
            });
        }
        self.receive(group, tag, field)
    }

    /// Copies boxes from one vector to another. Collective.
    pub(crate) fn step_between(
        &self,
        group: &Group,
        from: &[f32],
        to: &mut [f32],
        messages: &mut Messages,
    ) -> Result<()> {
        let tag = group.next_sequence();
        self.send(group, tag, from, messages)?;
        for (source, destination) in &self.local {
            let mut starts = Vec::with_capacity(source.extent[1] * source.extent[2]);
            rows(self.source, source, |start| starts.push(start));
            let (width, mut starts) = (source.extent[0], starts.into_iter());
            rows(self.destination, destination, |start| {
                let source = starts.next().expect("boxes of equal extents");
                to[start..start + width].copy_from_slice(&from[source..source + width]);
            });
        }
        self.receive(group, tag, to)
    }
}
