//! Grids for tests of grid-independent properties, and equivalent cameras for each grid.

use zippy::Grid;

use super::camera::Camera;

/// Axis directions: along space, rotated, rotated and mirrored, sheared.
const DIRECTIONS: [[[f64; 3]; 3]; 4] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]],
    [[0.6, 0.8, 0.0], [-0.48, 0.36, 0.8], [-0.64, 0.48, -0.6]],
    [[1.0, 0.0, 0.0], [0.28, 0.96, 0.0], [-0.36, 0.48, 0.8]],
];

pub(super) const COUNT: usize = DIRECTIONS.len();

/// Grid number `number` with a spacing, and the camera transformed with its axes.
pub(super) fn grid_and_camera(number: usize, spacing: [f64; 3], camera: &Camera) -> (Grid, Camera) {
    let grid = Grid::from(spacing).with_directions(DIRECTIONS[number]);
    let Camera { position, focal_point, view_up, projection } = *camera;
    let [position, focal_point, view_up] = [position, focal_point, view_up].map(|vector| grid.vector(vector));
    (grid, Camera { position, focal_point, view_up, projection })
}
