//! [`Mailboxes`]: per rank, one chunk for coded streams and one for received streams.

use zippy::Result;
use zippy::World;
use zippy::array::{GlobalArray, GlobalSection};
use zippy::layout::{Layout, Split};

use super::coded_round::{Patch, Stream};

/// Outboxes and inboxes of all ranks for the streams of one round.
#[derive(Clone)]
pub(super) struct Mailboxes {
    pub outbox: GlobalArray<u32, 1>,
    pub inbox: GlobalArray<u32, 1>,
}

impl Mailboxes {
    /// Creates mailboxes with these numbers of words per rank, `[outbox, inbox]`. Collective.
    pub(super) fn new(world: &World, name: &str, [sent, received]: &[Vec<u64>; 2]) -> Result<Self> {
        let array = |suffix: &str, sizes: &[u64]| {
            let sizes: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
            let layout = Layout::new([sizes.iter().sum::<i64>()]).split([Split::Sizes(sizes)]);
            world.array::<u32, 1>(&format!("{name}.{suffix}"), &layout)
        };
        Ok(Self { outbox: array("outbox", sent)?, inbox: array("inbox", received)? })
    }

    /// Sections of a stream in the sender's outbox and in the receiver's inbox.
    pub(super) fn ends(
        &self,
        from: usize,
        to: usize,
        stream: &Stream,
    ) -> (GlobalSection<u32, 1>, GlobalSection<u32, 1>) {
        (section(&self.outbox, from, stream.outbox, stream), section(&self.inbox, to, stream.inbox, stream))
    }

    /// Array from which a patch is blended, and the offset of its stream: the outbox if the stream
    /// stays on its rank.
    pub(super) fn read(&self, patch: &Patch, stream: &Stream) -> (&GlobalArray<u32, 1>, u64) {
        if patch.is_local() { (&self.outbox, stream.outbox) } else { (&self.inbox, stream.inbox) }
    }
}

fn section(array: &GlobalArray<u32, 1>, rank: usize, at: u64, stream: &Stream) -> GlobalSection<u32, 1> {
    let start = array.core().chunks().region(rank).start[0] + at as i64;
    array.at(start..start + stream.capacity as i64)
}
