//! [`Compositor`]: layers in an array into a picture in another.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;

use zippy::Result;
use zippy::array::GlobalArray;
use zippy::chunks::ChunkId;
use zippy::device::Piece;
use zippy::error::CallSite;
use zippy::layout::{Layout, Split};
use zippy::ownership::Ownership;
use zippy::plan::Moved;
use zippy::region::Region;
use zippy::world::World;

use super::canvases::Canvases;
use super::coded::Coder;
use super::coded_round::CodedRound;
use super::dense;
use super::pixel::{Pixel, opaque};
use super::plan::BlendPlan;
use super::settings::{Encoding, Layer, Settings, check_layers};

/// Tiles of each rank: strips of rows in turn, so that a picture with a thing in its middle keeps all ranks busy.
const STRIPS: usize = 4;

/// Every so many rows one is looked at, to decide how pixels travel.
const SAMPLE: usize = 16;

/// Blends layers into pictures, frame after frame. Keeps the memory that it needs between frames.
pub struct Compositor<'w, P> {
    world: &'w World,
    name: String,
    settings: Settings,
    tiles: RefCell<Option<GlobalArray<P, 2>>>,
    coder: Coder<'w>,
}

impl<'w, P: Pixel> Compositor<'w, P> {
    /// A compositor whose own arrays are called `name` and a suffix. Local; makes no array yet.
    ///
    /// # Errors
    /// Settings that make no sense.
    #[track_caller]
    pub fn new(world: &'w World, name: &str, settings: Settings) -> Result<Self> {
        let _call = CallSite::enter();
        settings.check()?;
        Ok(Self { world, name: name.to_string(), settings, tiles: RefCell::new(None), coder: Coder::new(world, name) })
    }

    /// Blends `layers`, front first, that lie in `pixels`, into `finished`, `[width, height]` in any layout; where the
    /// layers have nothing it becomes transparent. Collective: every rank gives the same layers. On return this rank's
    /// part is done. Direct send leaves `pixels` as it is; swaps use it up.
    ///
    /// Direct send blends every pixel in the order of the layers, so that its bits depend neither on owners nor on
    /// layouts; swaps associate by rounds. Where half the ranks or more hold nothing of `finished`, direct send blends
    /// on tiles over all ranks, which are collected at last, so that who wants the picture blends only a share of it.
    ///
    /// Cost: direct send moves each layer once, within its bounds, in one message per pair of ranks or one for each of
    /// its tiles, and the picture once more where it is collected; swaps move about one picture for each layer.
    /// [`Encoding::Auto`] looks at every sixteenth row of the layers and adds up two numbers over the ranks. The result
    /// counts the bytes that moved, coded as they were.
    ///
    /// # Errors
    /// Layers that do not fit `pixels`, the picture or the algorithm, coded pixels ([`Encoding::RunLength`]) that may
    /// be too many for a buffer, no memory for tiles or streams, or a failure of this or of another rank.
    #[track_caller]
    pub fn composite(
        &self,
        pixels: &GlobalArray<P, 2>,
        layers: &[Layer],
        finished: &GlobalArray<P, 2>,
    ) -> Result<Moved> {
        let _call = CallSite::enter();
        self.planned(pixels, layers, finished, |plan, on| {
            let coded = match self.settings.encoding {
                Encoding::RunLength => Some(self.coder.coded_rounds(plan, on)?),
                Encoding::Auto if self.mostly_empty(pixels, layers)? => self.coder.coded_rounds(plan, on).ok(),
                Encoding::Dense | Encoding::Auto => None,
            };
            let opaque = opaque::<P>(self.settings.termination);
            match coded {
                Some(coded_rounds) => self.coder.execute(plan, &coded_rounds, on, opaque),
                None => dense::execute(self.world, plan, on, opaque),
            }
        })
    }

    /// What [`composite`](Self::composite) does with these layers, round by round: blends, and the messages and bytes
    /// of all ranks together if no pixel is empty. Moves nothing, but makes the tiles where there are to be any, and so
    /// is collective.
    ///
    /// # Errors
    /// As [`composite`](Self::composite).
    #[track_caller]
    pub fn explain(
        &self,
        pixels: &GlobalArray<P, 2>,
        layers: &[Layer],
        finished: &GlobalArray<P, 2>,
    ) -> Result<String> {
        let _call = CallSite::enter();
        self.planned(pixels, layers, finished, |plan, on| {
            let mut text = format!("{:?} of {} layers, {} rounds\n", self.settings.algorithm, layers.len(), plan.rounds.len());
            for (number, round) in plan.rounds.iter().enumerate() {
                let coded = CodedRound::new::<P>(round, &|canvas, region| on.placed(canvas, region));
                let messages = coded.streams.keys().filter(|(from, to)| from != to).count();
                let bytes = |network: bool| {
                    let patches = coded.patches.iter().filter(|patch| patch.is_local() != network);
                    patches.map(|patch| patch.to.region.cells()).sum::<u64>() * P::INFO.bytes as u64
                };
                let (blends, network, local) = (round.blends.len(), bytes(true), bytes(false));
                let _ = writeln!(
                    text,
                    "round {number}: {blends} blends, {messages} messages of {network} bytes, {local} bytes within ranks"
                );
            }
            Ok(text)
        })
    }

