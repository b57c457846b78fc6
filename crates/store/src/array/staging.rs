//! Distribution of the blocks of an array to the ranks that write them.

use std::ops::Range;

use zippy::array::{GlobalArray, GlobalSection};
use zippy::element::Element;
use zippy::extents::Index;
use zippy::locate::Placement;
use zippy::region::Region;
use zippy::{Error, Exchange, Layout, Result, Split, World};

use super::blocks::BlockGrid;
use super::handover::{self, Each, Handover};

/// Number of rounds between two checks whether a rank has failed. A check costs one small message
/// per rank.
const ROUNDS: usize = 8;

/// Assignment of blocks to ranks, the same on every rank.
pub(super) struct BlockSchedule<'a> {
    /// Number of blocks per rank.
    pub counts: Vec<usize>,
    /// Returns the block for a rank and an index.
    pub block: &'a dyn Fn(usize, usize) -> Region,
    /// Maximum extents of a block.
    pub room: Index,
}

/// Sends each block of an array to the rank that writes it, one block per rank and round. `each`
/// receives the box of a block and its cells, axis 0 fastest, in the order of the rank's blocks,
/// while the next block is transferred. After an error of `each` it is not called again, and all
/// ranks stop soon. Collective. Needs host memory for two blocks, and device memory for one if a
/// block is not in one chunk of its rank.
///
/// # Errors
/// The same on every rank: no memory, no thread, or an error of `each` on any rank.
pub(super) fn each_block<T: Element, const D: usize>(
    world: &World,
    array: &GlobalArray<T, D>,
    work: &BlockSchedule<'_>,
    each: Each<'_>,
) -> Result<()> {
    if work.counts.iter().all(|&count| count == 0) {
        return Ok(());
    }
    handover::with_writer_thread(each, |handover| {
        let handover = handover.map_err(|error| Error::program(format!("no thread to write on: {error}")));
        bring(world, array, work, world.agree("starting to write", handover)?)
    })
}

fn bring<T: Element, const D: usize>(
    world: &World,
    array: &GlobalArray<T, D>,
    work: &BlockSchedule<'_>,
    mut handover: Handover,
) -> Result<()> {
    let mut staging = None;
    let rounds = work.counts.iter().copied().max().unwrap_or(0);
    for round in 0..rounds {
        let writing_ranks = (0..world.size()).filter(|&rank| round < work.counts[rank]);
        let blocks = writing_ranks.map(|rank| (rank, (work.block)(rank, round)));
        let moved: Vec<_> = blocks.filter(|(rank, block)| !is_in_chunk_of(*rank, array.placement(), block)).collect();
        if !moved.is_empty() && staging.is_none() {
            staging = Some(Staging::new(world, array, work.room)?);
        }
        let targets = staging.iter().flat_map(|staging| moved.iter().map(|block| staging.section(block)));
        let copies = moved.iter().zip(targets).map(|((_, block), target)| (array.at(ranges(block)), target));
        if !moved.is_empty() {
            world.exchange(Exchange::new().copies(copies))?;
        }
        if round < work.counts[world.rank()] && handover.outcome(false).is_ok() {
            let rank_block = (world.rank(), (work.block)(world.rank(), round));
            let section = match &staging {
                Some(staging) if moved.contains(&rank_block) => staging.section(&rank_block),
                _ => array.at(ranges(&rank_block.1)),
            };
            let (mut words, bytes) = (handover.room(), rank_block.1.cells() as usize * T::INFO.bytes);
            // Reuse the memory: fresh memory for each block would cost as much as the write.
            words.resize(bytes.div_ceil(size_of::<u64>()), 0);
            let cells: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
            let cells = bytemuck::cast_slice_mut(&mut cells[..bytes]);
            // The section is in one chunk of this rank.
            let read = || section.local_parts()?.iter().try_for_each(|only| only.read_into(cells));
            world.failing("reading a block", read)?;
            handover.give(rank_block.1, words, bytes);
        }
        let is_last = round + 1 == rounds;
        if is_last || round % ROUNDS == ROUNDS - 1 {
            world.agree("writing blocks", handover.outcome(is_last).map_err(Error::from))?;
        }
    }
    Ok(())
}

/// True if one chunk of `rank` contains a whole block, so that the rank can read it locally.
fn is_in_chunk_of(rank: usize, placement: &Placement, block: &Region) -> bool {
    matches!(placement.holders(block)[..], [only] if only.owner.rank == rank)
}

/// Device memory for one block per rank.
struct Staging<T, const D: usize> {
    /// The blocks of all ranks, along the last axis.
    array: GlobalArray<T, D>,
    room: Index,
}

impl<T: Element, const D: usize> Staging<T, D> {
    fn new(world: &World, array: &GlobalArray<T, D>, room: Index) -> Result<Self> {
        let ranks = |axis: usize| if axis + 1 == D { world.size() } else { 1 };
        let shape: [i64; D] = std::array::from_fn(|axis| room[axis] * ranks(axis) as i64);
        let split: [Split; D] = std::array::from_fn(|axis| Split::Even(ranks(axis)));
        let name = format!("zippy_io: blocks of {}", array.name());
        Ok(Self { array: world.array(&name, &Layout::new(shape).split(split))?, room })
    }

    /// Section for the block of a rank.
    fn section(&self, (rank, block): &(usize, Region)) -> GlobalSection<T, D> {
        let first = |axis: usize| if axis + 1 == D { self.room[axis] * *rank as i64 } else { 0 };
        self.array.at(ranges(&Region::at(Index::from_fn(D, first), block.extents())))
    }
}

/// [`each_block`] for all blocks of a box, distributed by [`BlockGrid::writers`].
///
/// # Errors
/// As [`each_block`].
pub(super) fn each_of<T: Element, const D: usize>(
    world: &World,
    array: &GlobalArray<T, D>,
    blocks: &BlockGrid,
    each: Each<'_>,
) -> Result<()> {
    let lists = blocks.writers(array.core().placement(), world.size());
    let counts = lists.iter().map(Vec::len).collect();
    let block = |rank: usize, round| blocks.block(lists[rank][round]);
    each_block(world, array, &BlockSchedule { counts, block: &block, room: blocks.extents() }, each)
}

/// Ranges of a region.
pub(super) fn ranges<const D: usize>(region: &Region) -> [Range<i64>; D] {
    std::array::from_fn(|axis| region.start[axis]..region.end[axis])
}
