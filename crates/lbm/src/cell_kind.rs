//! Kinds of lattice cells, shared by Rust and WGSL.

/// Kind of a lattice cell. [`Flow::cell_kinds`](crate::Flow::cell_kinds) stores its number.
///
/// The order matters: kernels test `kind >= OPEN_VELOCITY` for open sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum CellKind {
    /// Fluid that is not at an open side.
    Fluid = 0,
    /// A solid cell at rest.
    Solid = 1,
    /// A solid cell with a velocity.
    MovingSolid = 2,
    /// The image of a fluid cell beyond a free-slip side.
    Mirror = 3,
    /// Fluid at an open side with a velocity.
    OpenVelocity = 4,
    /// Fluid at an open side with a pressure.
    OpenPressure = 5,
    /// Fluid at an outlet.
    OpenOutlet = 6,
}

impl CellKind {
    const ALL: [(Self, &'static str); 7] = [
        (Self::Fluid, "FLUID"),
        (Self::Solid, "SOLID"),
        (Self::MovingSolid, "MOVING_SOLID"),
        (Self::Mirror, "MIRROR"),
        (Self::OpenVelocity, "OPEN_VELOCITY"),
        (Self::OpenPressure, "OPEN_PRESSURE"),
        (Self::OpenOutlet, "OPEN_OUTLET"),
    ];

    /// The number of the kind in arrays and kernels.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The kind with a number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.iter().map(|(kind, _)| *kind).find(|kind| kind.number() == number)
    }

    /// True for cells with fluid.
    pub fn is_fluid(self) -> bool {
        self == Self::Fluid || self >= Self::OpenVelocity
    }

    /// True for cells of walls and bodies.
    pub fn is_solid(self) -> bool {
        matches!(self, Self::Solid | Self::MovingSolid)
    }

    /// [`is_fluid`](Self::is_fluid) by number; false for unknown numbers.
    pub fn is_fluid_number(number: u8) -> bool {
        Self::from_number(number).is_some_and(Self::is_fluid)
    }

    /// [`is_solid`](Self::is_solid) by number; false for unknown numbers.
    pub fn is_solid_number(number: u8) -> bool {
        Self::from_number(number).is_some_and(Self::is_solid)
    }

    /// Constants of all kinds in kernels.
    pub(crate) fn wgsl_constants() -> [(&'static str, u32); 7] {
        Self::ALL.map(|(kind, name)| (name, kind.number().into()))
    }
}
