//! The ray caster on the CPU: the truth that the shader is compared with, in plain Rust.

use super::transfer::TransferTable;
use super::view::View;
use crate::algorithms::image::Image;

/// Samples blended among themselves before they join the picture: partial sums stay small, so that rounding does.
pub(super) const BLOCK: u32 = 32;

/// Adds the samples of one chunk to `image`, behind what it holds: those whose cells lie in `start..end` (cells, each
/// between voxel `c` and `c + 1`). `voxel` gives the value of a voxel by its global coordinate and is asked for
/// `start..=end` only. The twin of `shaders/raycast.wgsl`.
///
/// Local; cost: eight voxels for each sample.
pub fn cast_chunk(
    view: &View,
    table: &TransferTable,
    (start, end): ([i32; 3], [i32; 3]),
    voxel: impl Fn([i32; 3]) -> f32,
    image: &mut Image,
) {
    for row in 0..view.height {
        for column in 0..view.width {
            let ray = view.ray(column, row);
            let pixel = &mut image.pixels[row as usize * view.width as usize + column as usize];
            let mut range = ray.samples_in(view.cells, start, end);
            while !range.is_empty() {
                // Blocks lie on the global lattice, so that whole blocks are the same bits in every chunk.
                let stop = ((range.start / BLOCK + 1) * BLOCK).min(range.end);
                let mut block = [0.0; 4];
                for sample in range.start..stop {
                    let position = ray.position(sample);
                    let cell: [i32; 3] =
                        std::array::from_fn(|a| (position[a].floor() as i32).clamp(start[a], end[a] - 1));
                    let share = std::array::from_fn(|a| (position[a] - cell[a] as f32).clamp(0.0, 1.0));
                    let [red, green, blue, alpha] = table.sample(trilinear(&voxel, cell, share));
                    under(&mut block, [red * alpha, green * alpha, blue * alpha, alpha]);
                }
                under(pixel, block);
                range.start = stop;
            }
        }
    }
}

/// Puts `back` behind `front`; both premultiplied.
pub(super) fn under(front: &mut [f32; 4], back: [f32; 4]) {
    let through = 1.0 - front[3];
    for (f, b) in front.iter_mut().zip(back) {
        *f += through * b;
    }
}

fn trilinear(voxel: &impl Fn([i32; 3]) -> f32, [x, y, z]: [i32; 3], share: [f32; 3]) -> f32 {
    let mix = |a: f32, b: f32, s: f32| a + s * (b - a);
    let row = |y, z| mix(voxel([x, y, z]), voxel([x + 1, y, z]), share[0]);
    let plane = |z| mix(row(y, z), row(y + 1, z), share[1]);
    mix(plane(z), plane(z + 1), share[2])
}
