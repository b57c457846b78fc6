//! [`AxisOrder`]: order of an array's axes in a file.

use zippy_plan::extents::Index;
use zippy_plan::region::Region;

/// Extent of a tile along each of two axes: source and destination of a tile fit the first-level
/// cache.
const TILE: usize = 32;

/// Array axis of each file axis, fastest first: a permutation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisOrder(Vec<usize>);

impl AxisOrder {
    /// Order with these array axes; `None` for the identity.
    pub fn new(axes: Vec<usize>) -> Option<Self> {
        let is_other = axes.iter().enumerate().any(|(file_axis, &axis)| file_axis != axis);
        is_other.then_some(Self(axes))
    }

    /// Reversed order: the last axis of the array is the fastest in the file.
    pub fn reversed(axes: usize) -> Option<Self> {
        Self::new((0..axes).rev().collect())
    }

    /// Permutes an index from the array's order to the file's.
    pub fn to_file(&self, index: &Index) -> Index {
        Index::from_fn(self.0.len(), |file_axis| index[self.0[file_axis]])
    }

    /// Permutes an index from the file's order to the array's.
    pub fn to_array(&self, index: &Index) -> Index {
        let mut out = Index::zeros(self.0.len());
        self.0.iter().enumerate().for_each(|(file_axis, &axis)| out[axis] = index[file_axis]);
        out
    }

    /// File box of an array box.
    pub fn region_in_file(&self, region: &Region) -> Region {
        Region::between(self.to_file(&region.start), self.to_file(&region.end))
    }

    /// Array box of a file box.
    pub fn region_in_array(&self, region: &Region) -> Region {
        Region::between(self.to_array(&region.start), self.to_array(&region.end))
    }

    /// Permutes numbers from the array's order to the file's, for any number of axes.
    pub fn along_file(&self, numbers: &[i64]) -> Vec<i64> {
        self.0.iter().map(|&axis| numbers[axis]).collect()
    }

    /// Strides in a dense file box for each axis of the array; `extents` are in array order.
    pub fn strides_in_file(&self, extents: &[i64]) -> Vec<usize> {
        let mut out = vec![0; self.0.len()];
        let strides = strides(&self.along_file(extents));
        self.0.iter().zip(strides).for_each(|(&axis, stride)| out[axis] = stride);
        out
    }

    /// Copies the cells of a dense box from the file's order to the array's. `extents` are in file
    /// order.
    pub fn arrange(&self, extents: &[i64], cell_bytes: usize, from: &[u8], to: &mut [u8]) {
        match cell_bytes {
            1 => self.arrange_cells::<1>(extents, from, to),
            2 => self.arrange_cells::<2>(extents, from, to),
            4 => self.arrange_cells::<4>(extents, from, to),
            8 => self.arrange_cells::<8>(extents, from, to),
            _ => self.each_cell(extents, |source, target| {
                let (source, target) = (source * cell_bytes, target * cell_bytes);
                to[target..target + cell_bytes].copy_from_slice(&from[source..source + cell_bytes]);
            }),
        }
    }

    fn arrange_cells<const BYTES: usize>(&self, extents: &[i64], from: &[u8], to: &mut [u8]) {
        let (from, to) = (from.as_chunks::<BYTES>().0, to.as_chunks_mut::<BYTES>().0);
        self.each_cell(extents, |source, target| to[target] = from[source]);
    }

    /// Calls `each` with the index of each cell in the file's box and in the array's.
    fn each_cell(&self, extents: &[i64], mut each: impl FnMut(usize, usize)) {
        let axes = self.0.len();
        let count: Vec<usize> = extents.iter().map(|&extent| extent as usize).collect();
        let in_file = strides(extents);
        let mut array = vec![0; axes];
        self.0.iter().zip(extents).for_each(|(&axis, &extent)| array[axis] = extent);
        let array = strides(&array);
        let in_array: Vec<usize> = self.0.iter().map(|&axis| array[axis]).collect();
        if count.contains(&0) {
            return;
        }
        // Tiles along the fastest axis of the file and that of the array, which can be the same
        // axis.
        let is_long = |axis: &usize| count[*axis] > 1;
        let Some(along) = (0..axes).find(is_long) else { return each(0, 0) };
        let across = (0..axes).filter(is_long).min_by_key(|&axis| in_array[axis]).unwrap_or(along);
        let others: Vec<usize> = (0..axes).filter(|&axis| axis != along && axis != across).collect();
        let planes: usize = others.iter().map(|&axis| count[axis]).product();
        let rows = if across == along { 1 } else { count[across] };
        for plane in 0..planes {
            let (mut rest, mut source, mut target) = (plane, 0, 0);
            for &axis in &others {
                source += rest % count[axis] * in_file[axis];
                target += rest % count[axis] * in_array[axis];
                rest /= count[axis];
            }
            for (first_row, first) in tiles(rows, count[along]) {
                for at in first..(first + TILE).min(count[along]) {
                    for row in first_row..(first_row + TILE).min(rows) {
                        each(
                            source + at * in_file[along] + row * in_file[across],
                            target + at * in_array[along] + row * in_array[across],
                        );
                    }
                }
            }
        }
    }
}

/// Strides of a dense box, axis 0 fastest.
pub fn strides(extents: &[i64]) -> Vec<usize> {
    extents.iter().scan(1, |stride, &count| Some(std::mem::replace(stride, *stride * count as usize))).collect()
}

fn tiles(rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..rows).step_by(TILE).flat_map(move |row| (0..columns).step_by(TILE).map(move |column| (row, column)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arranged_cells_are_at_their_indices_for_every_order_and_size() {
        let extents = [[5, 1, 1, 1], [35, 3, 1, 1], [2, 33, 3, 1], [3, 2, 4, 5], [3, 0, 2, 1]];
        let orders = (0..256).map(|code: usize| [code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6]);
        let mut tried = 0;
        for order in orders.filter(|order| (0..4).all(|axis| order.contains(&axis))) {
            let Some(order) = AxisOrder::new(order.to_vec()) else { continue };
            for extents in extents {
                let in_file = Region::whole(Index::new(&extents));
                let in_array = order.region_in_array(&in_file);
                assert_eq!(order.region_in_file(&in_array), in_file);
                for bytes in [1, 2, 3, 4, 8, 12] {
                    let cell = |number: u64| (0..bytes).map(move |byte| (number as usize * 7 + byte) as u8);
                    let from: Vec<u8> = (0..in_file.cells()).flat_map(cell).collect();
                    let mut to = vec![0; from.len()];
                    order.arrange(&in_file.extents(), bytes, &from, &mut to);
                    let expected = in_array.points().flat_map(|at| cell(in_file.offset(&order.to_file(&at))));
                    assert!(to.iter().copied().eq(expected), "{order:?} {extents:?} {bytes}");
                    tried += 1;
                }
            }
        }
        assert_eq!(tried, 23 * 5 * 6);
        assert_eq!(AxisOrder::new(vec![0, 1, 2]), None);
        assert_eq!(AxisOrder::reversed(1), None);
    }
}
