//! [`HostBox`]: access of the host to cells in mapped memory, block by block.

use crate::algorithms::vector_loop::prefetch;
use crate::device::StridedBox;
use crate::extents::MAX_AXES;

/// Numbers per block of a reduction: a block fits in the first-level cache.
pub(crate) const BLOCK: usize = 1 << 11;
/// Distance of the prefetched block from the current one, in blocks.
const PREFETCH_DISTANCE: usize = 2;
/// Minimum number of cells per block, also for large cells: shorter blocks do not fill vectors.
const MIN_CELLS_PER_BLOCK: usize = 1 << 8;
/// Number of cells of a row from which on it is processed in place; shorter rows are copied
/// together.
const MIN_CELLS_OF_LONG_ROW: u64 = 1 << 8;
/// Minimum number of numbers per thread: fewer do not pay off its start.
const MIN_NUMBERS_PER_THREAD: u64 = 1 << 16;
/// Number of tasks per thread, so that a preempted thread does not delay the others.
const TASKS_PER_THREAD: u64 = 4;

/// Boxes of equal extents in `N` memories with corresponding cells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostBox<'a, const N: usize> {
    pub memory: [&'a [u8]; N],
    pub views: [StridedBox; N],
    /// Size of a cell: in bytes, and in numbers.
    pub cell: (usize, usize),
    /// Index of the section's box that this box is a part of.
    pub index: usize,
    /// Number of preceding cells in the section's box, axis 0 fastest.
    pub first: u64,
}

/// Consecutive cells of a [`HostBox`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct CellBlock<'a, const N: usize> {
    pub cells: [&'a [u8]; N],
    pub index: usize,
    /// Index of the first cell in the section's box, axis 0 fastest.
    pub first: u64,
}

/// Box in normal form: without axes of extent 1, and with contiguous axes merged.
struct Rows<const N: usize> {
    axes: usize,
    extents: [u64; MAX_AXES],
    strides: [[u64; MAX_AXES]; N],
}

impl<const N: usize> Rows<N> {
    fn of(views: &[StridedBox; N]) -> Self {
        let mut rows = Self { axes: 0, extents: [1; MAX_AXES], strides: [[1; MAX_AXES]; N] };
        for axis in 0..views[0].extents.axes() {
            let extent = views[0].extents[axis] as u64;
            let strides = views.map(|view| view.strides[axis] as u64);
            let follows = |last: usize| (0..N).all(|i| rows.strides[i][last] * rows.extents[last] == strides[i]);
            match rows.axes.checked_sub(1) {
                _ if extent == 1 => {}
                Some(last) if follows(last) => rows.extents[last] *= extent,
                _ => {
                    rows.extents[rows.axes] = extent;
                    (0..N).for_each(|i| rows.strides[i][rows.axes] = strides[i]);
                    rows.axes += 1;
                }
            }
        }
        rows
    }

    /// Calls `each` with the first cell of each row in each memory.
    fn visit(&self, mut at: [u64; N], mut each: impl FnMut([u64; N])) {
        let mut position = [0; MAX_AXES];
        loop {
            each(at);
            let mut axis = 1;
            loop {
                if axis >= self.axes {
                    return;
                }
                position[axis] += 1;
                (0..N).for_each(|i| at[i] += self.strides[i][axis]);
                if position[axis] < self.extents[axis] {
                    break;
                }
                (0..N).for_each(|i| at[i] -= self.strides[i][axis] * self.extents[axis]);
                position[axis] = 0;
                axis += 1;
            }
        }
    }
}

impl<'a, const N: usize> HostBox<'a, N> {
    fn cells(&self) -> u64 {
        self.views[0].cells()
    }

    fn block_cells(&self) -> usize {
        (BLOCK / self.cell.1.max(1)).max(MIN_CELLS_PER_BLOCK)
    }

    /// Splits into parts of at most `most` cells.
    fn cut(self, most: u64) -> impl Iterator<Item = Self> {
        let mut others = self.views.map(|view| view.cut(most));
        std::iter::from_fn(move || {
            let mut first = self.first;
            let views = others.each_mut().map(|views| {
                let (view, before) = views.next()?;
                first = self.first + before;
                Some(view)
            });
            views[0]?;
            Some(Self { views: views.map(|view| view.expect("boxes have equal extents")), first, ..self })
        })
    }

