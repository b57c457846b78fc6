//! [`Writer`]: generator of the helpers of one array.

use super::axes::Axes;
use crate::kernel::geometry::Tuple;
use crate::kernel::scan::{SourceScan, StorageVar};
use crate::kernel::signature::{VarShape, Watch};
use crate::wgsl::PREFIX;

/// Returns the name of the storage variable of window `k` (from 1) of an array.
pub(crate) fn window_name(var: &str, k: u32) -> String {
    format!("{PREFIX}{var}_window{k}")
}

/// Generator of the helpers of one array, with their text so far.
pub(super) struct Writer<'a, 'u> {
    pub(super) out: &'a mut String,
    /// Index of the array among the storage variables.
    pub(super) number: usize,
    pub(super) var: &'a StorageVar,
    pub(super) shape: VarShape,
    /// WGSL type of a cell.
    pub(super) cell: &'a str,
    pub(super) axes: Axes<'u>,
    pub(super) scan: &'a SourceScan,
    pub(super) has_position: bool,
    pub(super) watch: Watch,
}

impl Writer<'_, '_> {
    pub(super) fn uses_helper(&self, helper: &str) -> bool {
        self.scan.words.contains(&format!("{}_{helper}", self.var.name))
    }

    /// Returns the condition that the storage contains the cell at `$p`.
    pub(super) fn has(&self) -> String {
        let within = self.axes.within("$p", Some(Tuple::StorageLo), Tuple::StorageExtent, 0);
        format!("{within} & {}", self.any())
    }

    /// Returns a condition that is true for every array with cells, but that drivers cannot
    /// evaluate in advance. Added to conditions at constant positions, which would otherwise depend
    /// on parameters only, and to extents, which users take as loop ends.
    pub(super) fn any(&self) -> String {
        format!("(arrayLength(&{}) > 0u)", self.var.name)
    }

    pub(super) fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }
}
