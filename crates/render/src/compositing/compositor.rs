//! [`Compositor`]: blends layers in one array into an image in another array.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;

use zippy::World;
use zippy::array::GlobalArray;
use zippy::chunks::ChunkId;
use zippy::collective::CollectiveWorld;
use zippy::device::PackedBox;
use zippy::error::CallSite;
use zippy::layout::{Layout, Split};
use zippy::ownership::Ownership;
use zippy::plan::Moved;
use zippy::region::Region;
use zippy::{ArrayOptions, Result};

use super::canvases::Canvases;
use super::coded::Coder;
use super::coded_round::CodedRound;
use super::dense;
use super::pixel::{Pixel, opaque};
use super::plan::BlendPlan;
use super::settings::{Encoding, Layer, Settings, check_layers};

/// Tiles per rank: strips of rows in round-robin order, such that an image with one object in its
/// middle keeps all ranks busy.
const STRIPS: usize = 4;

/// Distance between the sampled rows that decide the encoding.
const SAMPLE: usize = 16;

/// Compositor of layers into images; it reuses its memory between frames.
pub struct Compositor<'w, P> {
    world: &'w World,
    name: String,
    settings: Settings,
    tiles: RefCell<Option<GlobalArray<P, 2>>>,
    coder: Coder<'w>,
}

impl<'w, P: Pixel> Compositor<'w, P> {
    /// Creates a compositor whose arrays are named `name` and a suffix. Local; creates no array
    /// yet.
    ///
    /// # Errors
    /// Settings out of range.
    #[track_caller]
    pub fn new(world: &'w World, name: &str, settings: Settings) -> Result<Self> {
        let _call = CallSite::enter();
        settings.check()?;
        Ok(Self { world, name: name.to_string(), settings, tiles: RefCell::new(None), coder: Coder::new(world, name) })
    }

    /// Blends `layers` (front first), stored in `pixels`, into `finished` (`[width, height]`, any
    /// layout). Collective; `layers` must be equal on all ranks. On return the part of this rank is
    /// complete. Pixels of `finished` without layers become transparent. Direct send leaves
    /// `pixels` unchanged; swaps overwrite it.
    ///
    /// Direct send blends every pixel in the order of the layers, so its bits depend neither on
    /// owners nor on layouts; swaps associate by rounds. If half of the ranks or more own no part
    /// of `finished`, direct send blends tiles over all ranks and collects them at the end.
    ///
    /// # Cost
    /// - Direct send moves each layer once, within its bounds, in one message per pair of ranks or
    ///   one per tile, and the image once more if it is collected.
    /// - Swaps move about one image per layer.
    /// - [`Encoding::Auto`] reads every sixteenth row of the layers and sums two numbers over the
    ///   ranks.
    ///
    /// The result counts the bytes that moved, as they were coded.
    ///
    /// # Errors
    /// Layers that do not fit `pixels`, the image or the algorithm; coded pixels
    /// ([`Encoding::RunLength`]) that may exceed a buffer; no memory for tiles or streams; a
    /// failure of this or another rank.
    /// failure of this or another rank.
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

    /// Returns the rounds of [`composite`](Self::composite) for these layers: blends, and the
    /// messages and bytes of all ranks if no pixel is empty. Collective; creates tiles if the plan
    /// needs them, and moves no pixels.
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
        f: impl FnOnce(&BlendPlan, &Canvases<'_, P>) -> Result<R>,
    ) -> Result<R> {
        check_layers(&self.settings.algorithm, layers, finished.shape(), Some(&pixels.core().bounds()))?;
        let (tiles, apart) =
            if self.needs_tiles(finished) { self.tiles(finished)? } else { (finished.clone(), Vec::new()) };
        let plan = BlendPlan::new(&self.settings.algorithm, layers, finished.shape(), &apart)?;
        f(&plan, &Canvases { pixels, layers, tiles: &tiles, finished })
    }

    fn needs_tiles(&self, finished: &GlobalArray<P, 2>) -> bool {
        let placement = finished.core().placement();
        let holding = (0..self.world.size()).filter(|&rank| placement.cells_of(rank) > 0).count();
        self.settings.algorithm.radices().is_none() && holding * 2 <= self.world.size()
    }

    /// Creates tiles for an image and returns the regions with tiles. A region needs no tile if its
    /// tile and its image part have the same owner.
    fn tiles(&self, finished: &GlobalArray<P, 2>) -> Result<(GlobalArray<P, 2>, Vec<Region>)> {
        let (size, ranks) = (finished.shape(), self.world.size());
        let strips = ranks * STRIPS;
        let mut tiles = self.tiles.borrow_mut();
        if tiles.as_ref().is_none_or(|tiles| tiles.shape() != size) {
            *tiles = None;
            let layout = Layout::new(size).split([Split::Whole, Split::Even(strips)]);
            let owners = Ownership::table((0..strips).map(|strip| strip % ranks).collect(), ranks)?;
            *tiles =
                Some(self.world.array(&format!("{}.tiles", self.name), ArrayOptions::new(&layout).owned_by(owners))?);
        }
        let tiles = tiles.as_ref().expect("just made").clone();
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

    /// True if most of the layers' pixels are empty, by a sample of rows. Collective.
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
        let mut counts = self.world.failing("counting empty pixels of layers", || {
            let mut leases = BTreeMap::new();
            for (chunk, _) in &rows {
                if let Some(lease) = core.lease(*chunk)? {
                    leases.insert(*chunk, lease);
                }
            }
            let (mut pieces, mut bytes) = (Vec::new(), 0);
            for (chunk, part) in &rows {
                let view = core.strided(*chunk, part);
                pieces.push(PackedBox { buffer: &leases[chunk], view, payload_offset: bytes });
                bytes += view.cells() * P::INFO.bytes as u64;
            }
            let staged = core.device().gather(P::INFO.bytes, &pieces, bytes)?;
            let row: &[P] = bytemuck::cast_slice(staged.as_ref());
            Ok([row.iter().filter(|&&pixel| pixel != P::zeroed()).count() as u64, row.len() as u64])
        })?;
        self.world.group().all_reduce(&mut counts, |sum, more| *sum += more)?;
        Ok(counts[0] * 2 < counts[1])
    }
}
