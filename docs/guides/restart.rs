//! Guide "Files and restart": heat with a time series for ParaView, and checkpoints.

use std::path::Path;

use serde::{Deserialize, Serialize};
use zippy::{GlobalArray, Layout, Split, World, include_wgsl};
use zippy_store::array::{SaveOptions, TimeSeries, save_with};
use zippy_store::checkpoint::{Checkpoints, Contents};

const SHAPE: [i64; 2] = [60, 40];

/// State of the program, except for arrays.
#[derive(Serialize, Deserialize)]
struct State {
    rate: f32,
    heat_at_start: f64,
}

pub fn main() -> zippy::Result<()> {
    zippy::run(|world| {
        program(world, Path::new("."), 50)?;
        program(world, Path::new("."), 100).map(drop) // goes on at step 50
    })
}

/// Runs up to the step `last`, from the latest checkpoint in `folder` if there is one, and returns
/// the heat. All ranks must see the same folder.
pub fn program(world: &World, folder: &Path, last: u64) -> zippy::Result<f64> {
    let cut = |shape| Layout::new(shape).split_all(Split::Auto).ghost([1, 1]).periodic([true, true]);
    let checkpoints = Checkpoints::new(folder.join("heat.ckpt"), 2);
    let (mut now, mut step, state) = match checkpoints.latest(world)? {
        Some(saved) => (saved.array::<f32, 2>(world, "heat", cut)?, saved.step(), saved.state()?),
        None => {
            let now = world.array::<f32, 2>("now", &cut(SHAPE))?;
            now.fill_with(|[x, y]| ((x * x + 7 * y) % 31) as f32)?;
            let state = State { rate: 0.2, heat_at_start: world.sum(&now)? };
            (now, 0, state)
        }
    };
    let mut next = world.array::<f32, 2>("next", &cut(SHAPE))?;
    let mut series = TimeSeries::open(world, folder.join("heat.pvd"))?;
    series.keep_before(step as f64 + 0.5); // without files after the checkpoint

    while step < last {
        advance(world, &mut now, &mut next, 10, state.rate)?;
        step += 10;
        // `now` and `next` are swapped, so files and checkpoints name the field.
        let file = folder.join(format!("heat_{step:03}.vti"));
        save_with(world, &file, &now, &SaveOptions::new().name("heat"))?;
        series.append(world, step as f64, &file)?;
        if step % 50 == 0 {
            checkpoints.save(world, step, &Contents::new().array_as("heat", &now).state(&state))?;
        }
    }
    let heat = world.sum(&now)?;
    assert!((heat - state.heat_at_start).abs() < 1e-4 * heat, "{heat} of {}", state.heat_at_start);
    Ok(heat)
}

/// Makes steps of heat diffusion and swaps the arrays after each.
fn advance(
    world: &World,
    now: &mut GlobalArray<f32, 2>,
    next: &mut GlobalArray<f32, 2>,
    steps: usize,
    rate: f32,
) -> zippy::Result<()> {
    let diffuse = world.kernel(include_wgsl!("../../shaders/diffuse.wgsl"))?;
    for _ in 0..steps {
        world.ghosts(&*now)?;
        for (a, b) in zippy::zip_chunks((&*now, &*next))? {
            diffuse.call().read("now", a.all()).write("next", b.all()).param("rate", rate).run()?;
        }
        std::mem::swap(now, next);
    }
    Ok(())
}
