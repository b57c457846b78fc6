//! A cell of the grid as six tetrahedra around its diagonal (Kuhn's), and what is left of them when some corners go.
//!
//! Each tetrahedron goes from corner 0 to corner 7 along the axes in one of their six orders. All edges lead from a corner
//! to one that is not lower along any axis, so that cells which share a face cut it along the same diagonal.

use std::sync::LazyLock;

use crate::cell::Corner;
use crate::points::near::Place;

/// What is left of a cell.
#[derive(Default)]
pub struct Left {
    pub tetrahedra: Vec<[Place; 4]>,
    pub wedges: Vec<[Place; 6]>,
}

/// What is left where corner `i` is kept exactly if bit `i` of a case is set.
pub fn left(case: u8) -> &'static Left {
    static TABLE: LazyLock<Vec<Left>> = LazyLock::new(|| (0..=255).map(Left::new).collect());
    &TABLE[usize::from(case)]
}

/// Orders of three axes; every other one is a rotation.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 2, 0], [1, 0, 2], [2, 0, 1], [2, 1, 0]];

/// The corners of each tetrahedron, the first three counterclockwise as seen from the fourth.
pub fn corners() -> [[Corner; 4]; 6] {
    std::array::from_fn(|number| {
        let [first, second, _] = ORDERS[number].map(|axis| 1 << axis);
        let (one, two) = (first, first | second);
        if number % 2 == 0 { [0, one, two, 7] } else { [0, two, one, 7] }
    })
}

/// The orders of four corners that leave a tetrahedron as it is.
const ROTATIONS: [[usize; 4]; 12] = [
    [0, 1, 2, 3],
    [0, 2, 3, 1],
    [0, 3, 1, 2],
    [1, 0, 3, 2],
    [1, 2, 0, 3],
    [1, 3, 2, 0],
    [2, 0, 1, 3],
    [2, 1, 3, 0],
    [2, 3, 0, 1],
    [3, 0, 2, 1],
    [3, 1, 0, 2],
    [3, 2, 1, 0],
];

impl Left {
    fn new(case: u8) -> Self {
        let mut left = Self::default();
        corners().into_iter().for_each(|corners| left.add(case, corners));
        left
    }

    fn add(&mut self, case: u8, corners: [Corner; 4]) {
        let is_kept = |corner: Corner| case >> corner & 1 == 1;
        let count = corners.into_iter().filter(|&corner| is_kept(corner)).count();
        let turned = ROTATIONS.map(|rotation| rotation.map(|place| corners[place]));
        let kept_first = |corners: &[Corner; 4]| corners[..count].iter().all(|&corner| is_kept(corner));
        let [a, b, c, d] = turned.into_iter().find(kept_first).expect("any corners can come first");
        // Also the point between a corner and itself.
        let between = |one: Corner, other: Corner| Place::new(usize::from(one ^ other), one & other);
        let at = |corner: Corner| between(corner, corner);
        match count {
            0 => {}
            1 => self.tetrahedra.push([at(a), between(a, b), between(a, c), between(a, d)]),
            2 => {
                self.wedges.push([at(a), between(a, d), between(a, c), at(b), between(b, d), between(b, c)]);
            }
            3 => self.wedges.push([at(a), at(c), at(b), between(a, d), between(c, d), between(b, d)]),
            _ => self.tetrahedra.push([at(a), at(b), at(c), at(d)]),
        }
    }
}
