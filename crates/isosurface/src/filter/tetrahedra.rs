//! Division of a grid cell into six tetrahedra around its diagonal (Kuhn), and the rest of the
//! tetrahedra after the removal of corners.
//!
//! Each tetrahedron goes from corner 0 to corner 7 along the axes in one of their six orders. No
//! edge descends along any axis, so cells with a common face divide it along the same diagonal.

use std::sync::LazyLock;

use crate::cell::Corner;
use crate::points::brick_points::PointStart;

/// Tetrahedra that remain of a cell, the first three corners counterclockwise as seen from the
/// fourth.
#[derive(Default)]
pub(crate) struct Remainder {
    pub tetrahedra: Vec<[PointStart; 4]>,
}

/// Corner of the cell, or a point between two corners.
#[derive(Clone, Copy, PartialEq)]
struct Point {
    a: Corner,
    b: Corner,
}

impl Point {
    fn middle(self) -> [i32; 3] {
        [0, 1, 2].map(|axis| i32::from(self.a >> axis & 1) + i32::from(self.b >> axis & 1))
    }

    /// Rank in an order of the points of all cells; equal in every cell that has the point.
    fn rank(self) -> [i32; 3] {
        let [x, y, z] = self.middle();
        [z, y, x]
    }

    fn start(self) -> PointStart {
        PointStart::new(usize::from(self.a ^ self.b), self.a & self.b)
    }
}

/// Remainder of a cell that keeps the corners in `case` (bits).
pub(crate) fn remainder(case: u8) -> &'static Remainder {
    static TABLE: LazyLock<Vec<Remainder>> = LazyLock::new(|| (0..=255).map(Remainder::new).collect());
    &TABLE[usize::from(case)]
}

/// Orders of three axes; every other one is a rotation.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 2, 0], [1, 0, 2], [2, 0, 1], [2, 1, 0]];

/// Corners of each tetrahedron, the first three counterclockwise as seen from the fourth.
pub(crate) fn corners() -> [[Corner; 4]; 6] {
    std::array::from_fn(|number| {
        let [first, second, _] = ORDERS[number].map(|axis| 1 << axis);
        let (one, two) = (first, first | second);
        if number % 2 == 0 { [0, one, two, 7] } else { [0, two, one, 7] }
    })
}

/// Permutations that preserve a tetrahedron's orientation.
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

impl Remainder {
    fn new(case: u8) -> Self {
        let mut remainder = Self::default();
        corners().into_iter().for_each(|corners| remainder.add(case, corners));
        remainder
    }

    fn add(&mut self, case: u8, corners: [Corner; 4]) {
        let is_kept = |corner: Corner| case >> corner & 1 == 1;
        let count = corners.into_iter().filter(|&corner| is_kept(corner)).count();
        let turned = ROTATIONS.map(|rotation| rotation.map(|index| corners[index]));
        let kept_first = |corners: &[Corner; 4]| corners[..count].iter().all(|&corner| is_kept(corner));
        let [a, b, c, d] = turned.into_iter().find(kept_first).expect("any corners can come first");
        // Also the point between a corner and itself.
        let between = |a: Corner, b: Corner| Point { a, b };
        let at = |corner: Corner| between(corner, corner);
        match count {
            0 => {}
            1 => self.push([at(a), between(a, b), between(a, c), between(a, d)]),
            2 => self.push_wedge([at(a), between(a, d), between(a, c), at(b), between(b, d), between(b, c)]),
            3 => self.push_wedge([at(a), at(c), at(b), between(a, d), between(c, d), between(b, d)]),
            _ => self.push([at(a), at(b), at(c), at(d)]),
        }
    }

    /// Divides a wedge into three tetrahedra, because readers disagree about the order of a wedge's
    /// corners. Each quadrilateral is divided from its corner of least rank: cells that share it
    /// choose the same diagonal.
    ///
    /// Source: J. Dompierre, P. Labbé, M.-G. Vallet, R. Camarero, *How to Subdivide Pyramids,
    /// Prisms and Hexahedra into Tetrahedra*, 8th International Meshing Roundtable (1999), section
    /// 4.
    fn push_wedge(&mut self, corners: [Point; 6]) {
        let least = (0..6).min_by_key(|&corner| corners[corner].rank()).unwrap_or(0);
        let [a, b, c, d, e, f] = FROM_CORNER[least].map(|corner| corners[corner]);
        // The only quadrilateral without the first corner.
        let is_first = b.rank().min(f.rank()) < c.rank().min(e.rank());
        let tetrahedra = if is_first {
            [[a, b, c, f], [a, b, f, e], [a, e, f, d]]
        } else {
            [[a, b, c, e], [a, e, c, f], [a, e, f, d]]
        };
        tetrahedra.into_iter().for_each(|corners| self.push(corners));
    }

    fn push(&mut self, corners: [Point; 4]) {
        let [a, b, c, d] = corners;
        let from = |to: Point| [0, 1, 2].map(|axis| to.middle()[axis] - a.middle()[axis]);
        let ([u, v, w], cyclic) = ([b, c, d].map(from), [(0, 1, 2), (1, 2, 0), (2, 0, 1)]);
        let volume: i32 = cyclic.iter().map(|&(x, y, z)| w[x] * (u[y] * v[z] - u[z] * v[y])).sum();
        let corners = if volume > 0 { [a, b, c, d] } else { [a, c, b, d] };
        self.tetrahedra.push(corners.map(Point::start));
    }
}

/// Corners of a wedge in the order that begins with each of them: one triangle, then the corners
/// above it.
const FROM_CORNER: [[usize; 6]; 6] = [
    [0, 1, 2, 3, 4, 5],
    [1, 2, 0, 4, 5, 3],
    [2, 0, 1, 5, 3, 4],
    [3, 5, 4, 0, 2, 1],
    [4, 3, 5, 1, 0, 2],
    [5, 4, 3, 2, 1, 0],
];
