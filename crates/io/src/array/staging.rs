//! Blocks of an array to the ranks that write them.

use std::ops::Range;

use zippy::array::{GlobalArray, GlobalSection};
use zippy::element::Element;
use zippy::extents::Index;
use zippy::locate::Placement;
use zippy::region::Region;
use zippy::{Error, Exchange, Layout, Result, Split, World};

use super::blocks::Blocks;
use super::writer::{self, Each, Handover};

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
/// bytes of its cells, axis 0 fastest, in the order of their numbers, while the next one is brought. Where `each` fails it
/// gets no more, and soon all ranks stop. Collective; needs memory for two blocks on the host, and for one on the device
/// where a block is not all in one chunk of its rank.
///
/// # Errors
/// The same on every rank: no memory, no thread; what `each` has returned on any of them.
pub fn each_block<T: Element, const D: usize>(
    world: &World,
    array: &GlobalArray<T, D>,
    work: &Work,
    each: Each,
) -> Result<()> {
    if work.counts.iter().all(|&count| count == 0) {
        return Ok(());
    }
    writer::beside(each, |handover| {
        let handover = handover.map_err(|error| Error::program(format!("no thread to write on: {error}")));
        bring(world, array, work, world.agree("starting to write", handover)?)
    })
}

fn bring<T: Element, const D: usize>(
    world: &World,
    array: &GlobalArray<T, D>,
    work: &Work,
    mut handover: Handover,
) -> Result<()> {
    let mut staging = None;
    let rounds = work.counts.iter().copied().max().unwrap_or(0);
    for round in 0..rounds {
        let with_one = (0..world.size()).filter(|&rank| round < work.counts[rank]);
        let blocks = with_one.map(|rank| (rank, (work.block)(rank, round)));
        let moved: Vec<_> = blocks.filter(|(rank, block)| !is_in_chunk_of(*rank, array.placement(), block)).collect();
        if !moved.is_empty() && staging.is_none() {
            staging = Some(Staging::new(world, array, work.room)?);
        }
        let places = staging.iter().flat_map(|staging| moved.iter().map(|one| staging.place(one)));
        let copies = moved.iter().zip(places).map(|((_, block), place)| (array.at(ranges(block)), place));
        if !moved.is_empty() {
            world.exchange(Exchange::new().copies(copies))?;
        }
        if round < work.counts[world.rank()] && handover.outcome(false).is_ok() {
            let own = (world.rank(), (work.block)(world.rank(), round));
            let section = match &staging {
                Some(staging) if moved.contains(&own) => staging.place(&own),
                _ => array.at(ranges(&own.1)),
            };
            let (mut words, bytes) = (handover.room(), own.1.cells() as usize * T::INFO.bytes);
            // New memory for each block would cost as much as writing it.
            words.resize(bytes.div_ceil(size_of::<u64>()), 0);
            let cells: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
            let cells = bytemuck::cast_slice_mut(&mut cells[..bytes]);
            // It is in one chunk of this rank.
            let read = || section.local_parts()?.iter().try_for_each(|only| only.read_into(cells));
            world.failing("reading a block", read)?;
            handover.give(own.1, words, bytes);
        }
        let is_last = round + 1 == rounds;
        if is_last || round % ROUNDS == ROUNDS - 1 {
            world.agree("writing blocks", handover.outcome(is_last).map_err(Error::from))?;
        }
    }
    Ok(())
}

/// Whether a rank has all cells of a block in one of its chunks, so that it can read them there.
fn is_in_chunk_of(rank: usize, placement: &Placement, block: &Region) -> bool {
    matches!(placement.holders(block)[..], [only] if only.owner.rank == rank)
}

/// Room for a block of each rank, on its device.
struct Staging<T, const D: usize> {
    /// One behind the other along the last axis.
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

    /// Where the block of a rank is.
    fn place(&self, (rank, block): &(usize, Region)) -> GlobalSection<T, D> {
        let first = |axis: usize| if axis + 1 == D { self.room[axis] * *rank as i64 } else { 0 };
        self.array.at(ranges(&Region::at(Index::from_fn(D, first), block.extents())))
    }
}

/// [`each_block`] of all blocks of a box, each by the rank that [`Blocks::writers`] says.
///
/// # Errors
/// As [`each_block`].
pub fn each_of<T: Element, const D: usize>(
    world: &World,
    array: &GlobalArray<T, D>,
    blocks: &Blocks,
    each: Each,
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
