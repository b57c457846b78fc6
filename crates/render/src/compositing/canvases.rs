//! [`Canvases`]: the arrays of one composite.

use zippy::Result;
use zippy::array::{GlobalArray, GlobalSection};
use zippy::locate::Placement;
use zippy::region::Region;

use super::pixel::Pixel;
use super::plan::{Blend, Canvas};
use super::settings::Layer;

/// Arrays of one composite, by canvas.
pub(super) struct Canvases<'a, P> {
    pub pixels: &'a GlobalArray<P, 2>,
    pub layers: &'a [Layer],
    pub tiles: &'a GlobalArray<P, 2>,
    pub finished: &'a GlobalArray<P, 2>,
}

impl<P: Pixel> Canvases<'_, P> {
    pub(super) fn array(&self, canvas: Canvas) -> &GlobalArray<P, 2> {
        match canvas {
            Canvas::Layer(_) => self.pixels,
            Canvas::Tiles => self.tiles,
            Canvas::Picture => self.finished,
        }
    }

    /// Placement of the canvas, and the position of an image region in its array.
    pub(super) fn placed(&self, canvas: Canvas, region: &Region) -> (&Placement, Region) {
        let region = match canvas {
            Canvas::Layer(layer) => self.layers[layer].locate(region),
            Canvas::Tiles | Canvas::Picture => *region,
        };
        (self.array(canvas).core().placement(), region)
    }

    pub(super) fn section(&self, canvas: Canvas, region: &Region) -> GlobalSection<P, 2> {
        let (_, region) = self.placed(canvas, region);
        self.array(canvas).at((region.start[0]..region.end[0], region.start[1]..region.end[1]))
    }

    /// Source and destination sections of a blend.
    pub(super) fn ends(&self, blend: &Blend) -> (GlobalSection<P, 2>, GlobalSection<P, 2>) {
        (self.section(blend.from, &blend.region), self.section(blend.to, &blend.region))
    }

    /// Makes regions transparent. Local.
    pub(super) fn clear(&self, parts: &[(Canvas, Region)]) -> Result<()> {
        parts.iter().try_for_each(|(canvas, region)| self.section(*canvas, region).fill(P::zeroed()))
    }
}
