//! A plan carried out with all pixels of its blends.

use super::compositor::Canvases;
use super::plan::{Blend, Canvas, Plan, Way};
use super::{Pixel, settings::wrong};
use crate::array::GlobalSection;
use crate::error::Result;
use crate::plan::Moved;
use crate::region::Region;
use crate::world::{Pending, World};

/// Carries out a plan. Collective.
pub(super) fn execute<P: Pixel>(world: &World, plan: &Plan, on: &Canvases<P>, termination: f32) -> Result<Moved> {
    let mut moved = Moved::default();
    for round in &plan.rounds {
        for (canvas, region) in &round.clears {
            on.section(*canvas, region)?.fill(P::zeroed())?;
        }
        let of = |way| round.blends.iter().filter(move |blend| blend.way == way);
        let copies = of(Way::Alone).map(|blend| {
            let (from, to) = on.ends(blend)?;
            world.start_copy(from, to)
        });
        for pending in copies.collect::<Result<Vec<Pending>>>()? {
            add(&mut moved, pending.wait()?);
        }
        for (way, operator) in [(Way::InFront, P::over()), (Way::Behind, P::under(termination))] {
            for blend in of(way) {
                let (from, to) = on.ends(blend)?;
                add(&mut moved, world.composite(from, to, operator.clone())?);
            }
        }
    }
    Ok(moved)
}

impl<P: Pixel> Canvases<'_, P> {
    pub(super) fn ends(&self, blend: &Blend) -> Result<(GlobalSection<P, 2>, GlobalSection<P, 2>)> {
        Ok((self.section(blend.from, &blend.region)?, self.section(blend.to, &blend.region)?))
    }

    /// A part of the picture on a canvas.
    pub(super) fn section(&self, canvas: Canvas, region: &Region) -> Result<GlobalSection<P, 2>> {
        let (array, region) = match canvas {
            Canvas::Layer(layer) => (self.pixels, self.layers[layer].locate(region)),
            Canvas::Tiles => {
                let tiles = self.tiles.ok_or_else(|| wrong("a plan with tiles needs an array for them".to_string()))?;
                (tiles, *region)
            }
            Canvas::Picture => (self.finished, *region),
        };
        Ok(array.at((region.start[0]..region.end[0], region.start[1]..region.end[1])))
    }
}

pub(super) fn add(sum: &mut Moved, part: Moved) {
    sum.bytes_local += part.bytes_local;
    sum.bytes_network += part.bytes_network;
    sum.messages += part.messages;
    sum.rounds += part.rounds;
}
