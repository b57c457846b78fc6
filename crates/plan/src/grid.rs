//! [`Grid`]: positions of the cells of an array in space.

use crate::error::GridError;

/// Positions of the cells of a 3-D array in space: origin, spacing, and directions of the axes.
///
/// The centre of cell `[i, j, k]` is at `origin + i * spacing[0] * directions[0] + j * spacing[1] *
/// directions[1] + k * spacing[2] * directions[2]`. Files, isosurfaces, pictures and flows share
/// this type, so that a mesh and a volume of the same grid coincide. Indices can be fractions and
/// outside of the array.
///
/// The position of a cell in the default grid is its index. A grid from a spacing has the axes of
/// space and cell `[0, 0, 0]` at 0.
///
/// ```
/// use zippy_plan::Grid;
///
/// // Axis 0 of the array runs along -y, axis 1 along x: a quarter turn.
/// let grid = Grid::new([10.0, 20.0, 30.0], [0.5, 0.5, 2.0])
///     .with_directions([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]);
/// assert_eq!(grid.position([4.0, 2.0, 1.0]), [11.0, 18.0, 32.0]);
/// assert_eq!(grid.index([11.0, 18.0, 32.0]), [4.0, 2.0, 1.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// Position of the centre of cell `[0, 0, 0]`.
    pub origin: [f64; 3],
    /// Distance between neighbouring cell centres along each axis of the array, positive also for a
    /// mirrored axis.
    pub spacing: [f64; 3],
    /// Unit vector of each axis of the array: the columns of the direction matrix of image formats.
    /// The vectors need not be orthogonal. Left-handed vectors mirror the array.
    pub directions: [[f64; 3]; 3],
}

const LENGTH_TOLERANCE: f64 = 1e-6;

const MIN_VOLUME: f64 = 1e-9;

const ALONG_SPACE: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

impl Default for Grid {
    fn default() -> Self {
        Self::new([0.0; 3], [1.0; 3])
    }
}

impl From<[f64; 3]> for Grid {
    /// Grid along the axes of space, with cell `[0, 0, 0]` at 0.
    fn from(spacing: [f64; 3]) -> Self {
        Self::new([0.0; 3], spacing)
    }
}

impl Grid {
    /// Grid along the axes of space.
    pub const fn new(origin: [f64; 3], spacing: [f64; 3]) -> Self {
        Self { origin, spacing, directions: ALONG_SPACE }
    }

    /// The grid with other directions, and the same origin and spacing.
    pub const fn with_directions(self, directions: [[f64; 3]; 3]) -> Self {
        Self { directions, ..self }
    }

    /// Grid of an affine map. `steps` are the vectors to the next cell along each axis, of any
    /// length except 0.
    pub fn from_steps(origin: [f64; 3], steps: [[f64; 3]; 3]) -> Self {
        let spacing = steps.map(length);
        // A step of invalid length becomes the direction, for the error of `check`.
        let unit = |axis: usize| if is_distance(spacing[axis]) { spacing[axis] } else { 1.0 };
        let directions = std::array::from_fn(|axis| steps[axis].map(|part| part / unit(axis)));
        Self { origin, spacing, directions }
    }

    /// Vectors to the next cell along each axis: direction times spacing.
    pub fn steps(&self) -> [[f64; 3]; 3] {
        std::array::from_fn(|axis| self.directions[axis].map(|part| part * self.spacing[axis]))
    }

    /// Position of an index.
    pub fn position(&self, index: [f64; 3]) -> [f64; 3] {
        let offset = self.vector(std::array::from_fn(|axis| index[axis] * self.spacing[axis]));
        std::array::from_fn(|row| self.origin[row] + offset[row])
    }

    /// Index of a position.
    pub fn index(&self, position: [f64; 3]) -> [f64; 3] {
        let offset: [f64; 3] = std::array::from_fn(|row| position[row] - self.origin[row]);
        let along = product(&self.inverse(), offset);
        std::array::from_fn(|axis| along[axis] / self.spacing[axis])
    }

    /// Vector in space with these lengths along the three axes.
    pub fn vector(&self, lengths: [f64; 3]) -> [f64; 3] {
        product(&self.directions, lengths)
    }

    /// Inverse of the direction matrix, by columns: maps a vector in space to lengths along the
    /// axes.
    pub fn inverse(&self) -> [[f64; 3]; 3] {
        let [a, b, c] = self.directions;
        let volume = determinant(&self.directions);
        let rows = [cross(b, c), cross(c, a), cross(a, b)];
        std::array::from_fn(|column| std::array::from_fn(|row| rows[row][column] / volume))
    }

    /// True for left-handed axes: a counterclockwise triangle in indices is clockwise in space.
    pub fn is_mirrored(&self) -> bool {
        determinant(&self.directions) < 0.0
    }

