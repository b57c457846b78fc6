//! What ghost cells show, found cell by cell.

use zippy::region::Region;

/// What ghost cells hold before an update.
pub const STALE: u64 = 0x5a5a_5a5a_5a5a_5a5a;

/// The own cell that a ghost cell stands for; `None` beyond an end that is not periodic.
pub fn image<const D: usize>(mut at: [i64; D], shape: [i64; D], periodic: [bool; D]) -> Option<[i64; D]> {
    for axis in 0..D {
        if periodic[axis] && shape[axis] > 0 {
            at[axis] = at[axis].rem_euclid(shape[axis]);
        } else if !(0..shape[axis]).contains(&at[axis]) {
            return None;
        }
    }
    Some(at)
}

/// On which side of a box a position lies, by axis; all zero inside.
pub fn direction<const D: usize>(at: [i64; D], own: &Region) -> [i8; D] {
    std::array::from_fn(|axis| i8::from(at[axis] >= own.end[axis]) - i8::from(at[axis] < own.start[axis]))
}

pub fn outside<const D: usize>(direction: [i8; D]) -> usize {
    direction.iter().filter(|&&step| step != 0).count()
}