    /// Calls `each` with all cells, axis 0 fastest, in blocks of at most [`BLOCK`] cells.
    pub(crate) fn visit(&self, each: &mut dyn FnMut(CellBlock<'_, N>)) {
        let (bytes, most) = (self.cell.0, self.block_cells());
        if self.cells() == 0 {
            return;
        }
        let rows = Rows::of(&self.views);
        let (length, dense) = (rows.extents[0], rows.strides.iter().all(|strides| strides[0] == 1));
        let begin = self.views.map(|view| view.offset);
        let mut first = self.first;
        if dense && (length >= MIN_CELLS_OF_LONG_ROW || rows.axes <= 1) {
            // Rows with small gaps are processed as a single row.
            let close = rows.axes <= 1 || (0..N).all(|i| rows.strides[i][1] <= length + length / 8);
            rows.visit(begin, |at| {
                for from in (0..length).step_by(most) {
                    let cells = most.min((length - from) as usize);
                    for i in (0..N).filter(|_| close) {
                        let start = ((at[i] + from) as usize + PREFETCH_DISTANCE * most) * bytes;
                        let end = (start + cells * bytes).min(self.memory[i].len());
                        prefetch(self.memory[i].get(start..end).unwrap_or_default());
                    }
                    let slice = |i: usize| {
                        let start = (at[i] + from) as usize * bytes;
                        &self.memory[i][start..start + cells * bytes]
                    };
                    each(CellBlock { cells: std::array::from_fn(slice), index: self.index, first });
                    first += cells as u64;
                }
            });
            return;
        }
        let room = most.min(self.cells() as usize) * bytes;
        let mut gathered: [Vec<u64>; N] = std::array::from_fn(|_| vec![0; room.div_ceil(8)]);
        let mut held = 0;
        let mut flush = |gathered: &[Vec<u64>; N], held: &mut usize| {
            let cells = gathered.each_ref().map(|cells| &bytemuck::cast_slice(cells)[..*held * bytes]);
            each(CellBlock { cells, index: self.index, first });
            first += *held as u64;
            *held = 0;
        };
        rows.visit(begin, |at| {
            let mut from = 0;
            while from < length {
                let cells = (most - held).min((length - from) as usize);
                for i in 0..N {
                    let stride = rows.strides[i][0] as usize;
                    let source = &self.memory[i][(at[i] as usize + from as usize * stride) * bytes..];
                    let target: &mut [u8] = bytemuck::cast_slice_mut(&mut gathered[i]);
                    gather_cells(source, stride, &mut target[held * bytes..(held + cells) * bytes], bytes);
                }
                (held, from) = (held + cells, from + cells as u64);
                if held == most {
                    flush(&gathered, &mut held);
                }
            }
        });
        if held > 0 {
            flush(&gathered, &mut held);
        }
    }
}

/// Copies every `stride`-th cell to contiguous memory.
fn gather_cells(source: &[u8], stride: usize, target: &mut [u8], bytes: usize) {
    fn copy<const BYTES: usize>(source: &[u8], stride: usize, target: &mut [u8]) {
        let (source, _) = source.as_chunks::<BYTES>();
        let (target, _) = target.as_chunks_mut::<BYTES>();
        target.iter_mut().zip(source.iter().step_by(stride.max(1))).for_each(|(to, from)| *to = *from);
    }
    match bytes {
        _ if stride == 1 => target.copy_from_slice(&source[..target.len()]),
        1 => copy::<1>(source, stride, target),
        2 => copy::<2>(source, stride, target),
        4 => copy::<4>(source, stride, target),
        8 => copy::<8>(source, stride, target),
        _ => {
            let cells = source.chunks(stride * bytes).zip(target.chunks_exact_mut(bytes));
            cells.for_each(|(from, to)| to.copy_from_slice(&from[..bytes]));
        }
    }
}

/// Splits boxes into tasks of nearly equal size with at least `least` numbers each. Few numbers or
/// a single thread make a single task.
pub(crate) fn split_into_tasks<'a, const N: usize>(
    boxes: Vec<HostBox<'a, N>>,
    threads: usize,
    least: u64,
) -> Vec<Vec<HostBox<'a, N>>> {
    let numbers = |one: &HostBox<'a, N>| one.cells() * one.cell.1.max(1) as u64;
    let all: u64 = boxes.iter().map(numbers).sum();
    let least = least.max(MIN_NUMBERS_PER_THREAD / TASKS_PER_THREAD);
    if threads == 1 || all < MIN_NUMBERS_PER_THREAD || all < 2 * least {
        return vec![boxes];
    }
    let most = all.div_ceil(TASKS_PER_THREAD * threads as u64).max(least);
    let (mut tasks, mut task, mut held) = (Vec::new(), Vec::new(), 0);
    for one in boxes {
        for part in one.cut((most / one.cell.1.max(1) as u64).max(1)) {
            held += numbers(&part);
            task.push(part);
            if held >= most {
                tasks.push(std::mem::take(&mut task));
                held = 0;
            }
        }
    }
    tasks.extend((!task.is_empty()).then_some(task));
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extents::Index;

    /// Positions of the cells of a box, by a plain loop.
    fn positions(view: &StridedBox) -> Vec<u64> {
        let cells = view.cells();
        let mut all = Vec::new();
        for cell in 0..cells {
            let (mut rest, mut at) = (cell, view.offset);
            for axis in 0..view.extents.axes() {
                at += rest % view.extents[axis] as u64 * view.strides[axis] as u64;
                rest /= view.extents[axis] as u64;
            }
            all.push(at);
        }
        all
    }

    #[test]
    fn visited_cells_are_in_order_for_all_strides_tasks_and_cell_sizes() {
        let extents = [[1, 1, 1], [5, 1, 7], [700, 3, 2], [3, 41, 50], [0, 4, 4], [257, 1, 9], [9000, 1, 8]];
        for (extents, gaps) in
            extents.into_iter().flat_map(|extents| [[1, 0, 0], [1, 3, 0], [2, 1, 5]].map(|gaps| (extents, gaps)))
        {
            for bytes in [1, 2, 4, 8, 12] {
                let pitch = extents[0] * gaps[0] + gaps[1];
                let strides = Index::from([gaps[0], pitch, pitch * extents[1] + gaps[2]]);
                let view = StridedBox { offset: 3, extents: extents.into(), strides };
                let other = StridedBox::dense(1, extents.into());
                let memory = |view: &StridedBox| -> Vec<u8> {
                    let cells = view.range().end as usize;
                    (0..cells * bytes).map(|byte| (byte / bytes * 7 + byte % bytes) as u8).collect()
                };
                let memories = [memory(&view), memory(&other)];
                let whole = HostBox {
                    memory: [&memories[0], &memories[1]],
                    views: [view, other],
                    cell: (bytes, 1),
                    index: 4,
                    first: 0,
                };
                let expected = [&view, &other].map(positions);
                for threads in [1, 3] {
                    let mut next = 0;
                    for part in split_into_tasks(vec![whole], threads, 0).into_iter().flatten() {
                        part.visit(&mut |block| {
                            assert_eq!((block.first, block.index), (next as u64, 4));
                            let cells = block.cells[0].len() / bytes;
                            for (which, cells) in block.cells.into_iter().enumerate() {
                                for (i, cell) in cells.chunks(bytes).enumerate() {
                                    let start = expected[which][next + i] as usize * bytes;
                                    assert_eq!(cell, &memories[which][start..start + bytes]);
                                }
                            }
                            assert!(cells > 0 && cells <= BLOCK);
                            next += cells;
                        });
                    }
                    assert_eq!(next, expected[0].len(), "{extents:?} {gaps:?}");
                }
            }
        }
    }

    #[test]
    fn few_numbers_are_split_into_few_tasks() {
        let memory = vec![0_u8; 1 << 20];
        let of = |cells: i64| HostBox {
            memory: [&memory[..]],
            views: [StridedBox::dense(0, [cells].into())],
            cell: (4, 1),
            index: 0,
            first: 0,
        };
        assert_eq!(split_into_tasks(vec![of(1000); 50], 4, 0).len(), 1);
        assert_eq!(split_into_tasks(vec![of(1 << 18)], 1, 0).len(), 1);
        assert_eq!(split_into_tasks(vec![of(1 << 18)], 2, 0).len(), 8);
        assert_eq!(split_into_tasks(vec![of(1 << 18)], 2, 1 << 17).len(), 2);
        assert_eq!(split_into_tasks(vec![of(1 << 18)], 2, 1 << 18).len(), 1);
        assert_eq!(split_into_tasks(Vec::<HostBox<'_, 1>>::new(), 4, 0).len(), 1);
    }
}
