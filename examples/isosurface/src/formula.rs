//! Formulas of test fields.

use zippy_isosurface::Grid;

use crate::options::Formula;

impl Formula {
    /// Value of the sample at an index, with `n` samples along each axis.
    pub(crate) fn value(self, n: i64, at: [i64; 3]) -> f32 {
        let along = |half: f64| at.map(|i| half * (2.0 * i as f64 / (n - 1).max(1) as f64 - 1.0));
        match self {
            Self::Tangle => {
                let sum: f64 = along(3.0).map(|x| x.powi(4) - 5.0 * x * x).iter().sum();
                ((sum + 11.8) * 0.2 + 0.5) as f32
            }
            Self::Noise => noise((at[0] + n * (at[1] + n * at[2])) as u32),
            Self::Sphere => {
                let [x, y, z] = along(1.0);
                (0.7 - (x * x + y * y + z * z).sqrt()) as f32
            }
            Self::Torus => {
                let [x, y, z] = along(1.0);
                let ring = (x * x + y * y).sqrt() - 0.55;
                (0.25 - (ring * ring + z * z).sqrt()) as f32
            }
        }
    }

    pub(crate) fn grid(self, n: i64) -> Grid {
        let half = match self {
            Self::Tangle => 3.0,
            Self::Noise => return Grid::default(),
            Self::Sphere | Self::Torus => 1.0,
        };
        Grid::new([-half; 3], [2.0 * half / (n - 1).max(1) as f64; 3])
    }
}

/// PCG's output function (M. O'Neill, 2014) as a hash: 24 random bits.
fn noise(index: u32) -> f32 {
    let state = index.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
    (((word >> 22) ^ word) >> 8) as f32 / (1 << 24) as f32
}
