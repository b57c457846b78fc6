//! Role of a cell in the lattice.

use crate::cell_kind::CellKind;

/// Role of a cell in the lattice, with its data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum LatticeCell {
    Fluid,
    Solid,
    MovingSolid([f64; 3]),
    /// Image of a fluid cell beyond free-slip sides: steps along each axis from the image to the
    /// fluid cell.
    Mirror([i64; 3]),
    /// Fluid at an open side. The normal points into the fluid.
    Open {
        normal: [i64; 3],
        condition: OpenCondition,
    },
}

/// Condition at an open side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum OpenCondition {
    Velocity([f64; 3]),
    Pressure(f64),
    Outlet(f64),
}

impl LatticeCell {
    pub(crate) fn kind(&self) -> CellKind {
        match self {
            Self::Fluid => CellKind::Fluid,
            Self::Solid => CellKind::Solid,
            Self::MovingSolid(_) => CellKind::MovingSolid,
            Self::Mirror(_) => CellKind::Mirror,
            Self::Open { condition: OpenCondition::Velocity(_), .. } => CellKind::OpenVelocity,
            Self::Open { condition: OpenCondition::Pressure(_), .. } => CellKind::OpenPressure,
            Self::Open { condition: OpenCondition::Outlet(_), .. } => CellKind::OpenOutlet,
        }
    }

    pub(crate) fn is_fluid(&self) -> bool {
        self.kind().is_fluid()
    }
}
