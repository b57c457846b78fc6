//! A hash of everything that a flow is.

use zippy::Result;
use zippy::error::CallSite;

use super::Flow;
use super::populations::Lane;

/// Mixes a word well (the end of MurmurHash3).
fn mixed(mut word: u64) -> u64 {
    word = (word ^ word >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    word = (word ^ word >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ word >> 33
}

impl Flow<'_> {
    /// A hash of all populations, each with the cell where it arrives and its number, whatever slot it is in: the same for
    /// every number of ranks and every cut.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    #[track_caller]
    pub fn hash(&mut self) -> Result<u64> {
        let _call = CallSite::enter();
        self.settle()?;
        let (set, odd) = (self.problem.set, self.odd());
        let lattice = self.problem.lattice();
        let mut sum = 0_u64;
        let words = self.f.chunks();
        for Lane { words: chunk, lane, offset, .. } in self.lanes.iter().copied() {
            for slot in 0..set.count() {
                // Of a pair, one slot holds the first population of its cell, the other the second one of the cell before.
                let first = slot.saturating_sub(1) / 2 * 2 + 1;
                let own = slot == 0 || slot == first + 1 - odd;
                let (q, c) =
                    if own { (if slot == 0 { 0 } else { first }, [0; 3]) } else { (first + 1, set.velocity(first)) };
                let (region, bits) = words[chunk].bits(slot as i64, lane)?;
                for (at, value) in region.points().zip(bits) {
                    let mut cell = [0_i64; 3];
                    for axis in 0..3 {
                        cell[axis] = at[axis] + offset[axis] - c[axis];
                        if self.problem.periodic(axis) {
                            cell[axis] = cell[axis].rem_euclid(lattice[axis]);
                        }
                    }
                    // Nothing arrives beyond the lattice.
                    let there = (0..3).all(|axis| (0..lattice[axis]).contains(&cell[axis]));
                    if there {
                        let number =
                            cell.iter().zip(lattice).rev().fold(0, |number, (&x, n)| number * n as u64 + x as u64);
                        sum = sum.wrapping_add(mixed(mixed(number * 32 + q as u64) ^ u64::from(value)));
                    }
                }
            }
        }
        let mut sums = [sum];
        self.world.group().all_reduce(&mut sums, |one, other| *one = one.wrapping_add(*other))?;
        Ok(sums[0])
    }
}
