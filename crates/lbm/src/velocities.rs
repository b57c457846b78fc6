//! The velocities of a lattice, their weights, and who is whose opposite.

/// A set of discrete velocities. Populations are numbered from the rest on, which is 0; then in pairs, *i* odd and *i* + 1
/// its opposite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VelocitySet {
    /// Nine velocities in a plane; the third axis has one cell.
    D2Q9,
    /// Nineteen: rest, faces and edges of a cube.
    D3Q19,
    /// Twenty-seven: rest, faces, edges and corners.
    D3Q27,
}

/// One velocity of each pair; the other is its opposite.
const PAIRS: [[i64; 3]; 13] = [
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

/// Of [`PAIRS`] those in a plane.
const PLANE: [usize; 4] = [0, 1, 3, 4];

impl VelocitySet {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::D2Q9, Self::D3Q19, Self::D3Q27];

    /// As it is called: `D3Q19`.
    pub fn name(self) -> &'static str {
        match self {
            Self::D2Q9 => "D2Q9",
            Self::D3Q19 => "D3Q19",
            Self::D3Q27 => "D3Q27",
        }
    }

    /// The number of axes along which something moves.
    pub fn axes(self) -> usize {
        match self {
            Self::D2Q9 => 2,
            _ => 3,
        }
    }

    /// The number of pairs of opposite velocities.
    pub fn pairs(self) -> usize {
        match self {
            Self::D2Q9 => 4,
            Self::D3Q19 => 9,
            Self::D3Q27 => 13,
        }
    }

    /// The number of velocities, the rest among them.
    pub fn count(self) -> usize {
        1 + 2 * self.pairs()
    }

    /// The velocity of population `q`, in cells a step.
    ///
    /// # Panics
    /// If `q` is not below [`count`](Self::count).
    pub fn velocity(self, q: usize) -> [i64; 3] {
        assert!(q < self.count(), "{} has no population {q}", self.name());
        let Some(pair) = q.checked_sub(1).map(|q| q / 2) else { return [0; 3] };
        let one = match self {
            Self::D2Q9 => PAIRS[PLANE[pair]],
            _ => PAIRS[pair],
        };
        if q % 2 == 1 { one } else { one.map(|c| -c) }
    }

    /// The population with the opposite velocity.
    pub fn opposite(self, q: usize) -> usize {
        match q {
            0 => 0,
            _ if q % 2 == 1 => q + 1,
            _ => q - 1,
        }
    }

    /// The weight of population `q`: its share of a fluid at rest.
    pub fn weight(self, q: usize) -> f64 {
        let moved = self.velocity(q).iter().filter(|&&c| c != 0).count();
        match (self, moved) {
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

    /// The populations of one velocity of each pair: 1, 3, 5, …
    pub(crate) fn firsts(self) -> impl Iterator<Item = usize> {
        (0..self.pairs()).map(|pair| 1 + 2 * pair)
    }
}

#[cfg(test)]
mod tests {
    use super::VelocitySet;

    /// Moments of the weights up to the fourth order are those of a Gaussian with variance 1/3.
    #[test]
    fn weights_are_isotropic() {
        for set in VelocitySet::ALL {
            let sum = |f: &dyn Fn([f64; 3]) -> f64| -> f64 {
                (0..set.count()).map(|q| set.weight(q) * f(set.velocity(q).map(|c| c as f64))).sum()
            };
            let is = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-15, "{set:?}: {found}, {wanted}");
            is(sum(&|_| 1.0), 1.0);
            for a in 0..set.axes() {
                is(sum(&|c| c[a]), 0.0);
                for b in 0..set.axes() {
                    is(sum(&|c| c[a] * c[b]), if a == b { 1.0 / 3.0 } else { 0.0 });
                    is(sum(&|c| c[a] * c[a] * c[b] * c[b]), if a == b { 1.0 / 3.0 } else { 1.0 / 9.0 });
                }
            }
        }
    }

    #[test]
    fn opposites_are_opposite() {
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
