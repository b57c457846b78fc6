//! Where the streams of a round lie: one chunk a rank for what it has coded, and one for what it was sent.

use zippy::Result;
use zippy::array::{GlobalArray, GlobalSection};
use zippy::layout::{Layout, Split};
use zippy::world::World;

use super::coded_round::{Patch, Stream};

/// The streams of one round.
#[derive(Clone)]
pub(super) struct Mailboxes {
    pub outbox: GlobalArray<u32, 1>,
    pub inbox: GlobalArray<u32, 1>,
}

impl Mailboxes {
    /// With so many words on each rank, `[outbox, inbox]`. Collective.
    pub fn new(world: &World, name: &str, [sent, received]: &[Vec<u64>; 2]) -> Result<Self> {
        let array = |suffix: &str, sizes: &[u64]| {
            let sizes: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
            let layout = Layout::new([sizes.iter().sum::<i64>()]).split([Split::Sizes(sizes)]);
            world.array::<u32, 1>(&format!("{name}.{suffix}"), &layout)
        };
        Ok(Self { outbox: array("outbox", sent)?, inbox: array("inbox", received)? })
    }

    /// Where a stream is coded, and where it is sent.
    pub fn ends(&self, from: usize, to: usize, stream: &Stream) -> (GlobalSection<u32, 1>, GlobalSection<u32, 1>) {
        (section(&self.outbox, from, stream.outbox, stream), section(&self.inbox, to, stream.inbox, stream))
    }

    /// The box from which a patch is blended, and where its stream begins: what stays on a rank is not sent.
    pub fn read(&self, patch: &Patch, stream: &Stream) -> (&GlobalArray<u32, 1>, u64) {
        if patch.is_local() { (&self.outbox, stream.outbox) } else { (&self.inbox, stream.inbox) }
    }
}

/// The words of a stream in a rank's chunk.
fn section(array: &GlobalArray<u32, 1>, rank: usize, at: u64, stream: &Stream) -> GlobalSection<u32, 1> {
    let start = array.core().chunks().region(rank).start[0] + at as i64;
    array.at(start..start + stream.capacity as i64)
}
