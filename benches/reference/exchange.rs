//! An exchange of boxes between plain vectors, written by hand: which boxes go where is computed once; a step packs one
//! reused message a peer, row by row, sends it over the same transport, copies what stays, and unpacks what comes.

use std::sync::Arc;

use zippy::Result;
use zippy::transport::{Group, Payload};

/// A box of cells in a dense storage, axis 0 fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    pub start: [usize; 3],
    pub extent: [usize; 3],
}

impl Block {
    pub fn cells(&self) -> usize {
        self.extent.iter().product()
    }
}

/// What goes to and comes from one rank.
#[derive(Debug, Clone)]
pub struct Peer {
    pub rank: usize,
    pub send: Vec<Block>,
    pub receive: Vec<Block>,
}

/// Who sends what to whom, seen by one rank.
#[derive(Debug, Clone, Default)]
pub struct Exchange {
    /// Extents of the storage that is read and of that which is written.
    pub source: [usize; 3],
    pub destination: [usize; 3],
    pub peers: Vec<Peer>,
    /// Boxes that stay, as they are read and as they are written.
    pub local: Vec<(Block, Block)>,
}

/// Messages that are used again when their receivers have let go of them.
#[derive(Default)]
pub struct Messages(Vec<Arc<Vec<f32>>>);

struct Message(Arc<Vec<f32>>);

impl AsRef<[u8]> for Message {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

impl Messages {
    /// A payload of `cells` cells that `fill` writes.
    pub fn packed(&mut self, cells: usize, fill: impl FnOnce(&mut [f32])) -> Payload {
        let free = self.0.iter_mut().position(|one| one.len() == cells && Arc::get_mut(one).is_some());
        let index = free.unwrap_or_else(|| {
            self.0.push(Arc::new(vec![0.0; cells]));
            self.0.len() - 1
        });
        fill(Arc::get_mut(&mut self.0[index]).expect("nobody else has it"));
        Box::new(Message(self.0[index].clone()))
    }
}

/// Calls with the first cell of every row of a box.
fn rows(pitch: [usize; 3], block: &Block, mut row: impl FnMut(usize)) {
    for z in block.start[2]..block.start[2] + block.extent[2] {
        for y in block.start[1]..block.start[1] + block.extent[1] {
            row(block.start[0] + pitch[0] * (y + pitch[1] * z));
        }
    }
}

fn pack(pitch: [usize; 3], block: &Block, from: &[f32], to: &mut [f32]) {
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

fn unpack(pitch: [usize; 3], block: &Block, from: &[f32], to: &mut [f32]) {
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
    /// Adds a box that this rank sends to a peer; both ends must add theirs in the same order.
    pub fn send_box(&mut self, rank: usize, block: Block) {
        self.peer(rank).send.push(block);
    }

    /// Adds a box that this rank receives from a peer.
    pub fn receive_box(&mut self, rank: usize, block: Block) {
        self.peer(rank).receive.push(block);
    }

    fn peer(&mut self, rank: usize) -> &mut Peer {
        let found = self.peers.iter().position(|peer| peer.rank == rank).unwrap_or_else(|| {
            self.peers.push(Peer { rank, send: Vec::new(), receive: Vec::new() });
            self.peers.len() - 1
        });
        &mut self.peers[found]
    }

    /// Bytes that this rank sends and copies.
    pub fn bytes(&self) -> u64 {
        let sent = self.peers.iter().flat_map(|peer| &peer.send);
        sent.chain(self.local.iter().map(|(from, _)| from)).map(|block| block.cells() as u64 * 4).sum()
    }

    /// Packs and sends all messages.
    pub fn send(
        &self,
        group: &Group,
        tag: zippy::transport::Tag,
        field: &[f32],
        messages: &mut Messages,
    ) -> Result<()> {
        for peer in self.peers.iter().filter(|peer| !peer.send.is_empty()) {
            let cells = peer.send.iter().map(Block::cells).sum();
            let message = messages.packed(cells, |message| {
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

    /// Receives and unpacks all messages.
    pub fn receive(&self, group: &Group, tag: zippy::transport::Tag, field: &mut [f32]) -> Result<()> {
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

    /// One step in which a vector gets its own ghost cells.
    pub fn within(&self, group: &Group, field: &mut [f32], messages: &mut Messages) -> Result<()> {
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

    /// One step from a vector to another.
    pub fn between(&self, group: &Group, from: &[f32], to: &mut [f32], messages: &mut Messages) -> Result<()> {
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
