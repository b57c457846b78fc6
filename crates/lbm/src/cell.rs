//! What a cell of the lattice is.

use zippy::Element;

/// Fluid, which flows. The kinds as kernels see them.
pub const FLUID: u8 = 0;
/// A solid cell at rest; nothing is done for it.
pub const SOLID: u8 = 1;
/// A solid cell with a velocity.
pub const MOVING: u8 = 2;
/// The image of a cell with fluid beyond a free-slip side.
pub const MIRROR: u8 = 3;
/// From here on: fluid at an open side. With a velocity that is given.
pub const OPEN: u8 = 4;
/// With a pressure that is given.
pub const PRESSURE: u8 = 5;
/// With what flows out.
pub const OUTLET: u8 = 6;

/// Whether there is fluid in a cell of this kind.
pub fn flows(kind: u8) -> bool {
    kind == FLUID || kind >= OPEN
}

/// What a cell is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell {
    Fluid,
    Solid,
    /// A wall with a velocity.
    Moving([f64; 3]),
    /// The image of the cell with fluid that lies these steps along each axis away, beyond one or
    /// more free-slip sides.
    Mirror([i64; 3]),
    /// Fluid at an open side; the normal leads into the fluid.
    Open {
        normal: [i64; 3],
        open: Open,
    },
}

/// What is given at an open side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Open {
    Velocity([f64; 3]),
    Pressure(f64),
    Outlet(f64),
}

impl Cell {
    /// As kernels see it.
    pub fn kind(&self) -> u8 {
        match self {
            Self::Fluid => FLUID,
            Self::Solid => SOLID,
            Self::Moving(_) => MOVING,
            Self::Mirror(_) => MIRROR,
            Self::Open { open: Open::Velocity(_), .. } => OPEN,
            Self::Open { open: Open::Pressure(_), .. } => PRESSURE,
            Self::Open { open: Open::Outlet(_), .. } => OUTLET,
        }
    }

    /// Whether there is fluid.
    pub fn flows(&self) -> bool {
        flows(self.kind())
    }
}

/// A cell in a list of those that are not like the others, with what its kernel must know.
#[derive(Debug, Clone, Copy, PartialEq, Default, Element)]
#[repr(C)]
pub struct Border {
    /// Its place in the chunk, and its kind.
    pub cell: [i32; 4],
    /// Velocity and density there.
    pub flow: [f32; 4],
    /// The normal of an open side and the density that an outlet tends to; the steps from a
    /// mirror's cell to the cell that it shows; the position of a body's cell from the body's
    /// centre.
    pub normal: [f32; 4],
    /// A bit for each population that comes to a solid cell from the fluid.
    pub links: u32,
    /// A bit for each population that would come from beyond the lattice.
    pub beyond: u32,
    /// A bit for each axis across which the cell is an image, beyond free-slip sides.
    pub mirrored: u32,
    pub _pad: u32,
}