    fn planned<R>(
        &self,
        pixels: &GlobalArray<P, 2>,
        layers: &[Layer],
        finished: &GlobalArray<P, 2>,
        f: impl FnOnce(&BlendPlan, &Canvases<P>) -> Result<R>,
    ) -> Result<R> {
        check_layers(&self.settings.algorithm, layers, finished.shape(), Some(&pixels.core().bounds()))?;
        let (tiles, apart) = match self.needs_tiles(finished) {
            true => self.tiles(finished)?,
            false => (finished.clone(), Vec::new()),
        };
        let plan = BlendPlan::new(&self.settings.algorithm, layers, finished.shape(), &apart)?;
        f(&plan, &Canvases { pixels, layers, tiles: &tiles, finished })
    }

    fn needs_tiles(&self, finished: &GlobalArray<P, 2>) -> bool {
        let placement = finished.core().placement();
        let holding = (0..self.world.size()).filter(|&rank| placement.cells_of(rank) > 0).count();
        self.settings.algorithm.radices().is_none() && holding * 2 <= self.world.size()
    }

    /// Tiles for a picture, and the parts that they are for: where the owner of a tile holds its part of the picture,
    /// it has no use for the tile.
    fn tiles(&self, finished: &GlobalArray<P, 2>) -> Result<(GlobalArray<P, 2>, Vec<Region>)> {
        let (size, ranks) = (finished.shape(), self.world.size());
        let strips = ranks * STRIPS;
        let mut kept = self.tiles.borrow_mut();
        if kept.as_ref().is_none_or(|tiles| tiles.shape() != size) {
            *kept = None;
            let layout = Layout::new(size).split([Split::Whole, Split::Even(strips)]);
            let owners = Ownership::table((0..strips).map(|strip| strip % ranks).collect(), ranks)?;
            *kept = Some(self.world.array_owned(&format!("{}.tiles", self.name), &layout, owners)?);
        }
        let tiles = kept.as_ref().expect("just made").clone();
        let mut apart: Vec<Region> = Vec::new();
        for holder in tiles.core().placement().holders(&tiles.core().bounds()) {
            let of_picture = finished.core().placement().holders(&holder.part);
            if of_picture.iter().any(|part| part.owner.rank != holder.owner.rank) {
                apart.push(holder.part);
            }
        }
        apart.sort_unstable_by_key(|part| part.start[1]);
        apart.dedup_by(|next, part| {
            let follows = part.end[1] == next.start[1];
            part.end[1] = if follows { next.end[1] } else { part.end[1] };
            follows
        });
        Ok((tiles, apart))
    }

    /// Whether fewer than half of the layers' pixels hold something, by some of their rows.
    fn mostly_empty(&self, pixels: &GlobalArray<P, 2>, layers: &[Layer]) -> Result<bool> {
        let core = pixels.core();
        let mut rows: Vec<(ChunkId, Region)> = Vec::new();
        for layer in layers {
            let bounds = layer.locate(&layer.bounds);
            let first = bounds.start[1] + (bounds.extents()[1] / 2).min(SAMPLE as i64 / 2);
            for y in (first..bounds.end[1]).step_by(SAMPLE) {
                let mut row = bounds;
                (row.start[1], row.end[1]) = (y, y + 1);
                let holders = core.placement().holders(&row).into_iter();
                let mine = holders.filter(|holder| holder.owner.rank == self.world.rank());
                rows.extend(mine.map(|holder| (holder.chunk, holder.part)));
            }
        }
        let mut counts = self.world.failing("looking at layers", || {
            let mut leases = BTreeMap::new();
            for (chunk, _) in &rows {
                if let Some(lease) = core.lease(*chunk)? {
                    leases.insert(*chunk, lease);
                }
            }
            let (mut pieces, mut bytes) = (Vec::new(), 0);
            for (chunk, part) in &rows {
                let view = core.strided(*chunk, part);
                pieces.push(Piece { buffer: &leases[chunk], view, payload_offset: bytes });
                bytes += view.cells() * P::INFO.bytes as u64;
            }
            let staged = core.device().gather(P::INFO.bytes, &pieces, bytes)?;
            let seen: &[P] = bytemuck::cast_slice(staged.as_ref());
            Ok([seen.iter().filter(|&&pixel| pixel != P::zeroed()).count() as u64, seen.len() as u64])
        })?;
        self.world.group().all_reduce(&mut counts, |sum, more| *sum += more)?;
        Ok(counts[0] * 2 < counts[1])
    }
}
