//! [`Signature`]: inputs of the generator of a kernel's helpers.

use super::scan::{SourceScan, StorageVar};
use crate::element::Packed;

/// Properties of one array on which the text of its helpers depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct VarShape {
    pub axes: usize,
    pub packed: Option<Packed>,
    /// Number of windows (binding-size ranges) of the buffer, at least 1.
    pub windows: u32,
}

/// Index space of the invocations of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Space {
    /// The index space of a bound section: each invocation has a cell.
    Cells,
    Separate,
    /// A separate index space with an extent in device memory.
    Counted,
}

/// Number of boxes of a dispatch, and the order of the axes along its directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum BoxForm {
    /// One box of a call that keeps the order of axes: axis 0 along x, axis 1 along y, the others
    /// folded into z. The index in the domain needs no division.
    OneInOrder,
    /// One box with axes along any direction.
    One,
    /// Up to [`MAX_BOXES_OF_DISPATCH`](super::geometry::MAX_BOXES_OF_DISPATCH) boxes, stacked along
    /// z.
    Several,
}

/// Inputs of the text of all helpers of a kernel; there is one pipeline per signature.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Signature {
    pub space: Space,
    pub domain_axes: usize,
    pub boxes: BoxForm,
    /// One shape per storage variable of the scan.
    pub vars: Vec<VarShape>,
    /// For each variable, the index of the first one with the same geometry.
    pub geometries: Vec<usize>,
    /// Kind of checks of accesses by helpers.
    pub watch: Watch,
    /// True if invocations report stopped loops: the run is checked, the kernel has loops, and the
    /// adapter limits loop passes.
    pub reports_stopped_loops: bool,
}

/// Kind of reports of helpers about accesses beyond the owned cells of chunks, in checked runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Watch {
    Off,
    /// Reports at most 32 layers and components of ghost cells per array: an invocation records
    /// them in one word.
    FewBits,
    ManyBits,
}

impl Signature {
    /// Returns the same signature with one window per array. The windows of large arrays begin at
    /// different cells, so they share no geometry.
    pub(super) fn with_one_window(&self) -> Self {
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

    /// Creates a signature with the same number of axes for all arrays, to check a kernel without
    /// bindings.
    pub(super) fn uniform(scan: &SourceScan, axes: usize, packed: Option<Packed>) -> Self {
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
