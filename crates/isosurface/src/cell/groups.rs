//! Groups of connected corners of one sign.

use super::{Corner, FACES, is_inside};

/// Disjoint sets of the corners of a cell; a group is named by its lowest corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Groups([Corner; 8]);

impl Groups {
    /// One group per corner.
    pub(crate) const fn apart() -> Self {
        Self([0, 1, 2, 3, 4, 5, 6, 7])
    }

    /// Groups of corners that are connected on the surface of the cell.
    pub(crate) fn on_faces(case: u8, joined: u8) -> Self {
        let mut groups = Self::apart();
        for (face, corners) in FACES.iter().enumerate() {
            for (i, &corner) in corners.iter().enumerate() {
                let next = corners[(i + 1) % 4];
                if is_inside(case, corner) == is_inside(case, next) {
                    groups.unite(corner, next);
                }
            }
            if super::ambiguous(case) >> face & 1 == 1 {
                let diagonal = usize::from(is_inside(case, corners[0]) != (joined >> face & 1 == 1));
                groups.unite(corners[diagonal], corners[diagonal + 2]);
            }
        }
        groups
    }

    /// Name of a corner's group.
    pub(crate) fn of(&self, corner: Corner) -> Corner {
        self.0[usize::from(corner)]
    }

    /// Merges the groups of two corners.
    pub(crate) fn unite(&mut self, a: Corner, b: Corner) {
        let (a, b) = (self.of(a), self.of(b));
        for name in &mut self.0 {
            if *name == a.max(b) {
                *name = a.min(b);
            }
        }
    }

    /// True if the inside of a cell can connect two groups. Necessary condition: along each axis,
    /// planes across it have a corner of each group on opposite sides of a face.
    pub(crate) fn face_each_other(&self, (a, b): (Corner, Corner)) -> bool {
        let of = |name: Corner| (0..8).filter(move |&corner| self.of(corner) == name);
        let opposite = |across: Corner| of(a).any(|corner| of(b).any(|other| (corner ^ other) & across == across));
        a != b && [0b011, 0b101, 0b110].into_iter().all(opposite)
    }

    /// Names of all groups whose corners have this sign.
    #[cfg(test)]
    pub(crate) fn names(&self, case: u8, inside: bool) -> impl Iterator<Item = Corner> {
        (0..8).filter(move |&corner| is_inside(case, corner) == inside && self.of(corner) == corner)
    }
}
