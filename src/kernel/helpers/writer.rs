//! The helpers of one array while they are written.

use super::axes::Axes;
use crate::kernel::geometry::Tuple;
use crate::kernel::scan::{SourceScan, StorageVar};
use crate::kernel::signature::{VarShape, Watch};
use crate::wgsl::PREFIX;

/// The name that window `k` (from 1) of a variable is bound under.
pub fn window_name(var: &str, k: u32) -> String {
    format!("{PREFIX}{var}_window{k}")
}

/// One array, and the text so far.
pub(super) struct Writer<'a, 'u> {
    pub(super) out: &'a mut String,
    /// Its number among the storage variables.
    pub(super) number: usize,
    pub(super) var: &'a StorageVar,
    pub(super) shape: VarShape,
    /// The text of one cell's type.
    pub(super) cell: &'a str,
    pub(super) axes: Axes<'u>,
    pub(super) scan: &'a SourceScan,
    pub(super) has_position: bool,
    pub(super) watch: Watch,
}

impl Writer<'_, '_> {
    /// Whether the kernel calls this helper.
    pub(super) fn wants(&self, helper: &str) -> bool {
        self.scan.words.contains(&format!("{}_{helper}", self.var.name))
    }

    /// The condition that the storage has the cell at `$p`.
    pub(super) fn has(&self) -> String {
        let within = self.axes.within("$p", Some(Tuple::StorageLo), Tuple::StorageExtent, 0);
        format!("{within} & {}", self.any())
    }

    /// A condition that holds wherever there is a cell, and that drivers cannot know. It stands in conditions that parameters alone
    /// decide where a position is a constant, and in extents, which users loop up to.
    pub(super) fn any(&self) -> String {
        format!("(arrayLength(&{}) > 0u)", self.var.name)
    }

    pub(super) fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }
}
