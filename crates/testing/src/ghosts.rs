//! Reference definition of ghost cells.

use zippy::region::Region;

pub const STALE: u64 = 0x5a5a_5a5a_5a5a_5a5a;

/// Position of the owned cell that a ghost cell copies; `None` outside a boundary that is not
/// periodic.
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

/// Direction from a box to a position; all zero inside the box.
pub fn direction<const D: usize>(at: [i64; D], own: &Region) -> [i8; D] {
    std::array::from_fn(|axis| i8::from(at[axis] >= own.end[axis]) - i8::from(at[axis] < own.start[axis]))
}

pub fn outside<const D: usize>(direction: [i8; D]) -> usize {
    direction.iter().filter(|&&step| step != 0).count()
}
