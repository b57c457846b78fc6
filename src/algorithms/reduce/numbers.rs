//! [`Numbers`]: the scalars of a cell that take part in a reduction.

/// Selection of scalars of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// Index of the first scalar.
    pub first: usize,
    /// Number of consecutive scalars; each is a separate component.
    pub components: usize,
    /// Size of the cell in scalars of this type.
    pub per_cell: usize,
}

impl Numbers {
    /// The numbers of a component in cells of `N` sections. Numbers that are not contiguous are
    /// copied to `room`.
    pub(crate) fn component<'a, S: Copy, const N: usize>(
        &self,
        component: usize,
        cells: [&'a [S]; N],
        room: &'a mut [Vec<S>; N],
    ) -> [&'a [S]; N] {
        if self.per_cell == 1 {
            return cells;
        }
        for (room, cells) in room.iter_mut().zip(cells) {
            room.clear();
            room.extend(cells.iter().skip(self.first + component).step_by(self.per_cell));
        }
        room.each_ref().map(Vec::as_slice)
    }

    /// The selected numbers of each cell.
    pub(crate) fn of_cells<'a, S>(&self, cells: &'a [S]) -> impl Iterator<Item = &'a [S]> {
        let (first, components) = (self.first, self.components);
        cells.chunks_exact(self.per_cell).map(move |cell| &cell[first..][..components])
    }
}

/// Numbers of one component in consecutive cells of `N` sections.
pub(crate) struct NumberBlock<'a, S, const N: usize> {
    pub component: usize,
    pub numbers: [&'a [S]; N],
    /// Index of the box in which the cells lie.
    pub index: usize,
    /// Index of the first cell in the box, axis 0 fastest.
    pub first: u64,
}
