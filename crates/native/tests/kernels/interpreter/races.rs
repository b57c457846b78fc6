//! Detection of data races.

use std::collections::BTreeMap;

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
    accesses: BTreeMap<(Area, usize), Vec<(Identity, Kind)>>,
}

impl Races {
    /// Forgets the accesses to variables of the workgroup before.
    pub fn clear_workgroup(&mut self) {
        self.accesses.retain(|(area, _), _| !matches!(area, Area::Workgroup(_)));
    }

    /// Records an access to one byte.
    ///
    /// # Errors
    /// Another invocation has accessed the byte with no barrier between, one of both accesses
    /// writes, and one is not atomic.
    pub fn record(&mut self, by: Identity, area: Area, byte: usize, kind: Kind) -> Result<(), String> {
        let accesses = self.accesses.entry((area, byte)).or_default();
        if accesses.contains(&(by, kind)) {
            return Ok(());
        }
        for &(other, before) in accesses.iter() {
            let same = other.workgroup == by.workgroup && other.local == by.local;
            let ordered = other.workgroup == by.workgroup && other.epoch != by.epoch;
            let harmless = before == kind && kind != Kind::Write;
            if !same && !ordered && !harmless {
                return Err(format!(
                    "data race at byte {byte} of {area:?}: {before:?} of {other:?}, {kind:?} of {by:?}"
                ));
            }
        }
        accesses.push((by, kind));
        Ok(())
    }
}
