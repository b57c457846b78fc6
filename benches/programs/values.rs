//! Initial cells as a function of their index, and weighted sums for the comparison of contenders.

use zippy::{Element, Error, GlobalArray, Result, World};
use zippy_testing::random::fibonacci_hash;

/// Largest difference between the sums of two contenders, relative to the sum of magnitudes.
const TOLERANCE: f64 = 1e-5;
/// Largest relative difference between the scalar results of two contenders.
const SCALAR_TOLERANCE: f64 = 1e-4;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Values {
    /// Sum of the cells, each with the weight 1 + i mod 97 of its index i.
    pub sum: f64,
    /// Sum of the magnitudes of the cells with the same weights.
    pub magnitude: f64,
    /// Scalar result of the last step, or 0.
    pub scalar: f64,
}

impl Values {
    /// Adds a cell with its index in the array, axis 0 fastest.
    pub(crate) fn add(&mut self, index: u64, cell: f64) {
        let weight = (1 + index % 97) as f64;
        self.sum += weight * cell;
        self.magnitude += weight * cell.abs();
    }

    pub(crate) fn of_cells(cells: impl IntoIterator<Item = f64>) -> Self {
        let mut values = Self::default();
        (0..).zip(cells).for_each(|(index, cell)| values.add(index, cell));
        values
    }

    /// Sums the cells of an array on all ranks. Collective.
    pub(crate) fn of_array<T: Element + Into<f64>, const D: usize>(
        world: &World,
        array: &GlobalArray<T, D>,
    ) -> Result<Self> {
        Self::of_elements(world, array, |cell| [cell.into()])
    }

    /// Sums `N` numbers of each element. Collective.
    pub(crate) fn of_elements<T: Element, const D: usize, const N: usize>(
        world: &World,
        array: &GlobalArray<T, D>,
        numbers: impl Fn(T) -> [f64; N],
    ) -> Result<Self> {
        let (shape, mut values) = (array.shape(), Self::default());
        for chunk in array.chunks() {
            for (p, element) in chunk.region().points().zip(chunk.all().read()?) {
                let cell = (0..D).rev().fold(0, |index, axis| index * shape[axis] + p[axis]) as u64;
                let first = if N > 1 { 4 * cell } else { cell };
                (first..).zip(numbers(element)).for_each(|(index, number)| values.add(index, number));
            }
        }
        let mut sums = [values.sum, values.magnitude];
        world.group().all_reduce(&mut sums, |sum, more| *sum += more)?;
        Ok(Self { sum: sums[0], magnitude: sums[1], scalar: 0.0 })
    }

    pub(crate) fn with_scalar(self, scalar: f64) -> Self {
        Self { scalar, ..self }
    }

    /// Compares with another contender; an error if the values differ by more than rounding.
    pub(crate) fn check(&self, name: &str, other: Self) -> Result<()> {
        // Also false for NaN.
        let near = |own: f64, other: f64, difference: f64| (own - other).abs() <= difference;
        let difference = TOLERANCE * self.magnitude;
        let agrees = near(self.sum, other.sum, difference)
            && near(self.magnitude, other.magnitude, difference)
            && near(self.scalar, other.scalar, SCALAR_TOLERANCE * self.scalar.abs());
        if agrees { Ok(()) } else { Err(Error::program(format!("zippy computes {self:?}, but {name} {other:?}"))) }
    }
}

/// Pseudo-random number from 0 to 1 for a cell.
pub(crate) fn hash(array: u64, index: u64) -> f32 {
    (fibonacci_hash(array << 40 | index) >> 40) as f32 / 16_777_216.0
}

/// [`hash`] of a position in a grid with equal edges, axis 0 fastest.
pub(crate) fn hash_at<const D: usize>(array: u64, edge: i64, position: [i64; D]) -> f32 {
    hash(array, position.iter().rev().fold(0, |index, at| index * edge + at) as u64)
}
