//! Compositing of one picture per rank into one picture on rank 0: the library's algorithms,
//! compared with hand-written algorithms.

use zippy::extents::Index;
use zippy::region::Region;
use zippy::{GlobalArray, Layout, Result, Split};
use zippy_render::compositing::{Algorithm, Compositor, Encoding, Layer, Pixel, Settings};

use super::super::common::{Run, contender};
use super::super::reference::compositing::{Coding, HandWrittenCompositor};
use super::super::reference::pixel;

/// Pixels along each side.
const SIDE: usize = 1024;

/// Upper limit for the ratio of the library's time to that of the reference.
const TARGET: f64 = 1.25;

/// A pixel type that library and reference support.
trait SharedPixel: Pixel + pixel::Pixel {
    const NAME: &'static str;

    /// Largest difference of a component between two orders of blending.
    const TOLERANCE: f32;

    /// Creates a pixel from components between 0 and 1.
    fn from_components(components: [f32; 4]) -> Self;

    /// Components between 0 and 1.
    fn components(self) -> [f32; 4];
}

impl SharedPixel for [f32; 4] {
    const NAME: &'static str = "f32";
    const TOLERANCE: f32 = 1e-5;

    fn from_components(components: [f32; 4]) -> Self {
        components
    }

    fn components(self) -> [f32; 4] {
        self
    }
}

impl SharedPixel for u32 {
    const NAME: &'static str = "8 bit";
    const TOLERANCE: f32 = 0.02;

    fn from_components(components: [f32; 4]) -> Self {
        u32::from_le_bytes(components.map(|component| (component * 255.0).round() as u8))
    }

    fn components(self) -> [f32; 4] {
        self.to_le_bytes().map(|component| f32::from(component) / 255.0)
    }
}

pub(crate) fn measure(run: &Run<'_>) -> Result<()> {
    for sparse in [false, true] {
        cases::<[f32; 4]>(run, sparse)?;
        cases::<u32>(run, sparse)?;
    }
    Ok(())
}

/// Bounds of the pixels that a rank's picture covers: the whole picture, or if `sparse` the square
/// around a disk with 20 % of the pixels.
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

/// Picture of a rank: translucent, with a different colour in each pixel.
fn picture<P: SharedPixel>(rank: usize, sparse: bool) -> Vec<P> {
    let (centre, radius) = disk(rank);
    let covered = |x: usize, y: usize| {
        !sparse || (x as f64 - centre[0]).powi(2) + (y as f64 - centre[1]).powi(2) < radius * radius
    };
    let pixel = |x: usize, y: usize| {
        let alpha = 0.05 + 0.4 * ((x * 7 + y * 13 + rank * 101) % 97) as f32 / 97.0;
        P::from_components([alpha * x as f32 / SIDE as f32, alpha * y as f32 / SIDE as f32, alpha * 0.5, alpha])
    };
    let positions = (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y)));
    positions.map(|(x, y)| if covered(x, y) { pixel(x, y) } else { P::zeroed() }).collect()
}

fn cases<P: SharedPixel>(run: &Run<'_>, sparse: bool) -> Result<()> {
    let cover = if sparse { "20 % covered" } else { "dense" };
    for (name, algorithm) in [
        ("direct send", Algorithm::DirectSend),
        ("binary swap", Algorithm::BinarySwap),
        ("radix-k of 4", Algorithm::Radix(vec![4])),
    ] {
        let case = format!("compositing, {name}, {}, {cover}", P::NAME);
        if run.options.selects(&run.named(&case)) {
            measure_case::<P>(run, &case, algorithm, sparse)?;
        }
    }
    Ok(())
}

fn measure_case<P: SharedPixel>(run: &Run<'_>, case: &str, algorithm: Algorithm, sparse: bool) -> Result<()> {
    let (world, group) = (run.world, run.world.group());
    let (size, side) = (world.size(), SIDE as i64);
    let stack = Layout::new([side, side * size as i64]).split([Split::Whole, Split::Even(size)]);
    let source: GlobalArray<P, 2> = world.array("source", &stack)?;
    let pixels: GlobalArray<P, 2> = world.array("pixels", &stack)?;
    let finished: GlobalArray<P, 2> = world.array("finished", &Layout::new([side; 2]).split_all(Split::Whole))?;
    let own = picture::<P>(world.rank(), sparse);
    source.local()?.all().write(&own)?;
    pixels.local()?.all().write(&own)?;
    let whole = region([0; 2], [side; 2]);
    let layer = |rank| Layer { at: [0, side * rank as i64], place: whole, bounds: bounds(rank, sparse) };
    let layers: Vec<Layer> = (0..size).map(layer).collect();
    let swaps = algorithm != Algorithm::DirectSend;
    let encoding = if sparse { Encoding::Auto } else { Encoding::Dense };
    let compositor = Compositor::<P>::new(world, "bench", Settings { algorithm, encoding, termination: 0.0 })?;
    // Binary swap and radix-k overwrite their input, so that both sides copy it first.
    let library = || {
        if swaps {
            world.copy(source.at(..), pixels.at(..))?;
        }
        compositor.composite(&pixels, &layers, &finished)
    };
    let mut by_hand = HandWrittenCompositor::new(own.clone(), if sparse { Coding::Runs } else { Coding::Dense });
    let mut input_copy = own;
    let mut reference = |by_hand: &mut HandWrittenCompositor<P>| {
        if swaps {
            input_copy.copy_from_slice(&by_hand.source);
            std::hint::black_box(&mut input_copy);
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

fn same<P: SharedPixel>(library: &[P], reference: &[P]) {
    let far = |(a, b): (&P, &P)| a.components().iter().zip(b.components()).any(|(a, b)| (a - b).abs() > P::TOLERANCE);
    assert!(!library.iter().zip(reference).any(far), "library and reference blend different pictures");
}
