//! A small flow on a cluster: a box with a moving lid. `single.rs` is the same flow on one GPU.

use zippy::{Layout, Split, World, include_wgsl};

const N: [i64; 2] = [48, 40];
const WEIGHTS: [f32; 9] = [1., 4., 1., 4., 16., 4., 1., 4., 1.];

fn main() -> zippy::Result<()> {
    zippy::run(|world| {
        let mean = program(world)?;
        if world.rank() == 0 {
            println!("mean speed {mean:.12}");
        }
        Ok(())
    })
}

/// Returns the mean speed after 200 steps.
pub(crate) fn program(world: &World) -> zippy::Result<f64> {
    let cells = Layout::new(N).split([Split::Whole, Split::Even(world.size())]).ghost([1, 1]);
    let populations =
        Layout::new([N[0], N[1], 9]).split([Split::Whole, Split::Even(world.size()), Split::Whole]).ghost([1, 1, 0]);
    let speed = world.array::<f32, 2>("speed", &cells)?;
    let mut now = world.array::<f32, 3>("now", &populations)?;
    let mut next = world.array::<f32, 3>("next", &populations)?;
    now.fill_with(|[_, _, q]| WEIGHTS[q as usize] / 36.0)?;
    let step = world.kernel(include_wgsl!("../shaders/d2q9_step.wgsl"))?;
    for _ in 0..200 {
        let halo = world.start_ghosts(&now)?; // during the computation of interior cells
        let chunks: Vec<_> = speed.chunks().zip(now.chunks()).zip(next.chunks()).collect();
        for ((speed, now), next) in &chunks {
            let call = step.call().write("speed", speed.all()).read("now", now.all()).write("next", next.all());
            call.over(speed.interior()).param("omega", 1.2_f32).param("lid", 0.1_f32).run()?;
        }
        halo.wait()?;
        for ((speed, now), next) in &chunks {
            let call = step.call().write("speed", speed.all()).read("now", now.all()).write("next", next.all());
            call.over(speed.boundary()).param("omega", 1.2_f32).param("lid", 0.1_f32).run()?;
        }
        std::mem::swap(&mut now, &mut next);
    }
    Ok(world.sum(speed.at(..))? / (N[0] * N[1]) as f64)
}
