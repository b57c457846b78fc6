//! Detection of data races.

use std::collections::BTreeMap;
use std::ops::Range;

use super::memory::Area;

/// An invocation between two barriers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    pub workgroup: u32,
    /// Local invocation index.
    pub local: u32,
    /// Barriers that the workgroup has passed.
    pub epoch: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    /// Any access to an atomic.
    Atomic,
}

/// Accesses to each byte so far.
#[derive(Default)]
pub struct Races {
    accesses: BTreeMap<Area, Vec<Vec<(Identity, Kind)>>>,
}

impl Races {
    /// Forgets the accesses to variables of the previous workgroup.
    pub fn clear_workgroup(&mut self) {
        self.accesses.retain(|area, _| !matches!(area, Area::Workgroup(_)));
    }

    /// Records an access to bytes.
    ///
    /// # Errors
    /// Another invocation has accessed one of the bytes with no barrier between, one of both
    /// accesses writes, and one is not atomic.
    pub fn record(&mut self, by: Identity, area: Area, bytes: Range<usize>, kind: Kind) -> Result<(), String> {
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

fn conflict((a, first): (Identity, Kind), (b, second): (Identity, Kind)) -> bool {
    let same = a.workgroup == b.workgroup && a.local == b.local;
    let ordered = a.workgroup == b.workgroup && a.epoch != b.epoch;
    let harmless = first == second && first != Kind::Write;
    !same && !ordered && !harmless
}
