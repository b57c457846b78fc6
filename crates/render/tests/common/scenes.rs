//! Layers whose pixels encode layer, position and component, in an array on any ranks, and their
//! expected blend.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::sync::Mutex;

use zippy::extents::Index;
use zippy::region::Region;
use zippy::{ArrayOptions, Config, GlobalArray, Layout, Moved, Ownership, Split, World, run_with};
use zippy_render::compositing::{Algorithm, Compositor, Encoding, Layer, Pixel, Settings};

pub(crate) fn region(low: [i64; 2], high: [i64; 2]) -> Region {
    Region::between(Index::new(&low), Index::new(&high))
}

/// Pixel format with conversions for tests.
pub(crate) trait Sample: Pixel {
    /// Tolerance of one component against a blend in f64.
    const TOLERANCE: f64;
    /// True if termination applies to the format.
    const TERMINATES: bool;
    fn of(colour: [f64; 4]) -> Self;
    fn components(self) -> [f64; 4];
    fn bits(self) -> [u32; 4];
}

impl Sample for [f32; 4] {
    const TOLERANCE: f64 = 4e-6;
    const TERMINATES: bool = true;

    fn of(colour: [f64; 4]) -> Self {
        colour.map(|c| c as f32)
    }

    fn components(self) -> [f64; 4] {
        self.map(f64::from)
    }

    fn bits(self) -> [u32; 4] {
        self.map(f32::to_bits)
    }
}

impl Sample for u32 {
    // Half a step for each of up to ten roundings.
    const TOLERANCE: f64 = 5.0 / 255.0;
    const TERMINATES: bool = false;

    fn of(colour: [f64; 4]) -> Self {
        u32::from_le_bytes(colour.map(|c| (c * 255.0).round() as u8))
    }

    fn components(self) -> [f64; 4] {
        self.to_le_bytes().map(|byte| f64::from(byte) / 255.0)
    }

    fn bits(self) -> [u32; 4] {
        self.to_le_bytes().map(u32::from)
    }
}

/// Premultiplied pixel; opacities from 0 to 1, both ends present. Four fifths of the pixels of
/// sparse layers are empty.
pub(crate) fn pixel(layer: usize, [x, y]: [i64; 2], sparse: bool) -> [f64; 4] {
    let mix = |n: usize| {
        ((layer * 7919 + x as usize * 104_729 + y as usize * 1_299_709 + n * 15_485_863) % 1009) as f64 / 1008.0
    };
    let alpha = match (layer + x as usize + y as usize) % 5 {
        0 => 0.0,
        1 if layer.is_multiple_of(3) => 1.0,
        _ if sparse && mix(4) > 0.25 => 0.0,
        _ => mix(3) * 0.6,
    };
    [mix(0) * alpha, mix(1) * alpha, mix(2) * alpha, alpha]
}

#[derive(Clone)]
pub(crate) struct Scene {
    pub size: [i64; 2],
    pub layers: Vec<Layer>,
    pub sparse: bool,
    pub algorithm: Algorithm,
    pub encoding: Encoding,
    pub termination: f32,
}

impl Scene {
    /// Layers with these bounds, of the size of the image or, with `tight`, of their bounds;
    /// stacked in the array of pixels.
    pub(crate) fn new(size: [i64; 2], bounds: &[Region], tight: bool) -> Self {
        let layer = |(number, bounds): (usize, &Region)| Layer {
            at: [0, number as i64 * size[1]],
            place: if tight { *bounds } else { region([0, 0], size) },
            bounds: *bounds,
        };
        let layers = bounds.iter().enumerate().map(layer).collect();
        let (algorithm, encoding) = (Algorithm::DirectSend, Encoding::Dense);
        Self { size, layers, sparse: false, algorithm, encoding, termination: 0.0 }
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings { algorithm: self.algorithm.clone(), encoding: self.encoding, termination: self.termination }
    }

