//! One-layer ghost update of 128³ f32 a rank, beside an exchange written by hand: on plain vectors where chunks are mapped,
//! with wgpu where kernels pack them. Both send over the same transport.

mod common;
mod reference;

use zippy::Exchange;
use zippy::{GlobalArray, Layout, Result, Split};

use common::{Path, Run, contender, on_ranks};
use reference::device::{DeviceHalo, read};
use reference::exchange::Messages;
use reference::halo::{Reach, grid, halo};

/// Cells of a rank's block along each axis.
const N: usize = 128;

/// The most that the library may take in terms of the reference.
const TARGET: f64 = 2.0;

pub fn main() -> Result<()> {
    let about = "One-layer ghost update of 128^3 f32 a rank (6 faces; 26 neighbours; periodic) beside a halo exchange written \
                 by hand on plain vectors with the same transport (benches/reference/exchange.rs), and where chunks are not \
                 mapped beside one written by hand with wgpu (benches/reference/device.rs).";
    on_ranks("ranks_ghosts", about, &[Path::Mapped, Path::Kernels], |run| {
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

fn measure(run: &Run, case: &str, reach: Reach, periodic: bool) -> Result<()> {
    if !run.options.wants(&run.named(case)) {
        return Ok(());
    }
    let world = run.world;
    let grid = grid(world.size());
    // Larger vectors of the hand-written contender take seconds to fill.
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
    // What a step cannot do without: reading the cells and writing them.
    let (from, mut to) = (vec![1_u8; bytes as usize], vec![0; bytes as usize]);
    let limit = contender("memcpy in and out", move || {
        for _ in 0..2 {
            to.copy_from_slice(&from);
            std::hint::black_box(&mut to);
        }
        Ok(())
    });
    if run.path == Path::Mapped {
        exchange.within(world.group(), &mut vector, &mut messages)?;
        world.exchange(update())?;
        same(&array, &vector)?;
        let by_hand = contender("by hand on vectors", || exchange.within(world.group(), &mut vector, &mut messages));
        run.compare(case, bytes, Some(TARGET), vec![library, by_hand, limit])
    } else {
        let gpu = world.gpu();
        let mut device_halo = DeviceHalo::new(gpu.raw(), gpu.queue(), &exchange, &vector);
        device_halo.step(world.group())?;
        world.exchange(update())?;
        same(&array, &read(gpu.raw(), gpu.queue(), &device_halo.chunk))?;
        let by_hand = contender("by hand with wgpu", || device_halo.step(world.group()));
        run.compare(case, bytes, Some(TARGET), vec![library, by_hand, limit])
    }
}

/// The field of the reference before the first step: own cells filled, ghost cells zero.
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

/// A reference that does other work than the library would make the ratio worthless.
fn same(array: &GlobalArray<f32, 3>, vector: &[f32]) -> Result<()> {
    let own = array.local()?.with_ghosts().read()?;
    assert!(own == vector, "the reference exchanges what the library does");
    Ok(())
}
