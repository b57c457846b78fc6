//! What an algorithm does, as data: rounds of blends between layers and the picture. Pure.

use super::settings::{Algorithm, Layer, check_layers};
use crate::error::Result;
use crate::extents::Index;
use crate::plan::patterns::Swap;
use crate::region::Region;
use std::ops::Range;

/// Where pixels are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Canvas {
    /// A layer's box.
    Layer(usize),
    /// Tiles of the picture, over all ranks, for a picture that is not.
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
/// Transparent parts do not travel: a blend is within the bounds of what it brings, and the bounds of what was blended are
/// the smallest box around all of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// One after the other.
    pub rounds: Vec<Round>,
}

impl Plan {
    /// The plan for a picture of `size`, layers front first. With `tiles`, direct send blends on [`Canvas::Tiles`], from
    /// where the picture is collected at last.
    ///
    /// # Errors
    /// Layers that do not fit the picture or the algorithm, or a radix below 2.
    pub fn new(algorithm: &Algorithm, layers: &[Layer], size: [i64; 2], tiles: bool) -> Result<Self> {
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
    fn clear(&mut self, canvas: Canvas, all: &Region, kept: &Region) {
        self.clears.extend(all.subtract(kept).into_iter().map(|part| (canvas, part)));
    }

    fn blend(&mut self, from: Canvas, to: Canvas, region: Region, way: Way) {
        if !region.is_empty() {
            self.blends.push(Blend { from, to, region, way });
        }
    }
}

/// Every layer is blended behind those before it. So is the first, on nothing: all go in one exchange.
fn direct(layers: &[Layer], visible: &[usize], picture: &Region, frame: &Region, tiles: bool) -> Plan {
    let (canvas, all) = if tiles { (Canvas::Tiles, frame) } else { (Canvas::Picture, picture) };
    let mut round = Round { clears: vec![(canvas, *all)], blends: Vec::new() };
    for &layer in visible {
        round.blend(Canvas::Layer(layer), canvas, layers[layer].bounds, Way::Behind);
    }
    let mut rounds = vec![round];
    if tiles {
        let mut collect = Round::default();
        collect.clear(Canvas::Picture, picture, frame);
        collect.blend(Canvas::Tiles, Canvas::Picture, *frame, Way::Alone);
        rounds.push(collect);
    }
    Plan { rounds }
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
    fn plan(mut self, picture: &Region) -> Plan {
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
        Plan { rounds }
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
