//! [`Storage`]: volume cut along its lattice of bricks, with the ghost cells for ray casting.

use zippy::World;
use zippy::array::{ChunkRef, GlobalArray};
use zippy::chunks::ChunkId;
use zippy::element::Element;
use zippy::extents::Index;
use zippy::layout::Layout;
use zippy::ownership::Ownership;
use zippy::plan::Moved;
use zippy::region::Region;
use zippy::{ArrayOptions, Result};

use super::bricks::{BrickBox, Lattice, OwnedBricks};

/// Ghost voxels (before, after) of a box of bricks: interpolation reads one voxel ahead, gradients
/// one further on both sides.
const GHOSTS: (i64, i64) = (1, 2);

/// Volume as a global array whose chunks are boxes of bricks.
pub(super) struct Storage<'w, T> {
    world: &'w World,
    volume: GlobalArray<T, 3>,
    /// The volume itself, if it has suitable cuts.
    bricked: GlobalArray<T, 3>,
    copied: bool,
    parts: Vec<BrickChunk>,
    chunks: Vec<Option<ChunkRef<T, 3>>>,
}

/// Chunk of whole bricks.
#[derive(Debug, Clone)]
pub(super) struct BrickChunk {
    pub chunk: ChunkId,
    pub bricks: BrickBox,
    pub rank: usize,
}

impl<'w, T: Element> Storage<'w, T> {
    /// Creates the storage. Each brick belongs to the rank that owns its first voxel in `volume`,
    /// which may have any cuts and owners. A voxel has `components` cells on axis 0. Creates the
    /// array `<name>.bricks` unless the volume already has suitable cuts and ghost cells.
    /// Collective; copies nothing yet.
    pub(super) fn new(
        world: &'w World,
        name: &str,
        volume: &GlobalArray<T, 3>,
        lattice: &Lattice,
        components: i64,
    ) -> Result<Self> {
        let placement = volume.core().placement();
        let stretched = |region: Region| {
            let mut region = region;
            region.start[0] *= components;
            region.end[0] *= components;
            region
        };
        let owner = |brick: usize| {
            let first = stretched(lattice.voxels(&lattice.single(brick))).start;
            placement.holder(&first).map_or(0, |owner| owner.rank)
        };
        let owners: Vec<usize> = (0..lattice.count()).map(owner).collect();
        // Shaders read a chunk fastest through a single binding.
        let fits = |bricks: &BrickBox| {
            let extents = lattice.voxels(bricks).extents();
            let grown = Index::from_fn(3, |axis| extents[axis] + GHOSTS.0 + GHOSTS.1);
            let bytes = grown.product().unwrap_or(u64::MAX).saturating_mul(components as u64 * T::INFO.bytes as u64);
            bytes + 4 * (grown[1] * grown[2]) as u64 <= world.limits().binding_bytes
        };
        let held = lattice.merge(&owners, fits);
        let boxes: Vec<Region> = held.iter().map(|chunk| stretched(lattice.voxels(&chunk.bricks))).collect();
        let widths = [(components * GHOSTS.0, components * GHOSTS.1), GHOSTS, GHOSTS];
        let (bricked, chunks) = match suitable_chunks(volume, &held, &boxes, widths) {
            Some(chunks) => (volume.clone(), chunks),
            None => {
                let layout = Layout::new(volume.shape()).boxes(boxes).ghost_sides(widths);
                let ranks = Ownership::table(held.iter().map(|chunk| chunk.rank).collect(), world.size())?;
                let bricked = world.array(&format!("{name}.bricks"), ArrayOptions::new(&layout).owned_by(ranks))?;
                (bricked, (0..held.len()).collect())
            }
        };
        let part = |(one, chunk): (OwnedBricks, ChunkId)| BrickChunk { chunk, bricks: one.bricks, rank: one.rank };
        let parts: Vec<BrickChunk> = held.into_iter().zip(chunks).map(part).collect();
        let copied = bricked.core().id() != volume.core().id();
        let mut chunks: Vec<_> = parts.iter().map(|_| None).collect();
        for chunk in bricked.chunks() {
            if let Some(number) = parts.iter().position(|part| part.chunk == chunk.id()) {
                chunks[number] = Some(chunk);
            }
        }
        Ok(Self { world, volume: volume.clone(), bricked, copied, parts, chunks })
    }

    /// Copies the current volume, with its ghost cells. Collective.
    pub(super) fn refresh(&self) -> Result<Moved> {
        let mut moved = Moved::default();
        if self.copied {
            moved = self.world.copy(self.volume.at(..), self.bricked.at(..))?;
        }
        if self.parts.len() > 1 {
            moved += self.world.ghosts(&self.bricked)?;
        }
        Ok(moved)
    }

    /// Parts of all ranks.
    pub(super) fn parts(&self) -> &[BrickChunk] {
        &self.parts
    }

    /// Chunk of a part of this rank; `None` for parts of other ranks.
    pub(super) fn chunk(&self, part: usize) -> Option<&ChunkRef<T, 3>> {
        self.chunks[part].as_ref()
    }
}

/// Chunks of `volume` that equal these boxes, if its cuts, owners and ghost cells are exactly as
/// required.
fn suitable_chunks<T: Element>(
    volume: &GlobalArray<T, 3>,
    held: &[OwnedBricks],
    boxes: &[Region],
    widths: [(i64, i64); 3],
) -> Option<Vec<ChunkId>> {
    let (chunks, ownership) = (volume.core().chunks(), volume.core().ownership());
    let whole = chunks.whole();
    let filled = (0..chunks.count()).filter(|&chunk| !chunks.region(chunk).is_empty()).count();
    if filled != boxes.len() {
        return None;
    }
    let find = |(one, region): (&OwnedBricks, &Region)| {
        let chunk = chunks.chunk_at(&region.start)?;
        let reaches = |axis: usize| {
            (region.start[axis] == 0 || chunks.ghost_lo()[axis] >= widths[axis].0)
                && (region.end[axis] == whole.end[axis] || chunks.ghost_hi()[axis] >= widths[axis].1)
        };
        let fits = chunks.region(chunk) == *region && ownership.owner(chunk).rank == one.rank && (0..3).all(reaches);
        fits.then_some(chunk)
    };
    held.iter().zip(boxes).map(find).collect()
}
