//! Device memory of operations on a large array: 800³ f32 (1.9 GiB) with several chunks per rank.

mod common;

use std::time::Instant;

use serde_json::json;
use zippy::{Layout, Result, Split};

use common::{ChunkAccess, Run, on_ranks};

const N: i64 = 800;

/// Upper limit for the device memory of all ranks, relative to the size of the array.
const TARGET: f64 = 1.3;

pub(crate) fn main() -> Result<()> {
    let about = "Peak device memory of all ranks and seconds of operations on an array of 800^3 f32 in 16 chunks with one \
                 ghost layer: creation, ghost update, a shifted copy of nearly all cells within the array, and get and \
                 put of 200^3 cells by each rank.";
    on_ranks("ranks_memory", about, &[ChunkAccess::Mapped, ChunkAccess::Kernels], memory)
}

fn value([x, y, z]: [i64; 3]) -> f32 {
    ((x + N * (y + N * z)) & 0xff_ffff) as f32
}

fn memory(run: &Run<'_>) -> Result<()> {
    let world = run.world;
    let layout = Layout::new([N; 3]).split([Split::Whole, Split::Whole, Split::Even(16)]).ghost([1; 3]);
    let array_bytes = (N * N * N * 4) as f64;
    let (rank, ranks) = (world.rank() as i64, world.size() as i64);
    let step = |operation: &str, f: &mut dyn FnMut() -> Result<()>| -> Result<()> {
        let case = run.named(&format!("memory, 800^3 f32, {operation}"));
        world.barrier()?;
        world.gpu().reset_peak();
        let start = Instant::now();
        f()?;
        world.gpu().wait()?;
        let secs = run.slowest(vec![start.elapsed().as_secs_f64()])?[0];
        let mut peak = [world.gpu().counters().bytes_peak];
        world.group().all_reduce(&mut peak, |sum, more| *sum += more)?;
        if rank == 0 {
            let ratio = peak[0] as f64 / array_bytes;
            let verdict = if ratio <= TARGET { "met" } else { "MISSED" };
            println!("{case:<52} {ratio:.3} of the array's size, target {TARGET}: {verdict}   {secs:.2} s");
            run.add(json!({
                "case": case,
                "peak_bytes": peak[0],
                "peak_to_array": ratio,
                "target": TARGET,
                "secs": secs,
            }));
        }
        Ok(())
    };
    let mut made = None;
    step("creation", &mut || {
        made = Some(world.array::<f32, 3>("large", &layout)?);
        Ok(())
    })?;
    let Some(array) = made else { return Ok(()) };
    let positions = world.elementwise("f32((p.x + 800 * (p.y + 800 * p.z)) & 0xffffff)");
    step("filling by an expression", &mut || positions.call().write("large", array.at(..)))?;
    step("ghosts", &mut || world.ghosts(&array).map(drop))?;
    step("copy", &mut || world.copy(array.at((0..799, .., 0..780)), array.at((1..800, .., 20..800))).map(drop))?;
    // Each box spans several chunks of other ranks.
    let start = (rank + 1) % ranks * (N / ranks) / 2 + 35;
    let part = || array.at([100..300, 200..400, start..start + 200]);
    let mut values = Vec::new();
    step("get", &mut || {
        let ticket = world.get(part())?;
        values = world.fence()?.redeem(ticket)?;
        Ok(())
    })?;
    for (at, &found) in values.iter().enumerate() {
        let at = at as i64;
        let from = [100 + at % 200 - 1, 200 + at / 200 % 200, start + at / 40_000 - 20];
        assert_eq!(found, value(from), "the get returns the cells that the copy has moved");
    }
    step("put", &mut || {
        world.put(&values, part())?;
        world.fence().map(drop)
    })
}
