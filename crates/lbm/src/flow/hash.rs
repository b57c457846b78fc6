//! A hash of everything that a flow is.

use zippy::Result;
use zippy::error::CallSite;

use super::Flow;
use super::fastest::number;
use super::populations::Lane;
use crate::cell::flows;

/// Mixes a word well (the end of MurmurHash3).
fn mixed(mut word: u64) -> u64 {
    word = (word ^ word >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    word = (word ^ word >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ word >> 33
}

/// The solid cells of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SolidCells {
    /// How many there are.
    pub count: u64,
    /// Hash of their positions.
    pub hash: u64,
}

impl Flow<'_> {
    /// Number and hash of the solid cells in the box: the same for every number of ranks and every
    /// cut. A flow that goes on with other ones is another flow.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    #[track_caller]
    pub fn solid_cells(&self) -> Result<SolidCells> {
        let _call = CallSite::enter();
        let (inside, mut sums) = (self.inside(), [0_u64; 2]);
        let mut add = || -> Result<()> {
            for chunk in self.cells.chunks() {
                let kinds = chunk.all().read()?;
                for (at, _) in chunk.region().points().zip(kinds).filter(|(_, kind)| !flows(*kind)) {
                    if (0..3).all(|axis| inside[axis].contains(&at[axis])) {
                        let place = self.place([at[0], at[1], at[2]]);
                        sums[0] += 1;
                        sums[1] = sums[1].wrapping_add(mixed(number(place, self.problem.extents) + 1));
                    }
                }
            }
            Ok(())
        };
        let added = add();
        self.world.agree("looking at the solid cells of a flow", added)?;
        self.world.group().all_reduce(&mut sums, |one, other| *one = one.wrapping_add(*other))?;
        Ok(SolidCells { count: sums[0], hash: sums[1] })
    }

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
