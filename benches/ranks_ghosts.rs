//! Ghost update of 128³ f32 per rank with one ghost layer, compared with a hand-written halo
//! exchange: on host vectors if chunks are mapped, else with wgpu. Both use the same
//! transport.

mod common;
mod reference;

use zippy::Exchange;
use zippy::{GlobalArray, Layout, Result, Split};

use common::{ChunkAccess, Run, contender, on_ranks};
use reference::device::{DeviceHalo, read};
use reference::exchange::Messages;
use reference::halo::{Reach, grid, halo};

const N: usize = 128;

/// Upper limit for the ratio of the library's time to that of the reference.
const TARGET: f64 = 2.0;

pub(crate) fn main() -> Result<()> {
    let about = "Ghost update of 128^3 f32 per rank with one ghost layer (6 faces; 26 neighbours; periodic), compared with a \
                 hand-written halo exchange over the same transport: on host vectors (benches/reference/exchange.rs), or \
                 with wgpu if chunks are not mapped (benches/reference/device.rs).";
    on_ranks("ranks_ghosts", about, &[ChunkAccess::Mapped, ChunkAccess::Kernels], |run| {
        for (case, reach, periodic) in [
            ("6 faces", Reach::Faces, false),
            ("26 neighbours", Reach::All, false),
            ("6 faces, periodic", Reach::Faces, true),
            ("26 neighbours, periodic", Reach::All, true),
        ] {
            measure(run, &format!("ghosts, {case}"), reach, periodic)?;
        }
        Ok(())
    })
}

fn value([x, y, z]: [i64; 3]) -> f32 {
    (x + 1000 * (y + 1000 * z) % 16_000_000) as f32
}

fn measure(run: &Run<'_>, case: &str, reach: Reach, periodic: bool) -> Result<()> {
    if !run.options.selects(&run.named(case)) {
        return Ok(());
    }
    let world = run.world;
    let grid = grid(world.size());
    // The host takes seconds to fill larger vectors of the hand-written contender.
    let n = N * run.growth(4 * N.pow(3) as u64, 3).min(2) as usize;
    let layout = Layout::new(grid.map(|chunks| chunks * n))
        .split(grid.map(Split::Even))
        .ghost([1, 1, 1])
        .periodic([periodic; 3]);
    let array = world.array::<f32, 3>("field", &layout)?;
    array.fill_with(value)?;
    let update = || match reach {
        Reach::Faces => Exchange::new().ghosts(&array).faces_only(),
        Reach::All => Exchange::new().ghosts(&array),
    };
    let exchange = halo(world.rank(), grid, n, periodic, reach);
    let bytes = exchange.bytes();
    let mut vector = plain(&array, n)?;
    let library = contender("zippy", || world.exchange(update()).map(drop));
    let mut messages = Messages::default();
    // Lower limit: each exchanged cell is copied out and in.
    let (from, mut to) = (vec![1_u8; bytes as usize], vec![0; bytes as usize]);
    let limit = contender("memcpy in and out", move || {
        for _ in 0..2 {
            to.copy_from_slice(&from);
            std::hint::black_box(&mut to);
        }
        Ok(())
    });
    if run.access == ChunkAccess::Mapped {
        exchange.step_in_place(world.group(), &mut vector, &mut messages)?;
        world.exchange(update())?;
        assert_same(&array, &vector)?;
        let by_hand =
            contender("by hand on vectors", || exchange.step_in_place(world.group(), &mut vector, &mut messages));
        run.compare(case, bytes, Some(TARGET), vec![library, by_hand, limit])
    } else {
        let gpu = world.gpu();
        let mut device_halo = DeviceHalo::new(gpu.raw(), gpu.queue(), &exchange, &vector);
        device_halo.step(world.group())?;
        world.exchange(update())?;
        assert_same(&array, &read(gpu.raw(), gpu.queue(), &device_halo.chunk))?;
        let by_hand = contender("by hand with wgpu", || device_halo.step(world.group()));
        run.compare(case, bytes, Some(TARGET), vec![library, by_hand, limit])
    }
}

/// Initial field of the reference: filled owned cells, zero ghost cells.
fn plain(array: &GlobalArray<f32, 3>, n: usize) -> Result<Vec<f32>> {
    let chunk = array.local()?;
    let start = chunk.region().start;
    let pitch = n + 2;
    let mut vector = vec![0.0; pitch * pitch * pitch];
    for (z, y, x) in (0..n).flat_map(|z| (0..n).flat_map(move |y| (0..n).map(move |x| (z, y, x)))) {
        let global = [x as i64 + start[0], y as i64 + start[1], z as i64 + start[2]];
        vector[x + 1 + pitch * (y + 1 + pitch * (z + 1))] = value(global);
    }
    Ok(vector)
}

fn assert_same(array: &GlobalArray<f32, 3>, vector: &[f32]) -> Result<()> {
    let own = array.local()?.with_ghosts().read()?;
    assert!(own == vector, "library and reference exchange different cells");
    Ok(())
}
