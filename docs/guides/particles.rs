//! Guide "Particles": they drift in a flow, move to the rank that owns their cell, and are counted
//! by cell.

use zippy::array::Growable;
use zippy::{Element, GlobalArray, Layout, Split, World, include_wgsl};

use crate::slice;

/// Cells along each axis of the box.
const SIDE: i64 = 128;
const PARTICLES: u32 = 100_000;

/// A particle: the same fields as in the kernels.
#[derive(Clone, Copy, Element)]
#[repr(C)]
pub struct Particle {
    position: [f32; 2],
    number: u32,
    steps: u32,
}

pub fn main() -> zippy::Result<()> {
    zippy::run(|world| {
        let counts = program(world)?;
        let shades = world.array::<f32, 2>("shades", &Layout::new([SIDE, SIDE]).split_all(Split::Auto))?;
        let shade = world.elementwise("min(sqrt(f32(n)), 8.0)");
        shade.call().read("n", counts.at(..)).write("shade", shades.at(..))?;
        slice::save(world, shades.at(..), "particles.png")
    })
}

/// Returns the number of particles in each cell after the last step.
pub fn program(world: &World) -> zippy::Result<GlobalArray<u32, 2>> {
    let counts = world.array::<u32, 2>("counts", &Layout::new([SIDE, SIDE]).split_all(Split::Auto))?;
    let drift = world.kernel(include_wgsl!("drift.wgsl"))?;
    let count = world.kernel(include_wgsl!("count.wgsl"))?;

    // Each rank begins with its share of the particles, wherever they are.
    let mut particles = world.growable::<Particle>("particles")?;
    let share = |rank: usize| (u64::from(PARTICLES) * rank as u64 / world.size() as u64) as u32;
    let own: Vec<Particle> = (share(world.rank())..share(world.rank() + 1)).map(start).collect();
    particles.append(&own)?;

    for _ in 0..4 {
        for _ in 0..50 {
            drift.call().update("particles", particles.all()).param("side", SIDE as f32).run()?;
        }
        particles = moved_to_owners(world, &particles, &counts)?;
    }

    counts.fill(0)?;
    for chunk in counts.chunks() {
        count.call().read("particles", particles.all()).update("counts", chunk.all()).over(particles.all()).run()?;
    }
    assert_eq!(world.sum(&counts)?, i128::from(PARTICLES), "each particle is in one cell");
    // Every particle is still there, once: the sum of all numbers is known.
    let numbers: u64 = particles.all().read()?.iter().map(|particle| u64::from(particle.number)).sum();
    let mut sum = [numbers];
    world.group().all_reduce(&mut sum, |a, b| *a += b)?;
    assert_eq!(sum[0], u64::from(PARTICLES) * u64::from(PARTICLES - 1) / 2);
    Ok(counts)
}

/// Sends each particle to the rank that owns its cell.
fn moved_to_owners(
    world: &World,
    particles: &Growable<Particle>,
    cells: &GlobalArray<u32, 2>,
) -> zippy::Result<Growable<Particle>> {
    let owner = |particle: &Particle| {
        let cell = particle.position.map(|x| (x as i64).min(SIDE - 1));
        cells.to_local(cell).map_or(0, |local| local.owner.rank as u32)
    };
    let owners: Vec<u32> = particles.all().read()?.iter().map(owner).collect();
    let mut ranks = world.growable::<u32>("ranks")?;
    ranks.append(&owners)?;
    Ok(world.deliver("particles", particles.all(), ranks.all())?.elements)
}

/// Particle `number` at the start: anywhere in a stripe.
fn start(number: u32) -> Particle {
    let random = |salt: u32| {
        let mixed = number.wrapping_mul(2).wrapping_add(salt).wrapping_mul(0x9e37_79b9);
        let mixed = (mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca6b);
        ((mixed ^ mixed >> 13) >> 8) as f32 / (1 << 24) as f32
    };
    let position = [SIDE as f32 * (0.35 + 0.3 * random(0)), SIDE as f32 * random(1)];
    Particle { position, number, steps: 0 }
}
