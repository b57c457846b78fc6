//! Discrete velocities of a lattice, and their weights.

/// Set of discrete velocities. Population 0 is at rest; the others are pairs of opposite
/// velocities: an odd population *q* and population *q* + 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VelocitySet {
    /// Nine velocities in a plane; the third axis has one cell.
    D2Q9,
    /// Nineteen velocities: rest, faces and edges of a cube.
    D3Q19,
    /// Twenty-seven velocities: rest, faces, edges and corners of a cube.
    D3Q27,
}

const FIRST_VELOCITIES: [[i64; 3]; 13] = [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [1, 1, 0],
    [1, -1, 0],
    [1, 0, 1],
    [0, 1, 1],
    [1, 0, -1],
    [0, 1, -1],
    [1, 1, 1],
    [1, 1, -1],
    [1, -1, 1],
    [-1, 1, 1],
];

const PLANE_PAIRS: [usize; 4] = [0, 1, 3, 4];

impl VelocitySet {
    /// All velocity sets.
    pub const ALL: [Self; 3] = [Self::D2Q9, Self::D3Q19, Self::D3Q27];

    /// Name of the set, for example `D3Q19`.
    pub fn name(self) -> &'static str {
        match self {
            Self::D2Q9 => "D2Q9",
            Self::D3Q19 => "D3Q19",
            Self::D3Q27 => "D3Q27",
        }
    }

    /// Number of dimensions.
    pub fn axes(self) -> usize {
        match self {
            Self::D2Q9 => 2,
            _ => 3,
        }
    }

    /// Number of pairs of opposite velocities.
    pub fn pairs(self) -> usize {
        match self {
            Self::D2Q9 => 4,
            Self::D3Q19 => 9,
            Self::D3Q27 => 13,
        }
    }

    /// Number of velocities, including rest.
    pub fn count(self) -> usize {
        1 + 2 * self.pairs()
    }

    /// Velocity of population `q`, in cells per step.
    ///
    /// # Panics
    /// If `q` is not below [`count`](Self::count).
    pub fn velocity(self, q: usize) -> [i64; 3] {
        assert!(q < self.count(), "{} has no population {q}", self.name());
        let Some(pair) = q.checked_sub(1).map(|q| q / 2) else { return [0; 3] };
        let first = match self {
            Self::D2Q9 => FIRST_VELOCITIES[PLANE_PAIRS[pair]],
            _ => FIRST_VELOCITIES[pair],
        };
        if q % 2 == 1 { first } else { first.map(|c| -c) }
    }

    /// Population with the opposite velocity.
    pub fn opposite(self, q: usize) -> usize {
        match q {
            0 => 0,
            _ if q % 2 == 1 => q + 1,
            _ => q - 1,
        }
    }

    /// Weight of population `q`: its share of a fluid at rest.
    pub fn weight(self, q: usize) -> f64 {
        let moving_axes = self.velocity(q).iter().filter(|&&c| c != 0).count();
        match (self, moving_axes) {
            (Self::D2Q9, 0) => 4.0 / 9.0,
            (Self::D2Q9, 1) => 1.0 / 9.0,
            (Self::D2Q9, _) => 1.0 / 36.0,
            (Self::D3Q19, 0) => 1.0 / 3.0,
            (Self::D3Q19, 1) => 1.0 / 18.0,
            (Self::D3Q19, _) => 1.0 / 36.0,
            (Self::D3Q27, 0) => 8.0 / 27.0,
            (Self::D3Q27, 1) => 2.0 / 27.0,
            (Self::D3Q27, 2) => 1.0 / 54.0,
            (Self::D3Q27, _) => 1.0 / 216.0,
        }
    }

    pub(crate) fn first_of_pairs(self) -> impl Iterator<Item = usize> {
        (0..self.pairs()).map(|pair| 1 + 2 * pair)
    }
}

#[cfg(test)]
mod tests {
    use super::VelocitySet;

    #[test]
    fn moments_of_weights_are_those_of_a_gaussian_with_variance_one_third() {
        for set in VelocitySet::ALL {
            let sum = |f: &dyn Fn([f64; 3]) -> f64| -> f64 {
                (0..set.count()).map(|q| set.weight(q) * f(set.velocity(q).map(|c| c as f64))).sum()
            };
            let check = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-15, "{set:?}: {found}, {wanted}");
            check(sum(&|_| 1.0), 1.0);
            for a in 0..set.axes() {
                check(sum(&|c| c[a]), 0.0);
                for b in 0..set.axes() {
                    check(sum(&|c| c[a] * c[b]), if a == b { 1.0 / 3.0 } else { 0.0 });
                    check(sum(&|c| c[a] * c[a] * c[b] * c[b]), if a == b { 1.0 / 3.0 } else { 1.0 / 9.0 });
                }
            }
        }
    }

    #[test]
    fn opposite_population_has_opposite_velocity() {
        for set in VelocitySet::ALL {
            let mut all: Vec<_> = (0..set.count()).map(|q| set.velocity(q)).collect();
            for (q, c) in all.iter().enumerate() {
                assert_eq!(set.velocity(set.opposite(q)), c.map(|c| -c));
            }
            all.sort();
            all.dedup();
            assert_eq!(all.len(), set.count());
        }
    }
}