    /// True if the axes of the array are the axes of space, in order.
    pub fn is_along_space(&self) -> bool {
        self.directions == ALONG_SPACE
    }

    /// Minimum and maximum coordinates of the cell centres of an array with this shape.
    pub fn bounds(&self, shape: [i64; 3]) -> [[f64; 3]; 2] {
        self.bounds_between([0.0; 3], shape.map(|count| (count - 1).max(0) as f64))
    }

    /// Minimum and maximum coordinates of the box between two indices.
    pub fn bounds_between(&self, low: [f64; 3], high: [f64; 3]) -> [[f64; 3]; 2] {
        let corners: [[f64; 3]; 8] = std::array::from_fn(|corner| {
            self.position(std::array::from_fn(|axis| if corner >> axis & 1 == 1 { high[axis] } else { low[axis] }))
        });
        let extreme = |pick: fn(f64, f64) -> f64| {
            std::array::from_fn(|row| corners.iter().map(|corner| corner[row]).reduce(pick).unwrap_or_default())
        };
        [extreme(f64::min), extreme(f64::max)]
    }

    /// Grid of a section from `start` with every `step`-th cell. A negative step reverses the axis.
    pub fn section(&self, start: [i64; 3], step: [i64; 3]) -> Self {
        let origin = self.position(start.map(|at| at as f64));
        let spacing = std::array::from_fn(|axis| self.spacing[axis] * step[axis].unsigned_abs() as f64);
        let direction = |axis: usize| {
            if step[axis] < 0 { self.directions[axis].map(|part| 0.0 - part) } else { self.directions[axis] }
        };
        Self { origin, spacing, directions: std::array::from_fn(direction) }
    }

    /// Checks that different cells have different positions.
    ///
    /// # Errors
    /// * [`GridError::NotFinite`]: the origin or a direction is not finite.
    /// * [`GridError::Spacing`]: a spacing is not finite and positive.
    /// * [`GridError::Length`]: a direction is not a unit vector.
    /// * [`GridError::Plane`]: the directions lie in a plane.
    pub fn check(&self) -> Result<(), GridError> {
        let Self { origin, spacing, directions } = *self;
        if !origin.iter().all(|part| part.is_finite()) {
            return Err(GridError::NotFinite { what: "origin", numbers: origin });
        }
        if let Some(axis) = (0..3).find(|&axis| !is_distance(spacing[axis])) {
            return Err(GridError::Spacing { axis, spacing, direction: directions[axis] });
        }
        for (axis, direction) in directions.into_iter().enumerate() {
            if !direction.iter().all(|part| part.is_finite()) {
                return Err(GridError::NotFinite { what: "direction of an axis", numbers: direction });
            }
            let length = length(direction);
            if (length - 1.0).abs() > LENGTH_TOLERANCE {
                return Err(GridError::Length { axis, direction, length });
            }
        }
        if determinant(&directions).abs() > MIN_VOLUME { Ok(()) } else { Err(GridError::Plane { directions }) }
    }
}

fn is_distance(spacing: f64) -> bool {
    spacing.is_finite() && spacing > 0.0
}

/// Length of a vector, without overflow or underflow of squares.
fn length(vector: [f64; 3]) -> f64 {
    let max = vector.iter().fold(0.0_f64, |max, part| max.max(part.abs()));
    if max == 0.0 || !max.is_finite() {
        return max;
    }
    max * vector.iter().map(|part| (part / max).powi(2)).sum::<f64>().sqrt()
}

fn product(columns: &[[f64; 3]; 3], vector: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|row| (0..3).map(|axis| columns[axis][row] * vector[axis]).sum())
}

