//! A small flow on one GPU: a box with a moving lid. `cluster.rs` is the same flow on a cluster.

use zippy::{Layout, World, include_wgsl};

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
    let cells = Layout::new(N);
    let populations = Layout::new([N[0], N[1], 9]);
    let speed = world.local_array::<f32, 2>("speed", &cells)?;
    let mut now = world.local_array::<f32, 3>("now", &populations)?;
    let mut next = world.local_array::<f32, 3>("next", &populations)?;
    now.all().fill_with(|[_, _, q]| WEIGHTS[q as usize] / 36.0)?;
    let step = world.kernel(include_wgsl!("../shaders/d2q9_step.wgsl"))?;
    for _ in 0..200 {
        let call = step.call().write("speed", speed.all()).read("now", now.all()).write("next", next.all());
        call.param("omega", 1.2_f32).param("lid", 0.1_f32).run()?;
        std::mem::swap(&mut now, &mut next);
    }
    Ok(world.sum(speed.all())? / (N[0] * N[1]) as f64)
}
