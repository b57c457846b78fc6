//! Blocks of an array to the ranks that write them.

use std::ops::Range;

use zippy::array::GlobalArray;
use zippy::element::Element;
use zippy::extents::Index;
use zippy::region::Region;
use zippy::{Exchange, Layout, Result, Split, World};

use super::blocks::Blocks;

/// After so many rounds the ranks tell each other whether one of them cannot go on. That costs as much as a message of some
/// bytes, beside the blocks of the rounds.
const ROUNDS: usize = 8;

/// What each rank writes, as all ranks know it.
pub struct Work<'a> {
    /// How many blocks each rank writes.
    pub counts: Vec<usize>,
    /// Rank and number to a block.
    pub block: &'a dyn Fn(usize, usize) -> Region,
    /// No block has more cells along an axis.
    pub room: Index,
}

/// Brings each block of an array to the rank that writes it, in rounds of one block a rank; `each` gets its box and the
/// bytes of its cells, axis 0 fastest, in the order of their numbers. Where `each` fails it gets no more, and soon all ranks stop.
/// Collective; needs memory for a block on the device, and one on the host.
///
/// # Errors
/// The same on every rank: no memory; what `each` has returned on any of them.
pub fn each_block<T: Element, const D: usize>(
    world: &World,
    array: &GlobalArray<T, D>,
    work: &Work,
    each: &mut dyn FnMut(&Region, &[u8]) -> Result<()>,
) -> Result<()> {
    let rounds = work.counts.iter().copied().max().unwrap_or(0);
    if rounds == 0 {
        return Ok(());
    }
    // A block's room for each rank, one behind the other along the last axis.
    let room = work.room;
    let shape: [i64; D] = std::array::from_fn(|axis| room[axis] * if axis + 1 == D { world.size() as i64 } else { 1 });
    let split: [Split; D] =
        std::array::from_fn(|axis| if axis + 1 == D { Split::Even(world.size()) } else { Split::Whole });
    let name = format!("zippy_io: blocks of {}", array.name());
    let staging = world.array::<T, D>(&name, &Layout::new(shape).split(split))?;
    let of_rank = |rank: usize, block: &Region| {
        let start = Index::from_fn(D, |axis| if axis + 1 == D { room[axis] * rank as i64 } else { 0 });
        ranges::<D>(&Region::at(start, block.extents()))
    };
    let (mut done, mut cells) = (Ok(()), Vec::new());
    for round in 0..rounds {
        let with_one = (0..world.size()).filter(|&rank| round < work.counts[rank]);
        let pair = |rank: usize| {
            let block = (work.block)(rank, round);
            (array.at(ranges(&block)), staging.at(of_rank(rank, &block)))
        };
        world.exchange(Exchange::new().copies(with_one.map(pair)))?;
        if done.is_ok() && round < work.counts[world.rank()] {
            let block = (work.block)(world.rank(), round);
            // New memory for each block would cost as much as writing it.
            cells.resize(block.cells() as usize, T::zeroed());
            let section = staging.local()?.at_global(of_rank(world.rank(), &block));
            world.failing("reading a block", || section.read_into(&mut cells))?;
            done = each(&block, bytemuck::cast_slice(&cells));
        }
        if round % ROUNDS == ROUNDS - 1 || round + 1 == rounds {
            world.agree("writing blocks", std::mem::replace(&mut done, Ok(())))?;
        }
    }
    Ok(())
}

/// [`each_block`] of all blocks of a box, each by the rank that [`Blocks::writers`] says.
///
/// # Errors
/// As [`each_block`].
pub fn each_of<T: Element, const D: usize>(
    world: &World,
    array: &GlobalArray<T, D>,
    blocks: &Blocks,
    each: &mut dyn FnMut(&Region, &[u8]) -> Result<()>,
) -> Result<()> {
    let lists = blocks.writers(array.core().placement(), world.size());
    let counts = lists.iter().map(Vec::len).collect();
    let block = |rank: usize, round| blocks.block(lists[rank][round]);
    each_block(world, array, &Work { counts, block: &block, room: blocks.extents() }, each)
}

/// A box as it is named.
pub fn ranges<const D: usize>(region: &Region) -> [Range<i64>; D] {
    std::array::from_fn(|axis| region.start[axis]..region.end[axis])
}
