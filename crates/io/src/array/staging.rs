//! Blocks of an array to the ranks that write them.

use std::ops::Range;

use zippy::array::GlobalSection;
use zippy::element::Element;
use zippy::extents::Index;
use zippy::region::Region;
use zippy::{Exchange, Layout, Result, Split, World};

use super::blocks::Blocks;

/// Brings each block of a section to the rank that writes it, in rounds of one block a rank; `each` gets its box and its
/// cells, axis 0 fastest. Collective; needs memory for a block on the device, and one on the host.
///
/// # Errors
/// No memory; a failure of this or of another rank.
pub fn each_block<T: Element, const D: usize>(
    world: &World,
    section: &GlobalSection<T, D>,
    blocks: &Blocks,
    mut each: impl FnMut(&Region, &[T]),
) -> Result<()> {
    let array = section.array();
    let lists = blocks.writers(array.core().placement(), world.size());
    let rounds = lists.iter().map(Vec::len).max().unwrap_or(0);
    if rounds == 0 {
        return Ok(());
    }
    // A block's room for each rank, one behind the other along the last axis.
    let room = blocks.extents();
    let shape: [i64; D] = std::array::from_fn(|axis| room[axis] * if axis + 1 == D { world.size() as i64 } else { 1 });
    let split: [Split; D] =
        std::array::from_fn(|axis| if axis + 1 == D { Split::Even(world.size()) } else { Split::Whole });
    let name = format!("zippy_io: blocks of {}", array.name());
    let staging = world.array::<T, D>(&name, &Layout::new(shape).split(split))?;
    let of_rank = |rank: usize, block: &Region| {
        let start = Index::from_fn(D, |axis| if axis + 1 == D { room[axis] * rank as i64 } else { 0 });
        ranges::<D>(&Region::at(start, block.extents()))
    };
    for round in 0..rounds {
        let block = |(rank, list): (usize, &Vec<u64>)| list.get(round).map(|&number| (rank, blocks.block(number)));
        let pair = |(rank, block): (usize, Region)| (array.at(ranges(&block)), staging.at(of_rank(rank, &block)));
        world.exchange(Exchange::new().copies(lists.iter().enumerate().filter_map(block).map(pair)))?;
        if let Some((rank, block)) = block((world.rank(), &lists[world.rank()])) {
            let cells =
                world.failing("reading a block", || staging.local()?.at_global(of_rank(rank, &block)).read())?;
            each(&block, &cells);
        }
    }
    Ok(())
}

/// A box as it is named.
pub fn ranges<const D: usize>(region: &Region) -> [Range<i64>; D] {
    std::array::from_fn(|axis| region.start[axis]..region.end[axis])
}
