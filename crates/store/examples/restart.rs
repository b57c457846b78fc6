//! Heat diffusion on a torus with checkpoints: 45 steps on 4 ranks, then up to step 100 on 3 ranks;
//! the result has the bits of 100 steps on 1 rank. Both arrays are swapped after each step, so the
//! checkpoint names the field and not the array.
//!
//! Run it with `cargo run -p zippy-store --example restart`, or with `cargo xtask mpi -n 3
//! --example restart`: then all three parts run on the launcher's ranks, with the cuts of 4, 3 and
//! 1.

#[allow(unreachable_pub, reason = "shared by programs and libraries")]
#[path = "../../../examples/support/say.rs"]
mod say;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use zippy::collective::CollectiveWorld;
use zippy::transport::{TransportKind, copied, values};
use zippy::{Config, Error, GlobalArray, Layout, Result, Split, World, include_wgsl, run_with};
use zippy_store::checkpoint::{Checkpoints, Contents};

use say::say;

const SHAPE: [i64; 2] = [203, 150];

/// Restart parameters next to the arrays.
#[derive(Serialize, Deserialize)]
struct RestartState {
    rate: f32,
}

/// Layout for `ranks` ranks; more than one chunk per rank is possible.
fn layout_for(ranks: usize) -> Layout {
    Layout::new(SHAPE).split([Split::Even(ranks), Split::Whole]).ghost([1, 1]).periodic([true, true])
}

/// The current field, and the array that the next step writes.
type Buffers = [GlobalArray<f32, 2>; 2];

fn advance(world: &World, [now, next]: &mut Buffers, steps: u64, rate: f32) -> Result<()> {
    let diffuse = world.kernel(include_wgsl!("../../../shaders/diffuse.wgsl"))?;
    for _ in 0..steps {
        world.ghosts(&*now)?;
        for (now, next) in zippy::zip_chunks((&*now, &*next))? {
            diffuse.call().read("now", now.all()).write("next", next.all()).param("rate", rate).run()?;
        }
        std::mem::swap(now, next);
    }
    Ok(())
}

fn initial_fields(world: &World, ranks: usize) -> Result<Buffers> {
    let now = world.array::<f32, 2>("now", &layout_for(ranks))?;
    now.fill_with(|[x, y]| ((x * x + 7 * y) % 31) as f32)?;
    Ok([now, world.array("next", &layout_for(ranks))?])
}

/// Saves a checkpoint every 15 steps, written while the next steps are computed.
fn run_to_step_45(world: &World, checkpoints: &Checkpoints) -> Result<()> {
    let (mut heat, state) = (initial_fields(world, 4)?, RestartState { rate: 0.125 });
    let mut pending = None;
    for step in (15..=45).step_by(15) {
        advance(world, &mut heat, 15, state.rate)?;
        let started = checkpoints.start(world, step, &Contents::new().array_as("heat", &heat[0]).state(&state))?;
        if let Some(before) = pending.replace(started) {
            before.wait()?;
        }
    }
    pending.map_or(Ok(()), |last| last.wait())
}

fn restart_to_step_100(world: &World, checkpoints: &Checkpoints) -> Result<()> {
    let checkpoint = checkpoints.latest(world)?.ok_or_else(|| Error::program("there is no checkpoint"))?;
    let state: RestartState = checkpoint.state()?;
    let now = checkpoint.array::<f32, 2>(world, "heat", |_| layout_for(3))?;
    let mut heat = [now, world.array("next", &layout_for(3))?];
    advance(world, &mut heat, 100 - checkpoint.step(), state.rate)?;
    if world.rank() == 0 {
        say(format_args!("step {} of {} ranks goes on on {}", checkpoint.step(), checkpoint.ranks(), world.size()))?;
    }
    checkpoints.save(world, 100, &Contents::new().array_as("heat", &heat[0]).state(&state))
}

/// Runs all 100 steps from the start and counts the cells that differ from the last checkpoint.
fn count_differing_cells(world: &World, checkpoints: &Checkpoints) -> Result<u64> {
    let mut heat = initial_fields(world, 1)?;
    advance(world, &mut heat, 100, 0.125)?;
    let [heat, _] = heat;
    let expected: Vec<_> = heat.chunks().map(|chunk| chunk.all().read()).collect::<Result<_>>()?;
    checkpoints.at(world, 100)?.fill_as(world, "heat", &heat)?;
    let mut differing = [0_u64];
    for (chunk, expected) in heat.chunks().zip(expected) {
        let cells = chunk.all().read()?;
        differing[0] += cells.iter().zip(expected).filter(|(a, b)| a.to_bits() != b.to_bits()).count() as u64;
    }
    world.failing("counting cells", || world.group().all_reduce(&mut differing, |sum, more| *sum += more))?;
    Ok(differing[0])
}

fn main() -> Result<()> {
    let runs = run_with(Config::new(), |world| {
        let id = (world.rank() == 0).then(|| copied(&[std::process::id()]));
        let id = values::<u32>(&world.failing("naming a directory", || world.group().broadcast(0, id))?)?[0];
        Ok((world.group().kind(), std::env::temp_dir().join(format!("zippy-restart-{id}.ckpt"))))
    })?;
    let (kind, path): (TransportKind, PathBuf) = runs.into_iter().next().expect("a run has a rank");
    let on = |ranks| if kind == TransportKind::Mpi { Config::new() } else { Config::threads(ranks) };
    let checkpoints = Checkpoints::new(&path, 2);
    run_with(on(4), |world| run_to_step_45(world, &checkpoints))?;
    run_with(on(3), |world| restart_to_step_100(world, &checkpoints))?;
    let differing = run_with(on(1), |world| {
        let differing = count_differing_cells(world, &checkpoints)?;
        if world.rank() == 0 {
            say(format_args!(
                "{differing} of {} cells differ from 100 steps on {}",
                SHAPE[0] * SHAPE[1],
                world.size()
            ))?;
            std::fs::remove_dir_all(&path).map_err(|error| Error::program(error.to_string()))?;
        }
        Ok(differing)
    })?;
    if differing[0] == 0 { Ok(()) } else { Err(Error::program("a restart has changed the result")) }
}
