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

/// What the text of all helpers depends on; one pipeline each.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Signature {
    pub space: Space,
    pub domain_axes: usize,
    /// One for each storage variable of the scan.
    pub vars: Vec<VarShape>,
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
            vars: scan.storage.iter().map(shape).collect(),
            watch: Watch::Off,
            reports_stopped_loops: false,
        }
    }
}
