//! What an algorithm does, as data: rounds of blends between layers and the picture. Pure.

use std::ops::Range;

use zippy::Result;
use zippy::error::CallSite;
use zippy::extents::Index;
use zippy::plan::patterns::Swap;
use zippy::region::Region;

use super::settings::{Algorithm, Layer, check_layers};

/// Where pixels are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Canvas {
    /// A layer's box.
    Layer(usize),
    /// Tiles of the picture, over all ranks, for parts that the picture has elsewhere.
    Tiles,
    /// The picture that is asked for.
    Picture,
}

/// How pixels meet those that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// There is nothing yet: they replace what the memory holds.
    Alone,
    /// They lie in front.
    InFront,
    /// They lie behind.
    Behind,
}

/// A part of the picture that goes from one canvas to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Blend {
    /// Where it is read.
    pub from: Canvas,
    /// Where it is blended.
    pub to: Canvas,
    /// The part, in pixels of the picture.
    pub region: Region,
    /// How it meets what is there.
    pub way: Way,
}

/// Blends of which none reads what another one writes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Round {
    /// What becomes transparent first.
    pub clears: Vec<(Canvas, Region)>,
    /// Then all that are alone, then all in front, then all behind, each in this order where they meet.
    pub blends: Vec<Blend>,
}

/// The rounds that make layers, front first, into a picture.
///
/// Transparent parts do not travel: a blend is within the bounds of what it brings, and the bounds of what was blended
/// are the smallest box around all of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlendPlan {
    /// One after the other.
    pub rounds: Vec<Round>,
}

impl BlendPlan {
    /// The plan for a picture of `size`, layers front first. Direct send blends `tiles`, parts of the picture that do
    /// not meet, on [`Canvas::Tiles`], from where they are collected at last, and the rest in place.
    ///
    /// # Errors
    /// Layers that do not fit the picture or the algorithm, or a radix below 2.
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
                Ok(Swapping { pattern, visible, bounds, frame }.plan(&picture))
            }
        }
    }
}

impl Round {
    /// Clears all of a part but what is kept.
    fn clear(&mut self, canvas: Canvas, all: &Region, kept: &Region) {
        self.clears.extend(all.subtract(kept).into_iter().map(|part| (canvas, part)));
    }

    fn blend(&mut self, from: Canvas, to: Canvas, region: Region, way: Way) {
        if !region.is_empty() {
            self.blends.push(Blend { from, to, region, way });
        }
    }
}

/// The first layer replaces what is there, every other one is blended behind those before it.
fn direct(layers: &[Layer], visible: &[usize], picture: &Region, frame: &Region, tiles: &[Region]) -> BlendPlan {
    let (mut round, mut collect) = (Round::default(), Round::default());
    let mut blend_all = |canvas, part: &Region| {
        let held = |layer: usize| layers[layer].bounds.intersect(part);
        round.clear(canvas, part, &held(visible[0]).unwrap_or(Region::at(part.start, Index::zeros(2))));
        for (place, &layer) in visible.iter().enumerate() {
            let way = if place == 0 { Way::Alone } else { Way::Behind };
            held(layer).into_iter().for_each(|region| round.blend(Canvas::Layer(layer), canvas, region, way));
        }
    };
    let in_place =
        tiles.iter().fold(vec![*picture], |left, tile| left.iter().flat_map(|part| part.subtract(tile)).collect());
    in_place.iter().for_each(|part| blend_all(Canvas::Picture, part));
    for tile in tiles {
        match tile.intersect(frame) {
            Some(part) => {
                blend_all(Canvas::Tiles, &part);
                collect.clear(Canvas::Picture, tile, &part);
                collect.blend(Canvas::Tiles, Canvas::Picture, part, Way::Alone);
            }
            None => collect.clears.push((Canvas::Picture, *tile)),
        }
    }
    let rounds = if tiles.is_empty() { vec![round] } else { vec![round, collect] };
    BlendPlan { rounds }
}

/// A swap of layers with something in them, named by their places in the depth order.
struct Swapping {
    pattern: Swap,
    visible: Vec<usize>,
    /// What each holds by now.
    bounds: Vec<Region>,
    /// What all hold together: its rows are divided.
    frame: Region,
}

impl Swapping {
    fn plan(mut self, picture: &Region) -> BlendPlan {
        let folds = self.pattern.folds();
        let mut rounds = Vec::new();
        if !folds.is_empty() {
            let mut round = Round::default();
            for fold in &folds {
                let behind: Vec<usize> = fold.members[1..].to_vec();
                self.bounds[fold.root()] = self.merge(&mut round, fold.root(), &self.frame, &[], &behind);
            }
            rounds.push(round);
        }
        for number in 0..self.pattern.rounds() {
            let (mut round, mut after) = (Round::default(), self.bounds.clone());
            for &member in self.pattern.active() {
                let Some(step) = self.pattern.step(number, member) else { continue };
                let front: Vec<usize> = step.members[..step.place].iter().rev().copied().collect();
                let behind = &step.members[step.place + 1..];
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
            collect.blend(self.canvas(member), Canvas::Picture, bounds, Way::Alone);
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

    /// Blends what others have of a part onto a member, the nearest in depth first. Returns the bounds of all of it.
    fn merge(&self, round: &mut Round, member: usize, part: &Region, front: &[usize], behind: &[usize]) -> Region {
        let held = |of: usize| self.bounds[of].intersect(part);
        let all = std::iter::once(&member).chain(front).chain(behind).filter_map(|&of| held(of));
        let Some(all) = all.reduce(|all, more| all.bounding(&more)) else {
            return Region::at(part.start, Index::zeros(2));
        };
        round.clear(self.canvas(member), &all, &held(member).unwrap_or(Region::at(all.start, Index::zeros(2))));
        for (others, way) in [(front, Way::InFront), (behind, Way::Behind)] {
            for &other in others {
                if let Some(region) = held(other) {
                    round.blend(self.canvas(other), self.canvas(member), region, way);
                }
            }
        }
        all
    }
}
