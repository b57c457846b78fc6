//! Collision operators.

/// Collision operator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Collision {
    /// One relaxation time (Bhatnagar, Gross, Krook).
    Bgk,
    /// Two relaxation times (Ginzburg): one from the viscosity, one from the magic number.
    Trt {
        /// Λ = (1/ω⁺ − ½)(1/ω⁻ − ½). With [`Collision::EXACT_WALL_MAGIC`], straight walls are
        /// exactly half-way between cells.
        magic: f64,
    },
    /// Cumulants (Geier et al. 2015) for D3Q27: stable at low viscosities and high speeds. Straight
    /// walls are not exact.
    Cumulant,
}

impl Collision {
    /// Magic number at which straight walls are exactly half-way between cells.
    pub const EXACT_WALL_MAGIC: f64 = 3.0 / 16.0;
}
