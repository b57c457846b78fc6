//! [`Numbers`]: selection of the scalars of a cell that a reduction uses.

/// Selection of consecutive scalars of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// Index of the first selected scalar.
    pub first: usize,
    /// Number of selected scalars; each is a separate component.
    pub components: usize,
    /// Number of scalars per cell.
    pub per_cell: usize,
}

impl Numbers {
    /// Extracts the numbers of a component from cells of `N` sections. Numbers that are not
    /// contiguous are copied to `room`.
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

    /// Selected numbers of each cell.
    pub(crate) fn of_cells<'a, S>(&self, cells: &'a [S]) -> impl Iterator<Item = &'a [S]> {
        let (first, components) = (self.first, self.components);
        cells.chunks_exact(self.per_cell).map(move |cell| &cell[first..][..components])
    }
}

/// Numbers of one component in consecutive cells of `N` sections.
pub(crate) struct NumberBlock<'a, S, const N: usize> {
    pub component: usize,
    pub numbers: [&'a [S]; N],
    /// Index of the box that contains the cells.
    pub index: usize,
    /// Index of the first cell in the box, axis 0 fastest.
    pub first: u64,
}
