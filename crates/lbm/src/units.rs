//! Physical units of a lattice.

use serde::{Deserialize, Serialize};

/// Physical size of the lattice units; all ones for lattice units.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Units {
    /// Edge of a cell, in m.
    pub cell: f64,
    /// Time of a step, in s.
    pub step: f64,
    /// Density of the fluid, in kg/m³.
    pub density: f64,
}

/// One quantity in physical and in lattice units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Value in SI units.
    pub physical: f64,
    /// Value in lattice units.
    pub lattice: f64,
}

impl Units {
    /// Lattice units.
    pub const LATTICE: Self = Self { cell: 1.0, step: 1.0, density: 1.0 };

    /// Units in which a length (m, cells) and a speed (m/s, cells per step) have these values.
    pub fn from_scales(length: Scale, speed: Scale, density: f64) -> Self {
        let cell = length.physical / length.lattice;
        Self { cell, step: speed.lattice / speed.physical * cell, density }
    }

    /// m/s of a cell per step.
    pub fn speed(&self) -> f64 {
        self.cell / self.step
    }

    /// m/s² of a cell per step².
    pub fn acceleration(&self) -> f64 {
        self.cell / (self.step * self.step)
    }

    /// m²/s of a cell² per step, for kinematic viscosities.
    pub fn viscosity(&self) -> f64 {
        self.cell * self.cell / self.step
    }

    /// Pa of the density 1: a third of ρ (cell / step)².
    pub fn pressure(&self) -> f64 {
        self.density * self.speed().powi(2) / 3.0
    }

    pub(crate) fn lattice_density(&self, pressure: f64) -> f64 {
        1.0 + pressure / self.pressure()
    }

    /// N of the unit of force; in two dimensions (`is_plane`), N per metre of depth.
    pub fn force(&self, is_plane: bool) -> f64 {
        let depth = if is_plane { 1.0 } else { self.cell };
        self.density * self.speed().powi(2) * self.cell * depth
    }

    /// N m of the unit of torque; in two dimensions (`is_plane`), N m per metre of depth.
    pub fn torque(&self, is_plane: bool) -> f64 {
        self.force(is_plane) * self.cell
    }
}

#[cfg(test)]
mod tests {
    use super::{Scale, Units};

    /// Water at 0.2 m/s around a body of 0.1 m, with 20 cells and 0.05 cells per step.
    #[test]
    fn dimensionless_numbers_are_equal_in_both_units() {
        let [length, speed] = [Scale { physical: 0.1, lattice: 20.0 }, Scale { physical: 0.2, lattice: 0.05 }];
        let units = Units::from_scales(length, speed, 1000.0);
        assert!((units.cell - 0.005).abs() < 1e-15 && (units.step - 0.00125).abs() < 1e-15);
        let viscosity = 1e-3;
        let reynolds = [0.2 * 0.1 / viscosity, 0.05 * 20.0 / (viscosity / units.viscosity())];
        assert!((reynolds[0] - reynolds[1]).abs() < 1e-9, "{reynolds:?}");
        let drag = 0.5 * 0.05_f64.powi(2) * 20.0;
        assert!((drag * units.force(true) - 0.5 * 1000.0 * 0.04 * 0.1).abs() < 1e-9);
        assert!((drag * 20.0 * units.force(false) - 0.5 * 1000.0 * 0.04 * 0.01).abs() < 1e-9);
        let excess = 3.0 * 0.5 * 0.05_f64.powi(2);
        assert!((excess * units.pressure() - 0.5 * 1000.0 * 0.04).abs() < 1e-9);
        assert!((units.acceleration() * units.step - units.speed()).abs() < 1e-12 * units.speed());
        assert_eq!(Units::LATTICE.pressure(), 1.0 / 3.0);
    }
}
