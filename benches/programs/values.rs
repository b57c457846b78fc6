//! Initial cells as a function of their index, and weighted sums by which contenders are compared.

use zippy::{Element, Error, GlobalArray, Result, World};

/// Largest difference between contenders, in terms of the sum of magnitudes.
const TOLERANCE: f64 = 1e-5;
/// Largest relative difference between the numbers that steps have read.
const READ_TOLERANCE: f64 = 1e-4;

/// Cells and results of a program, summed up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Values {
    /// Sum of the cells, each with the weight 1 + i mod 97 of its index i.
    pub sum: f64,
    /// The same of their magnitudes.
    pub magnitude: f64,
    /// Number that the last step has read, if it reads one.
    pub read: f64,
}

impl Values {
    /// Adds a cell by its index in the array, axis 0 fastest.
    pub fn add(&mut self, index: u64, cell: f64) {
        let weight = (1 + index % 97) as f64;
        self.sum += weight * cell;
        self.magnitude += weight * cell.abs();
    }

    /// Sums cells in the order of their indices.
    pub fn of_cells(cells: impl IntoIterator<Item = f64>) -> Self {
        let mut values = Self::default();
        (0..).zip(cells).for_each(|(index, cell)| values.add(index, cell));
        values
    }

    /// Sums the cells of an array on all ranks. Collective.
    pub fn of_array<T: Element + Into<f64>, const D: usize>(world: &World, array: &GlobalArray<T, D>) -> Result<Self> {
        Self::of_elements(world, array, |cell| [cell.into()])
    }

    /// Sums `N` numbers of each element of an array on all ranks. Collective.
    pub fn of_elements<T: Element, const D: usize, const N: usize>(
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
        Ok(Self { sum: sums[0], magnitude: sums[1], read: 0.0 })
    }

    /// With the number that a step has read.
    pub fn with_read(self, read: f64) -> Self {
        Self { read, ..self }
    }

    /// Compares these values with those of another contender.
    ///
    /// # Errors
    /// The values differ by more than rounding.
    pub fn check(&self, name: &str, other: Self) -> Result<()> {
        // False also where one of them is NaN.
        let near = |own: f64, other: f64, difference: f64| (own - other).abs() <= difference;
        let difference = TOLERANCE * self.magnitude;
        let agrees = near(self.sum, other.sum, difference)
            && near(self.magnitude, other.magnitude, difference)
            && near(self.read, other.read, READ_TOLERANCE * self.read.abs());
        if agrees { Ok(()) } else { Err(Error::program(format!("zippy computes {self:?}, and {name} {other:?}"))) }
    }
}

/// Number from 0 to 1 for a cell by its index; arrays of different numbers have different cells.
pub fn hash(array: u64, index: u64) -> f32 {
    ((array << 40 | index).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / 16_777_216.0
}

/// [`hash`] of a position in a grid with equal edges.
pub fn hash_at<const D: usize>(array: u64, edge: i64, position: [i64; D]) -> f32 {
    hash(array, position.iter().rev().fold(0, |index, at| index * edge + at) as u64)
}
