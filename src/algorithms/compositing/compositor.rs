//! [`Compositor`]: layers in an array into a picture in another.

use super::plan::Plan;
use super::settings::{Layer, Settings, check_layers};
use super::{Pixel, dense};
use crate::array::GlobalArray;
use crate::error::Result;
use crate::layout::{Layout, Split};
use crate::ownership::Ownership;
use crate::plan::Moved;
use crate::world::World;
use std::cell::RefCell;

/// Tiles of each rank: strips of rows in turn, so that a picture with a thing in its middle keeps all ranks busy.
const STRIPS: usize = 4;

/// Blends layers into pictures, frame after frame. Keeps the memory that it needs between frames.
pub struct Compositor<'w, P> {
    world: &'w World,
    name: String,
    settings: Settings,
    tiles: RefCell<Option<GlobalArray<P, 2>>>,
}

/// The arrays of one composite.
pub(super) struct Canvases<'a, P> {
    pub pixels: &'a GlobalArray<P, 2>,
    pub layers: &'a [Layer],
    pub tiles: Option<&'a GlobalArray<P, 2>>,
    pub finished: &'a GlobalArray<P, 2>,
}

impl<'w, P: Pixel> Compositor<'w, P> {
    /// A compositor whose own arrays are called `name` and a suffix. Local; makes no array yet.
    ///
    /// # Errors
    /// Settings that make no sense.
    pub fn new(world: &'w World, name: &str, settings: Settings) -> Result<Self> {
        settings.check()?;
        Ok(Self { world, name: name.to_string(), settings, tiles: RefCell::new(None) })
    }

    /// Blends `layers`, front first, that lie in `pixels`, into `finished`, `[width, height]` in any layout; where the layers have
    /// nothing it becomes transparent. Collective: every rank gives the same layers. On return this rank's part is
    /// done. Direct send leaves `pixels` as it is; swaps use it up.
    ///
    /// Where fewer than half the ranks hold `finished`, direct send blends on tiles over all ranks, which are collected at
    /// last: whoever wants the picture does not have to blend all of it.
    ///
    /// Cost: direct send moves each layer once, within its bounds, in one message per pair of ranks, and the picture
    /// once more where it is collected; swaps move about one picture for each layer.
    ///
    /// # Errors
    /// Layers that do not fit `pixels`, the picture or the algorithm, or a failure of this or of another rank.
    pub fn composite(
        &self,
        pixels: &GlobalArray<P, 2>,
        layers: &[Layer],
        finished: &GlobalArray<P, 2>,
    ) -> Result<Moved> {
        check_layers(&self.settings.algorithm, layers, finished.shape(), Some(&pixels.core().bounds()))?;
        let tiles = if self.needs_tiles(finished) { Some(self.tiles(finished.shape())?) } else { None };
        let plan = Plan::new(&self.settings.algorithm, layers, finished.shape(), tiles.is_some())?;
        let canvases = Canvases { pixels, layers, tiles: tiles.as_ref(), finished };
        dense::execute(self.world, &plan, &canvases, self.settings.termination)
    }

    fn needs_tiles(&self, finished: &GlobalArray<P, 2>) -> bool {
        let placement = finished.core().placement();
        let holding = (0..self.world.size()).filter(|&rank| placement.cells_of(rank) > 0).count();
        self.settings.algorithm.radices().is_none() && holding * 2 <= self.world.size()
    }

    /// Tiles for pictures of this size.
    fn tiles(&self, size: [i64; 2]) -> Result<GlobalArray<P, 2>> {
        let mut kept = self.tiles.borrow_mut();
        if let Some(tiles) = kept.as_ref().filter(|tiles| tiles.shape() == size) {
            return Ok(tiles.clone());
        }
        *kept = None;
        let ranks = self.world.size();
        let strips = ranks * STRIPS;
        let layout = Layout::new(size).split([Split::Whole, Split::Even(strips)]);
        let owners = Ownership::table((0..strips).map(|strip| strip % ranks).collect(), ranks)?;
        Ok(kept.insert(self.world.array_owned(&format!("{}.tiles", self.name), &layout, owners)?).clone())
    }
}
