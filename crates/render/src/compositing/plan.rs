//! Plans of compositing: rounds of blends between layers and the image, as data. Pure functions.

use std::ops::Range;

use zippy::Result;
use zippy::error::CallSite;
use zippy::extents::Index;
use zippy::plan::Swap;
use zippy::region::Region;

use super::settings::{Algorithm, Layer, check_layers};

/// Storage of pixels: a layer, tiles or the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Canvas {
    /// Box of the layer with this index.
    Layer(usize),
    /// Tiles of the image, distributed over all ranks, for regions whose image part has another
    /// owner.
    Tiles,
    /// The final image.
    Picture,
}

/// Rule that combines pixels with their destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlendRule {
    /// Replace the destination, whose content is undefined.
    Alone,
    /// Blend in front of the destination.
    InFront,
    /// Blend behind the destination.
    Behind,
}

/// Region of the image to blend from one canvas onto another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Blend {
    /// Source canvas.
    pub from: Canvas,
    /// Destination canvas.
    pub to: Canvas,
    /// Region, in pixels of the image.
    pub region: Region,
    /// Blend rule.
    pub way: BlendRule,
}

/// Independent blends: no blend reads pixels that another blend writes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Round {
    /// Regions that become transparent before the blends.
    pub clears: Vec<(Canvas, Region)>,
    /// Blends; they run grouped by rule (alone, in front, behind). Overlapping blends within a
    /// group keep their order.
    pub blends: Vec<Blend>,
}

/// Plan of rounds that blend layers, front first, into an image.
///
/// Transparent regions do not travel: a blend is restricted to the bounds of its source. The bounds
/// of blended layers are their bounding box.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlendPlan {
    /// Rounds in the order of execution.
    pub rounds: Vec<Round>,
}

impl BlendPlan {
    /// Plans an image of `size` pixels from layers, front first.
    ///
    /// Direct send blends `tiles`, disjoint regions of the image, on [`Canvas::Tiles`], collects
    /// them at the end, and blends all other regions in place.
    ///
    /// # Errors
    /// Layers that do not fit the image or the algorithm, or a radix below 2.
    #[track_caller]
    pub fn new(algorithm: &Algorithm, layers: &[Layer], size: [i64; 2], tiles: &[Region]) -> Result<Self> {
        let _call = CallSite::enter();
        check_layers(algorithm, layers, size, None)?;
        let picture = Region::whole(Index::new(&size));
        let visible: Vec<usize> = (0..layers.len()).filter(|&layer| !layers[layer].bounds.is_empty()).collect();
        let Some(&first) = visible.first() else {
            return Ok(Self { rounds: vec![Round { clears: vec![(Canvas::Picture, picture)], blends: Vec::new() }] });
        };
        let frame = visible.iter().fold(layers[first].bounds, |frame, &layer| frame.bounding(&layers[layer].bounds));
        match algorithm.radices() {
            None => Ok(direct(layers, &visible, &picture, &frame, tiles)),
            Some(radices) => {
                let pattern = Swap::new(visible.len(), radices, (frame.end[1] - frame.start[1]) as u64)?;
                let bounds = visible.iter().map(|&layer| layers[layer].bounds).collect();
                Ok(LayerSwap { pattern, visible, bounds, frame }.plan(&picture))
            }
        }
    }
}

impl Round {
    /// Clears the region `all` except for `kept`.
    fn clear(&mut self, canvas: Canvas, all: &Region, kept: &Region) {
        self.clears.extend(all.subtract(kept).into_iter().map(|part| (canvas, part)));
    }

    fn blend(&mut self, from: Canvas, to: Canvas, region: Region, way: BlendRule) {
        if !region.is_empty() {
            self.blends.push(Blend { from, to, region, way });
        }
    }
}

