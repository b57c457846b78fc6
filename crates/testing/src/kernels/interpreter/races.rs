//! Detection of data races.

use std::collections::BTreeMap;
use std::ops::Range;

use super::memory::MemoryArea;

/// An invocation between two barriers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InvocationEpoch {
    pub workgroup: u32,
    pub local: u32,
    /// Number of passed barriers of the workgroup.
    pub epoch: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AccessKind {
    Read,
    Write,
    Atomic,
}

#[derive(Default)]
pub(super) struct Races {
    accesses: BTreeMap<MemoryArea, Vec<Vec<(InvocationEpoch, AccessKind)>>>,
}

impl Races {
    pub(super) fn clear_workgroup(&mut self) {
        self.accesses.retain(|area, _| !matches!(area, MemoryArea::Workgroup(_)));
    }

    /// Records an access to bytes.
    pub(super) fn record(
        &mut self,
        by: InvocationEpoch,
        area: MemoryArea,
        bytes: Range<usize>,
        kind: AccessKind,
    ) -> Result<(), String> {
        let all = self.accesses.entry(area).or_default();
        if all.len() < bytes.end {
            all.resize(bytes.end, Vec::new());
        }
        for byte in bytes {
            let accesses = &mut all[byte];
            if accesses.contains(&(by, kind)) {
                continue;
            }
            if let Some((other, before)) =
                accesses.iter().find(|(other, before)| conflict((*other, *before), (by, kind)))
            {
                return Err(format!(
                    "data race at byte {byte} of {area:?}: {before:?} of {other:?}, {kind:?} of {by:?}"
                ));
            }
            accesses.push((by, kind));
        }
        Ok(())
    }
}

fn conflict((a, first): (InvocationEpoch, AccessKind), (b, second): (InvocationEpoch, AccessKind)) -> bool {
    let same = a.workgroup == b.workgroup && a.local == b.local;
    let ordered = a.workgroup == b.workgroup && a.epoch != b.epoch;
    let harmless = first == second && first != AccessKind::Write;
    !same && !ordered && !harmless
}
