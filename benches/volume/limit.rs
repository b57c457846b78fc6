//! Lower limit of a frame: the arithmetic of its visible samples in plain Rust on all cores, with
//! all data in the first-level cache. The samples are counted on a sixteenth of the rays.

use zippy::Result;
use zippy::extents::Index;
use zippy::region::Region;
use zippy_render::volume::{TransferTable, View};

use super::subject::Subject;

/// Distance between counted rays, in columns and rows.
const STRIDE: u32 = 4;

/// Cells along each side of a cube that fits in the cache.
const CUBE: usize = 15;

/// Number of samples with an opacity above zero until the ray's opacity reaches `opaque`.
pub(crate) fn visible_samples(subject: &Subject, view: &View, table: &TransferTable, opaque: f32) -> Result<u64> {
    let [nx, ny, _] = subject.shape.map(|n| n as usize);
    let voxels = subject.read(&Region::whole(Index::new(&subject.shape)))?;
    let mut count = 0;
    for (row, column) in ray_positions(view) {
        let ray = view.ray(column, row);
        let (mut alpha, mut sample) = (0.0_f32, 0);
        while sample < ray.samples && alpha < opaque {
            let p: [f32; 3] = std::array::from_fn(|axis| ray.entry[axis] + ray.delta[axis] * (sample as f32 + 0.5));
            let cell: [usize; 3] =
                std::array::from_fn(|axis| (p[axis].max(0.0) as i32).min(view.cells[axis] - 1) as usize);
            let share = std::array::from_fn(|axis| p[axis] - cell[axis] as f32);
            let at = cell[0] + nx * (cell[1] + ny * cell[2]);
            let more = colour(table, value(&voxels, at, [nx, nx * ny], share))[3];
            count += u64::from(more > 0.0);
            alpha += (1.0 - alpha) * more;
            sample += 1;
        }
    }
    Ok(count * u64::from(STRIDE * STRIDE))
}

fn ray_positions(view: &View) -> impl Iterator<Item = (u32, u32)> {
    let (width, height) = (view.width, view.height);
    (0..height).step_by(STRIDE as usize).flat_map(move |y| (0..width).step_by(STRIDE as usize).map(move |x| (y, x)))
}

#[inline(always)]
fn value(voxels: &[u8], at: usize, [row, slab]: [usize; 2], share: [f32; 3]) -> f32 {
    let mix = |a: f32, b: f32, s: f32| a + s * (b - a);
    let edge = |at: usize| mix(f32::from(voxels[at]), f32::from(voxels[at + 1]), share[0]);
    let side = |at: usize| mix(edge(at), edge(at + row), share[1]);
    mix(side(at), side(at + slab), share[2])
}

#[inline(always)]
fn colour(table: &TransferTable, value: f32) -> [f32; 4] {
    let last = table.entries.len() - 1;
    let x = ((value - table.first) * table.per_value).clamp(0.0, last as f32);
    let entry = (x as usize).min(last - 1);
    let (a, b) = (table.entries[entry], table.entries[entry + 1]);
    std::array::from_fn(|part| a[part] + (x - entry as f32) * (b[part] - a[part]))
}

pub(crate) fn arithmetic(samples: u64, threads: usize, table: &TransferTable) {
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || std::hint::black_box(one_thread(samples / threads as u64, thread, table)));
        }
    });
}

fn one_thread(samples: u64, seed: usize, table: &TransferTable) -> [f32; 4] {
    const SIDE: usize = CUBE + 1;
    let cube: Vec<u8> = (0..SIDE.pow(3)).map(|at| (at * 31 + seed) as u8).collect();
    let (mut pixel, delta) = ([0.0_f32; 4], [0.37_f32, 0.61, 0.7]);
    let mut p = [0.5_f32; 3];
    for _ in 0..samples {
        let cell = p.map(|p| p as usize);
        let share = std::array::from_fn(|axis| p[axis] - cell[axis] as f32);
        let at = cell[0] + SIDE * (cell[1] + SIDE * cell[2]);
        let [red, green, blue, alpha] = colour(table, value(&cube, at, [SIDE, SIDE * SIDE], share));
        let through = (1.0 - pixel[3]) * alpha;
        [red, green, blue, 1.0].iter().zip(&mut pixel).for_each(|(part, pixel)| *pixel += through * part);
        for axis in 0..3 {
            p[axis] += delta[axis];
            p[axis] -= if p[axis] >= CUBE as f32 { CUBE as f32 } else { 0.0 };
        }
    }
    pixel
}
