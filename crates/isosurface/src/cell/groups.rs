//! Groups of connected corners of one sign.

use super::{Corner, FACES, is_inside};

/// Disjoint sets of the corners of a cell, each named by its lowest corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Groups([Corner; 8]);

impl Groups {
    pub(crate) const fn singletons() -> Self {
        Self([0, 1, 2, 3, 4, 5, 6, 7])
    }

    /// Groups that are connected on the faces of the cell.
    pub(crate) fn on_faces(case: u8, joined: u8) -> Self {
        let mut groups = Self::singletons();
        for (face, corners) in FACES.iter().enumerate() {
            for (i, &corner) in corners.iter().enumerate() {
                let next = corners[(i + 1) % 4];
                if is_inside(case, corner) == is_inside(case, next) {
                    groups.merge(corner, next);
                }
            }
            if super::ambiguous(case) >> face & 1 == 1 {
                let diagonal = usize::from(is_inside(case, corners[0]) != (joined >> face & 1 == 1));
                groups.merge(corners[diagonal], corners[diagonal + 2]);
            }
        }
        groups
    }

    pub(crate) fn group_of(&self, corner: Corner) -> Corner {
        self.0[usize::from(corner)]
    }

    pub(crate) fn merge(&mut self, a: Corner, b: Corner) {
        let (a, b) = (self.group_of(a), self.group_of(b));
        for name in &mut self.0 {
            if *name == a.max(b) {
                *name = a.min(b);
            }
        }
    }

    /// Necessary condition for a connection of two groups inside the cell: along each axis, they
    /// have corners at opposite ends of a face.
    pub(crate) fn face_each_other(&self, (a, b): (Corner, Corner)) -> bool {
        let corners_of = |name: Corner| (0..8).filter(move |&corner| self.group_of(corner) == name);
        let opposite =
            |across: Corner| corners_of(a).any(|corner| corners_of(b).any(|other| (corner ^ other) & across == across));
        a != b && [0b011, 0b101, 0b110].into_iter().all(opposite)
    }

    #[cfg(test)]
    pub(crate) fn names(&self, case: u8, inside: bool) -> impl Iterator<Item = Corner> {
        (0..8).filter(move |&corner| is_inside(case, corner) == inside && self.group_of(corner) == corner)
    }
}
