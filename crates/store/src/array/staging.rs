//! Distribution of the blocks of an array to the ranks that write them.

use std::ops::Range;

use zippy::array::{GlobalArray, GlobalSection};
use zippy::collective::CollectiveWorld;
use zippy::element::Element;
use zippy::extents::Index;
use zippy::locate::Placement;
use zippy::region::Region;
use zippy::{Error, Exchange, Layout, Result, Split, World};

use super::block_sender::{self, BlockSender, WriteBlock};
use super::blocks::BlockGrid;

/// Rounds between two checks for failed ranks: a check costs one small message per rank.
const CHECK_INTERVAL: usize = 8;

/// Assignment of blocks to ranks, the same on every rank.
pub(super) struct BlockSchedule<'a> {
    pub counts: Vec<usize>,
    /// Block of a rank, by rank and round.
    pub block: &'a dyn Fn(usize, usize) -> Region,
    pub room: Index,
}

/// Transfers each block of an array to the rank that writes it, one block per rank and round.
/// Collective.
///
/// `each` receives the box of a block and its cells, axis 0 fastest, in the order of the rank's
/// blocks, while the next block is transferred. After an error of `each` it is not called again,
/// and all ranks stop soon. Needs host memory for two blocks, and device memory for one if a block
/// is not in one chunk of its rank.
pub(super) fn each_block<T: Element, const D: usize>(
    world: &World,
    array: &GlobalArray<T, D>,
    schedule: &BlockSchedule<'_>,
    each: WriteBlock<'_>,
) -> Result<()> {
    if schedule.counts.iter().all(|&count| count == 0) {
        return Ok(());
    }
    block_sender::with_writer_thread(each, |sender| {
        let sender = sender.map_err(|error| Error::program(format!("no thread to write on: {error}")));
        send_blocks(world, array, schedule, world.agree("starting to write", sender)?)
    })
}

fn send_blocks<T: Element, const D: usize>(
    world: &World,
    array: &GlobalArray<T, D>,
    schedule: &BlockSchedule<'_>,
    mut sender: BlockSender,
) -> Result<()> {
    let mut staging = None;
    let rounds = schedule.counts.iter().copied().max().unwrap_or(0);
    for round in 0..rounds {
        let writing_ranks = (0..world.size()).filter(|&rank| round < schedule.counts[rank]);
        let blocks = writing_ranks.map(|rank| (rank, (schedule.block)(rank, round)));
        let moved: Vec<_> = blocks.filter(|(rank, block)| !is_in_chunk_of(*rank, array.placement(), block)).collect();
        if !moved.is_empty() && staging.is_none() {
            staging = Some(BlockStaging::new(world, array, schedule.room)?);
        }
        let targets = staging.iter().flat_map(|staging| moved.iter().map(|block| staging.section(block)));
        let copies = moved.iter().zip(targets).map(|((_, block), target)| (array.at(ranges(block)), target));
        if !moved.is_empty() {
            world.exchange(Exchange::new().copies(copies))?;
        }
        if round < schedule.counts[world.rank()] && sender.outcome(false).is_ok() {
            let rank_block = (world.rank(), (schedule.block)(world.rank(), round));
            let section = match &staging {
                Some(staging) if moved.contains(&rank_block) => staging.section(&rank_block),
                _ => array.at(ranges(&rank_block.1)),
            };
            let (mut words, bytes) = (sender.buffer(), rank_block.1.cells() as usize * T::INFO.bytes);
            // Reused memory: fresh memory for each block would cost as much as the write.
            words.resize(bytes.div_ceil(size_of::<u64>()), 0);
            let cells: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
            let cells = bytemuck::cast_slice_mut(&mut cells[..bytes]);
            let read = || section.local_parts()?.iter().try_for_each(|part| part.read_into(cells));
            world.failing("reading a block", read)?;
            sender.send(rank_block.1, words, bytes);
        }
        let is_last = round + 1 == rounds;
        if is_last || round % CHECK_INTERVAL == CHECK_INTERVAL - 1 {
            world.agree("writing blocks", sender.outcome(is_last).map_err(Error::from))?;
        }
    }
    Ok(())
}

/// The rank then reads the block locally.
fn is_in_chunk_of(rank: usize, placement: &Placement, block: &Region) -> bool {
    matches!(placement.holders(block)[..], [holder] if holder.owner.rank == rank)
}

/// Device memory for one block per rank.
struct BlockStaging<T, const D: usize> {
    /// Blocks of all ranks, along the last axis.
    array: GlobalArray<T, D>,
    room: Index,
}

impl<T: Element, const D: usize> BlockStaging<T, D> {
    fn new(world: &World, array: &GlobalArray<T, D>, room: Index) -> Result<Self> {
        let ranks = |axis: usize| if axis + 1 == D { world.size() } else { 1 };
        let shape: [i64; D] = std::array::from_fn(|axis| room[axis] * ranks(axis) as i64);
        let split: [Split; D] = std::array::from_fn(|axis| Split::Even(ranks(axis)));
        let name = format!("zippy_io: blocks of {}", array.name());
        Ok(Self { array: world.array(&name, &Layout::new(shape).split(split))?, room })
    }

    fn section(&self, (rank, block): &(usize, Region)) -> GlobalSection<T, D> {
        let first = |axis: usize| if axis + 1 == D { self.room[axis] * *rank as i64 } else { 0 };
        self.array.at(ranges(&Region::at(Index::from_fn(D, first), block.extents())))
    }
}

/// [`each_block`] for a grid of blocks, distributed by [`BlockGrid::writers`].
pub(super) fn each_block_of_grid<T: Element, const D: usize>(
    world: &World,
    array: &GlobalArray<T, D>,
    blocks: &BlockGrid,
    each: WriteBlock<'_>,
) -> Result<()> {
    let lists = blocks.writers(array.core().placement(), world.size());
    let counts = lists.iter().map(Vec::len).collect();
    let block = |rank: usize, round| blocks.block(lists[rank][round]);
    each_block(world, array, &BlockSchedule { counts, block: &block, room: blocks.extents() }, each)
}

pub(super) fn ranges<const D: usize>(region: &Region) -> [Range<i64>; D] {
    std::array::from_fn(|axis| region.start[axis]..region.end[axis])
}