    /// Array with the layers' pixels, layer `i` on rank `owners[i]`; pixels outside of the bounds
    /// are poisoned.
    pub(crate) fn pixels<P: Sample>(&self, world: &World, owners: &[usize]) -> zippy::Result<GlobalArray<P, 2>> {
        let [width, height] = self.size;
        let count = self.layers.len();
        let layout = Layout::new([width, height * count as i64]).split([Split::Whole, Split::Even(count)]);
        let table = (0..count).map(|layer| owners[layer % owners.len()] % world.size()).collect();
        let pixels = world
            .array::<P, 2>("pixels", ArrayOptions::new(&layout).owned_by(Ownership::table(table, world.size())?))?;
        self.fill(&pixels)?;
        Ok(pixels)
    }

    pub(crate) fn fill<P: Sample>(&self, pixels: &GlobalArray<P, 2>) -> zippy::Result<()> {
        pixels.fill_with(|[x, y]| {
            let number = (y / self.size[1]) as usize;
            let layer = &self.layers[number];
            let at = [layer.place.start[0] + x, layer.place.start[1] + y % self.size[1]];
            let inside = layer.bounds.contains(&Index::new(&at));
            P::of(if inside { pixel(number, at, self.sparse) } else { [0.9, 0.8, 0.7, 0.5] })
        })
    }

    /// Blend of the layers in sequence, in f64, with termination. Swaps blend in another order and
    /// may differ by the termination.
    pub(crate) fn expected<P: Sample>(&self, at: [i64; 2]) -> [f64; 4] {
        let holding = self.layers.iter().enumerate().filter(|(_, layer)| layer.bounds.contains(&Index::new(&at)));
        let first = self.layers.iter().position(|layer| !layer.bounds.is_empty());
        holding.fold([0.0; 4], |front: [f64; 4], (number, _)| {
            let back = P::of(pixel(number, at, self.sparse)).components();
            let mut sum: [f64; 4] = std::array::from_fn(|c| front[c] + (1.0 - front[3]) * back[c]);
            if P::TERMINATES && Some(number) != first && sum[3] >= 1.0 - f64::from(self.termination) {
                sum[3] = 1.0;
            }
            sum
        })
    }

    /// Blends on `ranks` ranks, twice with the same compositor, into an image of this layout, and
    /// compares every pixel with [`expected`](Self::expected). Returns the image's bits and rank
    /// 0's moved data, on the process of rank 0.
    pub(crate) fn check<P: Sample>(
        &self,
        ranks: usize,
        owners: &[usize],
        cuts: [Split; 2],
    ) -> Option<(Vec<[u32; 4]>, Moved)> {
        let seen = Mutex::new(None);
        run_with(Config::threads(ranks), |world| {
            let pixels = self.pixels::<P>(world, owners)?;
            let layout = Layout::new(self.size).split(cuts.clone());
            let finished = world.array::<P, 2>("finished", &layout)?;
            let compositor = Compositor::new(world, "composite", self.settings())?;
            for _ in 0..2 {
                finished.fill(P::of([0.3, 0.4, 0.5, 0.6]))?;
                self.fill(&pixels)?;
                let moved = compositor.composite(&pixels, &self.layers, &finished)?;
                let all = world.get(finished.at(..))?;
                let picture = world.fence()?.redeem(all)?;
                self.compare(&picture);
                if world.rank() == 0 {
                    *seen.lock().unwrap() = Some((picture.into_iter().map(P::bits).collect(), moved));
                }
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{:?} of {} on {ranks}: {error}", self.algorithm, self.layers.len()));
        seen.into_inner().unwrap()
    }

    fn compare<P: Sample>(&self, picture: &[P]) {
        let swaps = self.algorithm != Algorithm::DirectSend;
        let tolerance = P::TOLERANCE + if swaps { f64::from(self.termination) } else { 0.0 };
        for (at, got) in region([0, 0], self.size).points().map(|p| [p[0], p[1]]).zip(picture) {
            let (got, expected) = (got.components(), self.expected::<P>(at));
            let close = (0..4).all(|c| (got[c] - expected[c]).abs() <= tolerance);
            let (algorithm, encoding) = (&self.algorithm, self.encoding);
            assert!(
                close,
                "{algorithm:?}, {encoding:?}, {} layers, {at:?}: {got:?} for {expected:?}",
                self.layers.len()
            );
        }
    }
}
