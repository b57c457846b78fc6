//! Hashes of a flow.

use zippy::Result;
use zippy::error::CallSite;

use super::cell_number::cell_number;
use super::chunk_lanes::ChunkLane;
use super::running_flow::Flow;
use crate::cell_kind::CellKind;

/// Finalizer of MurmurHash3.
fn mix(mut word: u64) -> u64 {
    word = (word ^ word >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    word = (word ^ word >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ word >> 33
}

/// Number and hash of the solid cells of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SolidFingerprint {
    /// Number of solid cells.
    pub count: u64,
    /// Hash of their indices.
    pub hash: u64,
}

/// Population in a slot: its number, and the offset from its cell to the cell of the slot.
struct SlotContent {
    q: usize,
    offset: [i64; 3],
}

impl Flow<'_> {
    /// Computes number and hash of the solid cells in the box: the same for every number of ranks
    /// and every cut. Collective.
    ///
    /// # Errors
    /// A failure of any rank.
    #[track_caller]
    pub fn solid_fingerprint(&self) -> Result<SolidFingerprint> {
        let _call = CallSite::enter();
        let local = self.world.agree("reading the kinds of cells", self.local_solid_fingerprint())?;
        let mut sums = [local.count, local.hash];
        self.world.group().all_reduce(&mut sums, |sum, other| *sum = sum.wrapping_add(*other))?;
        let [count, hash] = sums;
        Ok(SolidFingerprint { count, hash })
    }

    fn local_solid_fingerprint(&self) -> Result<SolidFingerprint> {
        let mut found = SolidFingerprint { count: 0, hash: 0 };
        for chunk in self.kinds.chunks() {
            let kinds = chunk.all().read()?;
            for (at, _) in chunk.region().points().zip(kinds).filter(|(_, kind)| !CellKind::is_fluid_number(*kind)) {
                let cell = self.problem.box_cell([at[0], at[1], at[2]]);
                if self.problem.contains(cell) {
                    found.count += 1;
                    found.hash = found.hash.wrapping_add(mix(cell_number(cell, self.problem.extents) + 1));
                }
            }
        }
        Ok(found)
    }

    /// Computes a hash of all populations with their numbers and the cells where they arrive: the
    /// same for every number of ranks and every cut. Collective.
    ///
    /// # Errors
    /// A failure of any rank.
    #[track_caller]
    pub fn hash(&mut self) -> Result<u64> {
        let _call = CallSite::enter();
        self.settle()?;
        let mut sums = [self.local_hash()?];
        self.world.group().all_reduce(&mut sums, |sum, other| *sum = sum.wrapping_add(*other))?;
        Ok(sums[0])
    }

    fn local_hash(&self) -> Result<u64> {
        let lattice = self.problem.lattice_extents();
        let words = self.populations.chunks();
        let mut sum = 0_u64;
        for ChunkLane { word_chunk, lane, offset, .. } in self.lanes.iter().copied() {
            for slot in 0..self.problem.set.count() {
                let content = self.slot_content(slot);
                let populations = words[word_chunk].read_bits(slot as i64, lane)?;
                for (at, bits) in populations.region.points().zip(populations.bits) {
                    let mut cell = [0_i64; 3];
                    for axis in 0..3 {
                        cell[axis] = at[axis] + offset[axis] - content.offset[axis];
                        if self.problem.is_periodic(axis) {
                            cell[axis] = cell[axis].rem_euclid(lattice[axis]);
                        }
                    }
                    if (0..3).all(|axis| (0..lattice[axis]).contains(&cell[axis])) {
                        let key = cell_number(cell, lattice) * 32 + content.q as u64;
                        sum = sum.wrapping_add(mix(mix(key) ^ u64::from(bits)));
                    }
                }
            }
        }
        Ok(sum)
    }

    /// Population in a slot before the next step: a slot of a pair holds the first population of
    /// its own cell, or the second population of the cell before.
    fn slot_content(&self, slot: usize) -> SlotContent {
        if slot == 0 {
            return SlotContent { q: 0, offset: [0; 3] };
        }
        let first = (slot - 1) / 2 * 2 + 1;
        if slot == first + 1 - self.parity() {
            SlotContent { q: first, offset: [0; 3] }
        } else {
            SlotContent { q: first + 1, offset: self.problem.set.velocity(first) }
        }
    }
}