/// Plans direct send: the first layer replaces its destination, every other layer is blended behind
/// the layers in front of it.
fn direct(layers: &[Layer], visible: &[usize], picture: &Region, frame: &Region, tiles: &[Region]) -> BlendPlan {
    let (mut round, mut collect) = (Round::default(), Round::default());
    let mut blend_all = |canvas, part: &Region| {
        let held = |layer: usize| layers[layer].bounds.intersect(part);
        round.clear(canvas, part, &held(visible[0]).unwrap_or(Region::at(part.start, Index::zeros(2))));
        for (index, &layer) in visible.iter().enumerate() {
            let way = if index == 0 { BlendRule::Alone } else { BlendRule::Behind };
            held(layer).into_iter().for_each(|region| round.blend(Canvas::Layer(layer), canvas, region, way));
        }
    };
    let in_place = tiles
        .iter()
        .fold(vec![*picture], |remaining, tile| remaining.iter().flat_map(|part| part.subtract(tile)).collect());
    in_place.iter().for_each(|part| blend_all(Canvas::Picture, part));
    for tile in tiles {
        match tile.intersect(frame) {
            Some(part) => {
                blend_all(Canvas::Tiles, &part);
                collect.clear(Canvas::Picture, tile, &part);
                collect.blend(Canvas::Tiles, Canvas::Picture, part, BlendRule::Alone);
            }
            None => collect.clears.push((Canvas::Picture, *tile)),
        }
    }
    let rounds = if tiles.is_empty() { vec![round] } else { vec![round, collect] };
    BlendPlan { rounds }
}

/// Swap of the layers that are not empty; members are numbered in depth order.
struct LayerSwap {
    pattern: Swap,
    visible: Vec<usize>,
    /// Current bounds of each member.
    bounds: Vec<Region>,
    /// Bounding box of all members; swaps divide its rows.
    frame: Region,
}

impl LayerSwap {
    fn plan(mut self, picture: &Region) -> BlendPlan {
        let folds = self.pattern.folds();
        let mut rounds = Vec::new();
        if !folds.is_empty() {
            let mut round = Round::default();
            for fold in &folds {
                let behind: Vec<usize> = (fold.start + 1..fold.end).collect();
                self.bounds[fold.start] = self.merge(&mut round, fold.start, &self.frame, &[], &behind);
            }
            rounds.push(round);
        }
        for number in 0..self.pattern.rounds() {
            let (mut round, mut after) = (Round::default(), self.bounds.clone());
            for &member in self.pattern.active() {
                let Some(step) = self.pattern.step(number, member) else { continue };
                let front: Vec<usize> = step.members[..step.index].iter().rev().copied().collect();
                let behind = &step.members[step.index + 1..];
                after[member] = self.merge(&mut round, member, &self.rows(step.keep()), &front, behind);
            }
            self.bounds = after;
            rounds.push(round);
        }
        let mut collect = Round::default();
        collect.clear(Canvas::Picture, picture, &self.frame);
        for &member in self.pattern.active() {
            let bounds = self.bounds[member];
            collect.clear(Canvas::Picture, &self.rows(self.pattern.result(member)), &bounds);
            collect.blend(self.canvas(member), Canvas::Picture, bounds, BlendRule::Alone);
        }
        rounds.push(collect);
        BlendPlan { rounds }
    }

    fn canvas(&self, member: usize) -> Canvas {
        Canvas::Layer(self.visible[member])
    }

    fn rows(&self, rows: Range<u64>) -> Region {
        let mut region = self.frame;
        region.start[1] = self.frame.start[1] + rows.start as i64;
        region.end[1] = self.frame.start[1] + rows.end as i64;
        region
    }

    /// Blends a region of other members onto `member`, nearest in depth first; returns the bounding
    /// box of the result.
    fn merge(&self, round: &mut Round, member: usize, part: &Region, front: &[usize], behind: &[usize]) -> Region {
        let held = |other: usize| self.bounds[other].intersect(part);
        let all = std::iter::once(&member).chain(front).chain(behind).filter_map(|&other| held(other));
        let Some(all) = all.reduce(|all, more| all.bounding(&more)) else {
            return Region::at(part.start, Index::zeros(2));
        };
        round.clear(self.canvas(member), &all, &held(member).unwrap_or(Region::at(all.start, Index::zeros(2))));
        for (others, way) in [(front, BlendRule::InFront), (behind, BlendRule::Behind)] {
            for &other in others {
                if let Some(region) = held(other) {
                    round.blend(self.canvas(other), self.canvas(member), region, way);
                }
            }
        }
        all
    }
}
