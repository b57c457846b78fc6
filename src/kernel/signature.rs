//! What the generated text of a kernel depends on.

use super::scan::{SourceScan, StorageVar};
use crate::element::Packed;

/// What the text of helpers for one array depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VarShape {
    pub axes: usize,
    pub packed: Option<Packed>,
    /// Ranges of the binding limit's size that the buffer is bound as, at least 1.
    pub windows: u32,
}

/// Where invocations have their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// In the index space of a bound section, so that an invocation has a cell.
    Cells,
    /// In one of its own.
    Apart,
    /// In one of its own, with an extent that is on the device.
    Counted,
}

/// Boxes of a dispatch, and which axes run along its directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BoxForm {
    /// One box of a call that keeps the order of axes: axis 0 runs along x, axis 1 along y, the
    /// others, folded, along z. There the index in the domain takes no division.
    OneInOrder,
    /// One box with axes along any direction.
    One,
    /// Up to [`MAX_BOXES`](super::geometry::MAX_BOXES), one after the other along z.
    Several,
}

/// What the text of all helpers depends on; one pipeline each.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Signature {
    pub space: Space,
    pub domain_axes: usize,
    pub boxes: BoxForm,
    /// One for each storage variable of the scan.
    pub vars: Vec<VarShape>,
    /// For each of them the first one with the same geometry.
    pub geometries: Vec<usize>,
    /// Whether helpers report what they reach.
    pub watch: Watch,
    /// Whether invocations report stopped loops: the run is checked, the kernel has loops, and the
    /// adapter limits loop passes.
    pub reports_stopped_loops: bool,
}

/// Whether helpers report what they reach beyond the cells that chunks own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Watch {
    Off,
    /// Of no array more than 32 layers and components of ghost cells are told apart: an invocation keeps them in a word.
    FewBits,
    ManyBits,
}

impl Signature {
    /// The same with one window of each array. Those with several would begin theirs at different
    /// cells, so that they share no geometry.
    pub fn with_one_window(&self) -> Self {
        let mut one = self.clone();
        let is_large = |var: usize| self.vars[var].windows > 1;
        for var in 0..self.vars.len() {
            one.vars[var].windows = 1;
            if is_large(var) || is_large(self.geometries[var]) {
                one.geometries[var] = var;
            }
        }
        one
    }

    /// All arrays with the same number of axes, for a look at a kernel that nothing is bound to yet.
    pub fn uniform(scan: &SourceScan, axes: usize, packed: Option<Packed>) -> Self {
        let shape = |var: &StorageVar| VarShape {
            axes,
            packed: packed.filter(|_| var.cell.as_deref() == Some("u32")),
            windows: 1,
        };
        Self {
            space: Space::Cells,
            domain_axes: axes,
            boxes: BoxForm::OneInOrder,
            geometries: (0..scan.storage.len()).collect(),
            vars: scan.storage.iter().map(shape).collect(),
            watch: Watch::Off,
            reports_stopped_loops: false,
        }
    }
}
