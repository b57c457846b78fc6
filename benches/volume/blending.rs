//! Compositing alone: the library's algorithms beside those written by hand, from one picture a rank to one on rank 0.

use zippy::extents::Index;
use zippy::region::Region;
use zippy::{GlobalArray, Layout, Result, Split};
use zippy_render::compositing::{Algorithm, Compositor, Encoding, Layer, Pixel, Settings};

use super::super::common::{Run, contender};
use super::super::reference::compositing::{ByHand, Coding};
use super::super::reference::pixel;

/// Pixels along each side.
const SIDE: usize = 1024;

/// The most that the library may take in terms of the reference.
const TARGET: f64 = 1.25;

/// A pixel that both know.
trait Both: Pixel + pixel::Pixel {
    const NAME: &'static str;

    /// How far two orders of blending may be apart in a component.
    const TOLERANCE: f32;

    /// From components of 0 to 1.
    fn of(parts: [f32; 4]) -> Self;

    /// The components, 0 to 1.
    fn parts(self) -> [f32; 4];
}

impl Both for [f32; 4] {
    const NAME: &'static str = "f32";
    const TOLERANCE: f32 = 1e-5;

    fn of(parts: [f32; 4]) -> Self {
        parts
    }

    fn parts(self) -> [f32; 4] {
        self
    }
}

impl Both for u32 {
    const NAME: &'static str = "8 bit";
    const TOLERANCE: f32 = 0.02;

    fn of(parts: [f32; 4]) -> Self {
        u32::from_le_bytes(parts.map(|part| (part * 255.0).round() as u8))
    }

    fn parts(self) -> [f32; 4] {
        self.to_le_bytes().map(|part| f32::from(part) / 255.0)
    }
}

/// All cases of this run's number of ranks.
pub fn measure(run: &Run) -> Result<()> {
    for sparse in [false, true] {
        cases::<[f32; 4]>(run, sparse)?;
        cases::<u32>(run, sparse)?;
    }
    Ok(())
}

/// Columns and rows that a rank's picture may cover; all of them, or a square with a disk of a fifth of the picture.
fn bounds(rank: usize, sparse: bool) -> Region {
    if !sparse {
        return region([0; 2], [SIDE as i64; 2]);
    }
    let (centre, radius) = disk(rank);
    region(centre.map(|at| (at - radius).floor() as i64), centre.map(|at| (at + radius).ceil() as i64 + 1))
}

fn region(start: [i64; 2], end: [i64; 2]) -> Region {
    Region::between(Index::new(&start), Index::new(&end))
}

fn disk(rank: usize) -> ([f64; 2], f64) {
    let radius = SIDE as f64 * (0.2 / std::f64::consts::PI).sqrt();
    let turn = rank as f64 * 2.4;
    let centre = SIDE as f64 / 2.0;
    ([centre + 180.0 * turn.cos(), centre + 180.0 * turn.sin()], radius)
}

/// A rank's picture: translucent, another colour in every pixel.
fn picture<P: Both>(rank: usize, sparse: bool) -> Vec<P> {
    let (centre, radius) = disk(rank);
    let covered = |x: usize, y: usize| {
        !sparse || (x as f64 - centre[0]).powi(2) + (y as f64 - centre[1]).powi(2) < radius * radius
    };
    let pixel = |x: usize, y: usize| {
        let alpha = 0.05 + 0.4 * ((x * 7 + y * 13 + rank * 101) % 97) as f32 / 97.0;
        P::of([alpha * x as f32 / SIDE as f32, alpha * y as f32 / SIDE as f32, alpha * 0.5, alpha])
    };
    let places = (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y)));
    places.map(|(x, y)| if covered(x, y) { pixel(x, y) } else { P::zeroed() }).collect()
}

fn cases<P: Both>(run: &Run, sparse: bool) -> Result<()> {
    let cover = if sparse { "20 % covered" } else { "dense" };
    for (name, algorithm) in [
        ("direct send", Algorithm::DirectSend),
        ("binary swap", Algorithm::BinarySwap),
        ("radix-k of 4", Algorithm::Radix(vec![4])),
    ] {
        let case = format!("compositing, {name}, {}, {cover}", P::NAME);
        if run.options.wants(&run.named(&case)) {
            one::<P>(run, &case, algorithm, sparse)?;
        }
    }
    Ok(())
}

fn one<P: Both>(run: &Run, case: &str, algorithm: Algorithm, sparse: bool) -> Result<()> {
    let (world, group) = (run.world, run.world.group());
    let (size, side) = (world.size(), SIDE as i64);
    let stack = Layout::new([side, side * size as i64]).split([Split::Whole, Split::Even(size)]);
    let given: GlobalArray<P, 2> = world.array("given", &stack)?;
    let pixels: GlobalArray<P, 2> = world.array("pixels", &stack)?;
    let finished: GlobalArray<P, 2> = world.array("finished", &Layout::new([side; 2]).split_all(Split::Whole))?;
    let own = picture::<P>(world.rank(), sparse);
    given.local()?.all().write(&own)?;
    pixels.local()?.all().write(&own)?;
    let whole = region([0; 2], [side; 2]);
    let layer = |rank| Layer { at: [0, side * rank as i64], place: whole, bounds: bounds(rank, sparse) };
    let layers: Vec<Layer> = (0..size).map(layer).collect();
    let swaps = algorithm != Algorithm::DirectSend;
    let encoding = if sparse { Encoding::Auto } else { Encoding::Dense };
    let compositor = Compositor::<P>::new(world, "bench", Settings { algorithm, encoding, termination: 0.0 })?;
    // Swaps use up what they are given; both sides get it anew each time.
    let library = || {
        if swaps {
            world.copy(given.at(..), pixels.at(..))?;
        }
        compositor.composite(&pixels, &layers, &finished)
    };
    let mut by_hand = ByHand::new(own.clone(), if sparse { Coding::Runs } else { Coding::Dense });
    let mut anew = own;
    let mut reference = |by_hand: &mut ByHand<P>| {
        if swaps {
            anew.copy_from_slice(&by_hand.source);
            std::hint::black_box(&mut anew);
            by_hand.binary_swap(group)
        } else {
            by_hand.direct_send(group)
        }
    };
    let moved = library()?;
    reference(&mut by_hand)?;
    if world.rank() == 0 {
        same(&finished.local()?.all().read()?, &by_hand.blended);
    }
    let bytes = moved.bytes_network + moved.bytes_local;
    let name = if swaps { "binary swap by hand on vectors" } else { "direct send by hand on vectors" };
    let contenders = vec![contender("zippy", || library().map(drop)), contender(name, || reference(&mut by_hand))];
    run.compare(case, bytes, Some(TARGET), contenders)
}

/// A reference that does other work than the library would make the ratio worthless.
fn same<P: Both>(library: &[P], reference: &[P]) {
    let far = |(a, b): (&P, &P)| a.parts().iter().zip(b.parts()).any(|(a, b)| (a - b).abs() > P::TOLERANCE);
    assert!(!library.iter().zip(reference).any(far), "the reference blends what the library does");
}
