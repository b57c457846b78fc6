//! Interpolation of voxels; equivalent to `shaders/volume/cells.wgsl`.

use super::look::Interpolation;

/// Cell of a box that holds a position (or the nearest cell), and the position within the cell.
pub(super) fn locate(position: [f32; 3], [start, end]: [[i32; 3]; 2]) -> ([i32; 3], [f32; 3]) {
    let cell: [i32; 3] = std::array::from_fn(|a| (position[a].floor() as i32).clamp(start[a], end[a] - 1));
    (cell, std::array::from_fn(|a| (position[a] - cell[a] as f32).clamp(0.0, 1.0)))
}

/// Interpolated value at a fraction of each axis of a cell.
pub(super) fn value_at(
    voxel: &impl Fn([i32; 3]) -> f32,
    interpolation: Interpolation,
    [x, y, z]: [i32; 3],
    share: [f32; 3],
) -> f32 {
    if interpolation == Interpolation::Nearest {
        let [i, j, k] = share.map(|share| (share + 0.5).floor() as i32);
        return voxel([x + i, y + j, z + k]);
    }
    let row = |y, z| between(voxel([x, y, z]), voxel([x + 1, y, z]), share[0]);
    let plane = |z| between(row(y, z), row(y + 1, z), share[1]);
    between(plane(z), plane(z + 1), share[2])
}

fn between(a: f32, b: f32, share: f32) -> f32 {
    a + share * (b - a)
}
