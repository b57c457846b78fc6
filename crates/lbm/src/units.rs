//! What the units of a lattice are in metres, seconds and kilograms.

use serde::{Deserialize, Serialize};

/// What a cell, a step and density 1 are. All ones: numbers stay those of the lattice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Units {
    /// The edge of a cell, in m.
    pub cell: f64,
    /// The time of a step, in s.
    pub step: f64,
    /// The density of the fluid, in kg/m³.
    pub density: f64,
}

impl Units {
    /// Those of the lattice.
    pub const LATTICE: Self = Self { cell: 1.0, step: 1.0, density: 1.0 };

    /// Those in which a length of so many cells is so many metres, and a speed of so many cells a step so many metres a second.
    pub fn of([cells, metres]: [f64; 2], [lattice_speed, speed]: [f64; 2], density: f64) -> Self {
        let cell = metres / cells;
        Self { cell, step: lattice_speed / speed * cell, density }
    }

    /// m/s of a cell a step.
    pub fn speed(&self) -> f64 {
        self.cell / self.step
    }

    /// m/s² of a cell a step².
    pub fn acceleration(&self) -> f64 {
        self.cell / (self.step * self.step)
    }

    /// m²/s of a cell² a step: of viscosities.
    pub fn viscosity(&self) -> f64 {
        self.cell * self.cell / self.step
    }

    /// Pa of the pressure that one more of the density is: a third of ρ (cell / step)².
    pub fn pressure(&self) -> f64 {
        self.density * self.speed().powi(2) / 3.0
    }

    /// N of the lattice's force; in two dimensions N for each metre of depth, if `plane`.
    pub fn force(&self, plane: bool) -> f64 {
        let depth = if plane { 1.0 } else { self.cell };
        self.density * self.speed().powi(2) * self.cell * depth
    }

    /// N m of the lattice's torque; in two dimensions for each metre of depth, if `plane`.
    pub fn torque(&self, plane: bool) -> f64 {
        self.force(plane) * self.cell
    }
}

#[cfg(test)]
mod tests {
    use super::Units;

    /// Water at 0.2 m/s past 0.1 m, with 20 cells and 0.05 cells a step: Reynolds number and pressure coefficient are the same in
    /// both units.
    #[test]
    fn numbers_without_units_stay() {
        let units = Units::of([20.0, 0.1], [0.05, 0.2], 1000.0);
        assert!((units.cell - 0.005).abs() < 1e-15 && (units.step - 0.00125).abs() < 1e-15);
        let viscosity = 1e-3;
        let reynolds = [0.2 * 0.1 / viscosity, 0.05 * 20.0 / (viscosity / units.viscosity())];
        assert!((reynolds[0] - reynolds[1]).abs() < 1e-9, "{reynolds:?}");
        // A force of ½ ρ u² per area; the pressure of the same.
        let drag = 0.5 * 0.05_f64.powi(2) * 20.0;
        assert!((drag * units.force(true) - 0.5 * 1000.0 * 0.04 * 0.1).abs() < 1e-9);
        assert!((drag * 20.0 * units.force(false) - 0.5 * 1000.0 * 0.04 * 0.01).abs() < 1e-9);
        let excess = 3.0 * 0.5 * 0.05_f64.powi(2);
        assert!((excess * units.pressure() - 0.5 * 1000.0 * 0.04).abs() < 1e-9);
        assert!((units.acceleration() * units.step - units.speed()).abs() < 1e-12 * units.speed());
        assert_eq!(Units::LATTICE.pressure(), 1.0 / 3.0);
    }
}
