//! A collective of one's own: a smoother that updates ghost cells between its half sweeps.
//!
//! `docs/own_collective.md` explains the steps. The program compares all cells with a plain loop
//! over the whole field: the bits do not depend on the number of ranks.

#[allow(unreachable_pub, reason = "shared by programs and libraries")]
#[path = "support/say.rs"]
mod say;

use say::say;
use zippy::collective::{Collective, CollectiveWorld};
use zippy::error::CallSite;
use zippy::{Error, GlobalArray, KernelSource, Layout, Split, World};

const SHAPE: [i64; 2] = [46, 34];
const SWEEPS: u32 = 12;

/// Replaces each cell of one colour of a chessboard by the mean of its neighbours, which have the
/// other colour.
const HALF_SWEEP: &str = "
@group(0) @binding(0) var<storage, read_write> field: array<f32>;
@group(0) @binding(1) var<uniform> colour: i32;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = field_position(id);
    let cell = field_global(p);
    if !field_inside(p) || ((cell.x + cell.y) & 1) != colour { return; }
    let x = vec2<i32>(1, 0);
    let y = vec2<i32>(0, 1);
    let sum = (field_load(p - x) + field_load(p + x)) + (field_load(p - y) + field_load(p + y));
    field_store(p, 0.25 * sum);
}";

/// Smooths a periodic field in place, and returns the largest change of a cell in the last sweep.
/// Collective; two ghost updates per sweep and one all-reduce.
///
/// # Errors
/// A field without ghost cells, or with an odd extent; a failure of any rank.
#[track_caller]
pub fn smooth(world: &World, field: &GlobalArray<f32, 2>, sweeps: u32) -> zippy::Result<f32> {
    let _call = CallSite::enter();
    let _operation = world.enter_operation("smooth");
    let chunks = field.core().chunks();
    // Every rank knows the layout, so all ranks return this error, and the world stays usable.
    for axis in 0..2 {
        let has_ghosts = chunks.ghost_lo()[axis] > 0 && chunks.ghost_hi()[axis] > 0;
        if !has_ghosts || field.shape()[axis] % 2 != 0 {
            let text = format!("{} has no ghost cells or an odd extent along axis {axis}", field.name());
            return Err(Error::program(text));
        }
    }
    let call = Collective::new("smooth").section(field.core(), field.core().bounds()).also_compare(sweeps);
    world.run_collective(call, || Ok(()))?;
    let cells = || field.chunks().map(|chunk| chunk.all().read()).collect::<zippy::Result<Vec<_>>>();
    let mut before = Vec::new();
    for half_sweep in 0..2 * sweeps {
        let colour = (half_sweep % 2) as i32;
        world.ghosts(field)?;
        // An error of one rank reaches the other ranks.
        world.failing("smooth", || {
            if half_sweep + 2 == 2 * sweeps {
                before = cells()?;
            }
            let kernel = world.cached_kernel(&KernelSource::text("half_sweep.wgsl", HALF_SWEEP))?;
            for chunk in field.chunks() {
                kernel.call().update("field", chunk.all()).param("colour", colour).run()?;
            }
            Ok(())
        })?;
    }
    world.run_collective(Collective::new("smooth: change"), || {
        let pairs = before.iter().flatten().copied().zip(cells()?.into_iter().flatten());
        let mut change = [pairs.fold(0.0_f32, |most, (old, new)| most.max((new - old).abs()))];
        world.inner_group().all_reduce(&mut change, |most, other| *most = most.max(*other))?;
        Ok(change[0])
    })
}

/// The same on one rank, with plain loops.
fn smooth_plainly(field: &mut [f32], sweeps: u32) {
    let index = |x: i64, y: i64| (x.rem_euclid(SHAPE[0]) + SHAPE[0] * y.rem_euclid(SHAPE[1])) as usize;
    for half_sweep in 0..2 * i64::from(sweeps) {
        for (x, y) in (0..SHAPE[1]).flat_map(|y| (0..SHAPE[0]).map(move |x| (x, y))) {
            if (x + y) % 2 == half_sweep % 2 {
                let at = |x, y| field[index(x, y)];
                let sum = (at(x - 1, y) + at(x + 1, y)) + (at(x, y - 1) + at(x, y + 1));
                field[index(x, y)] = 0.25 * sum;
            }
        }
    }
}

fn main() -> zippy::Result<()> {
    zippy::run(program)
}

fn program(world: &World) -> zippy::Result<()> {
    let noise = |[x, y]: [i64; 2]| ((x * 7919 + y * 104_729) % 1000) as f32;
    let layout = Layout::new(SHAPE).split_all(Split::Auto).ghost([1, 1]).periodic([true, true]);
    let field = world.array::<f32, 2>("field", &layout)?;
    field.fill_with(noise)?;
    let change = smooth(world, &field, SWEEPS)?;

    let mut expected: Vec<f32> = (0..SHAPE[1]).flat_map(|y| (0..SHAPE[0]).map(move |x| [x, y])).map(noise).collect();
    smooth_plainly(&mut expected, SWEEPS);
    for chunk in field.chunks() {
        for (p, value) in chunk.region().points().zip(chunk.all().read()?) {
            assert_eq!(value.to_bits(), expected[(p[0] + SHAPE[0] * p[1]) as usize].to_bits(), "cell {p:?}");
        }
    }
    assert!(change > 0.0 && change < 100.0, "{change}");

    // A mistake is an error of every rank that names the line of the call.
    let flat = world.array::<f32, 2>("flat", &Layout::new(SHAPE))?;
    let mistake = smooth(world, &flat, 1).unwrap_err();
    assert!(mistake.to_string().contains("flat has no ghost cells"), "{mistake}");
    assert_eq!(mistake.call_site().map(|site| site.file()), Some(file!()));
    if world.rank() == 0 {
        say(format!("the last of {SWEEPS} sweeps changed a cell by {change} at most"))?;
    }
    Ok(())
}