/// Signed volume of the parallelepiped of three vectors, negative for left-handed vectors.
fn determinant(vectors: &[[f64; 3]; 3]) -> f64 {
    let across = cross(vectors[1], vectors[2]);
    (0..3).map(|row| vectors[0][row] * across[row]).sum()
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rotation about two axes by angles of 3-4-5 triangles, with one mirrored axis.
    const TURNED: [[f64; 3]; 3] = [[0.6, 0.8, 0.0], [-0.48, 0.36, 0.8], [-0.64, 0.48, -0.6]];

    fn near(a: [f64; 3], b: [f64; 3]) {
        assert!((0..3).all(|row| (a[row] - b[row]).abs() < 1e-12), "{a:?} is not {b:?}");
    }

    #[test]
    fn positions_of_a_turned_grid_are_sums_of_its_steps() {
        let grid = Grid::new([7.0, -3.0, 0.5], [0.5, 1.25, 3.0]).with_directions(TURNED);
        assert_eq!(grid.check(), Ok(()));
        near(grid.position([0.0; 3]), [7.0, -3.0, 0.5]);
        near(grid.position([2.0, 4.0, -1.0]), [7.0 + 0.6 - 2.4 + 1.92, -3.0 + 0.8 + 1.8 - 1.44, 0.5 + 4.0 + 1.8]);
        near(grid.index(grid.position([2.25, 40.0, -1.5])), [2.25, 40.0, -1.5]);
        assert!(grid.is_mirrored() && !grid.is_along_space());
        let rebuilt = Grid::from_steps(grid.origin, grid.steps());
        near(rebuilt.spacing, grid.spacing);
        (0..3).for_each(|axis| near(rebuilt.directions[axis], grid.directions[axis]));
    }

    #[test]
    fn index_in_a_sheared_grid_inverts_position() {
        let steps = [[1.0, 0.0, 0.0], [0.5, 2.0, 0.0], [-0.25, 0.75, 3.0]];
        let grid = Grid::from_steps([1.0, 2.0, 3.0], steps);
        near(grid.position([0.0, 1.0, 1.0]), [1.25, 4.75, 6.0]);
        near(grid.index([1.25, 4.75, 6.0]), [0.0, 1.0, 1.0]);
        assert!(!grid.is_mirrored());
    }

    #[test]
    fn default_grid_has_exact_indices_as_positions() {
        for at in [[0.1, 5.0, 1e7], [-3.7, 0.0, 2.5]] {
            assert_eq!((Grid::default().position(at), Grid::default().index(at)), (at, at));
        }
        assert!(Grid::default().is_along_space() && !Grid::default().is_mirrored());
    }

    #[test]
    fn bounds_and_sections_of_a_grid_follow_its_directions() {
        let flipped = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
        let grid = Grid::new([10.0, 20.0, 30.0], [0.5, 2.0, 3.0]).with_directions(flipped);
        assert_eq!(grid.bounds([5, 3, 1]), [[10.0, 18.0, 30.0], [14.0, 20.0, 30.0]]);
        assert_eq!(grid.bounds([0, 1, 1]), [grid.origin; 2]);
        let section = grid.section([4, -1, 2], [2, 1, 3]);
        assert_eq!(section.origin, [8.0, 18.0, 36.0]);
        assert_eq!((section.spacing, section.directions), ([1.0, 2.0, 9.0], flipped));
        let backwards = grid.section([4, 2, 0], [-2, 1, -1]);
        assert_eq!(backwards.check(), Ok(()));
        assert_eq!(backwards.spacing, [1.0, 2.0, 3.0]);
        for at in [[0.0; 3], [1.0, 1.0, 2.0], [2.0, 0.5, -1.0]] {
            near(backwards.position(at), grid.position([4.0 - 2.0 * at[0], 2.0 + at[1], -at[2]]));
        }
    }

    #[test]
    fn grids_without_a_position_for_each_cell_are_refused() {
        let refused = |grid: Grid, wanted: &str| {
            let said = grid.check().unwrap_err().to_string();
            assert!(said.contains(wanted), "{said}");
        };
        refused(Grid::new([0.0, f64::NAN, 0.0], [1.0; 3]), "origin has numbers that are not finite");
        for spacing in [[1.0, 0.0, 1.0], [1.0, -2.0, 1.0], [f64::INFINITY, 1.0, 1.0]] {
            refused(spacing.into(), "finite and positive");
        }
        refused([1.0, -2.0, 1.0].into(), "mirror an axis by its direction, or by a step of Grid::from_steps");
        let nowhere = [f64::NAN, 4.0, f64::INFINITY];
        let step = |step: [f64; 3]| Grid::from_steps([0.0; 3], [ALONG_SPACE[0], step, ALONG_SPACE[2]]);
        refused(step([0.0; 3]), "a spacing of 0 along [0.0, 0.0, 0.0] (axis 1 of [1.0, 0.0, 1.0])");
        refused(step(nowhere), "along [NaN, 4.0, inf] (axis 1");
        let [x, y, z] = ALONG_SPACE;
        refused(Grid::default().with_directions([x, [0.0, 2.0, 0.0], z]), "of axis 1 has length 2");
        refused(Grid::default().with_directions([x, y, [0.0, f64::NAN, 0.0]]), "not finite");
        refused(Grid::default().with_directions([x, y, [0.6, 0.8, 0.0]]), "lie in a plane");
        refused(Grid::from_steps([0.0; 3], [x, [0.0; 3], z]), "finite and positive");
        let large = Grid::from_steps([0.0; 3], [[1e300, 0.0, 0.0], [0.0, 3e-300, 4e-300], [0.0, 4e200, -3e200]]);
        assert_eq!(large.check(), Ok(()));
        assert!(large.is_mirrored());
    }
}
