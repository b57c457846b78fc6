//! Heat diffusion on a 3D torus: ghost updates overlap with the computation of interior cells, and
//! the result is compared with the exact decay of a wave.
//!
//! The program prints a sum and an error with the same bits for every number of ranks.

use std::f64::consts::TAU;

use zippy::{Layout, Split, World, include_wgsl};

/// Prime extents, so that no number of ranks divides them.
const SHAPE: [i64; 3] = [47, 31, 29];
const STEPS: i32 = 60;

fn main() -> zippy::Result<()> {
    zippy::run(program)
}

/// Product of cosines over the torus, between -1 and 1.
fn wave(p: [i64; 3]) -> f64 {
    let cosine = |axis: usize| (TAU * p[axis] as f64 / SHAPE[axis] as f64).cos();
    cosine(0) * cosine(1) * cosine(2)
}

fn program(world: &World) -> zippy::Result<()> {
    let layout = Layout::new(SHAPE).split_all(Split::Auto).ghost([1; 3]).periodic([true; 3]);
    let mut now = world.array::<f32, 3>("now", &layout)?;
    let mut next = world.array::<f32, 3>("next", &layout)?;
    now.fill_with(|p| (1.0 + wave(p)) as f32)?;

    let step = world.kernel(include_wgsl!("../shaders/heat.wgsl"))?;
    for _ in 0..STEPS {
        let update = world.start_ghosts(&now)?;
        for (a, b) in zippy::zip_chunks((&now, &next))? {
            step.call().read("now", a.all()).write("next", b.all()).over(b.interior()).run()?;
        }
        update.wait()?;
        for (a, b) in zippy::zip_chunks((&now, &next))? {
            step.call().read("now", a.all()).write("next", b.all()).over(b.boundary()).run()?;
        }
        std::mem::swap(&mut now, &mut next);
    }

    // Each step of the 7-point stencil multiplies the wave by the same factor.
    let second_differences: f64 = SHAPE.iter().map(|&n| 2.0 - 2.0 * (TAU / n as f64).cos()).sum();
    let decay = (1.0 - 0.1 * second_differences).powi(STEPS);
    let mut error = [0.0_f64];
    for chunk in now.chunks() {
        for (p, value) in chunk.region().points().zip(chunk.all().read()?) {
            error[0] = error[0].max((f64::from(value) - (1.0 + decay * wave([p[0], p[1], p[2]]))).abs());
        }
    }
    world.group().all_reduce(&mut error, |largest, other| *largest = largest.max(*other))?;
    let [error] = error;
    let heat = world.sum(&now)?;
    if world.rank() == 0 {
        println!("after {STEPS} steps: wave {decay:.4} of the first, heat {heat:.3}, error {error:.1e}");
        println!("bits {:x} and {:x}", heat.to_bits(), error.to_bits());
    }
    assert!(error < 1e-5, "the wave differs from the exact solution");
    Ok(())
}
