//! [`copy_cells`]: copy of a box by the host, with the same result as the transfer shaders.

use crate::device::box_pair::{BoxPair, MAX_PAIR_AXES};

/// Copies the cells of `transfer` (offsets and strides in elements of `element_bytes`) from `src`
/// to `dst`.
///
/// # Panics
/// If a box leaves its slice; callers check the boxes.
pub(in crate::device) fn copy_cells(src: &[u8], dst: &mut [u8], element_bytes: usize, transfer: &BoxPair) {
    if transfer.cells() == 0 {
        return;
    }
    if transfer.src_strides[0] == 1 && transfer.dst_strides[0] == 1 {
        let row = transfer.extents[0] as usize * element_bytes;
        for_each_row(transfer, |s, d| {
            let (s, d) = (s * element_bytes, d * element_bytes);
            dst[d..d + row].copy_from_slice(&src[s..s + row]);
        });
        return;
    }
    match element_bytes {
        1 => copy_strided::<1>(src, dst, transfer),
        2 => copy_strided::<2>(src, dst, transfer),
        4 => copy_strided::<4>(src, dst, transfer),
        8 => copy_strided::<8>(src, dst, transfer),
        16 => copy_strided::<16>(src, dst, transfer),
        _ => for_each_row(transfer, |s, d| {
            for i in 0..transfer.extents[0] as usize {
                let s = (s + i * transfer.src_strides[0] as usize) * element_bytes;
                let d = (d + i * transfer.dst_strides[0] as usize) * element_bytes;
                dst[d..d + element_bytes].copy_from_slice(&src[s..s + element_bytes]);
            }
        }),
    }
}

/// Copies rows of non-contiguous elements of `N` bytes.
fn copy_strided<const N: usize>(src: &[u8], dst: &mut [u8], transfer: &BoxPair) {
    let (src, _) = src.as_chunks::<N>();
    let (dst, _) = dst.as_chunks_mut::<N>();
    let (n, step_s, step_d) = row_geometry(transfer);
    for_each_row(transfer, |s, d| {
        let cells = src[s..].iter().step_by(step_s.max(1));
        if step_s == 0 && step_d == 1 {
            dst[d..d + n].fill(src[s]);
        } else if step_s == 0 {
            dst[d..].iter_mut().step_by(step_d).take(n).for_each(|to| *to = src[s]);
        } else if step_d == 1 {
            dst[d..d + n].iter_mut().zip(cells).for_each(|(to, from)| *to = *from);
        } else {
            dst[d..].iter_mut().step_by(step_d.max(1)).zip(cells.take(n)).for_each(|(to, from)| *to = *from);
        }
    });
}

/// Returns the number of cells of a row along axis 0, and the distances of adjacent cells in source
/// and destination.
pub(super) fn row_geometry(transfer: &BoxPair) -> (usize, usize, usize) {
    (transfer.extents[0] as usize, transfer.src_strides[0] as usize, transfer.dst_strides[0] as usize)
}

/// Calls `row` with the source and destination offset of every row along axis 0.
pub(super) fn for_each_row(transfer: &BoxPair, mut row: impl FnMut(usize, usize)) {
    let mut position = [0; MAX_PAIR_AXES];
    let (mut s, mut d) = (transfer.src_offset, transfer.dst_offset);
    loop {
        row(s as usize, d as usize);
        let mut axis = 1;
        loop {
            if axis >= transfer.axes {
                return;
            }
            position[axis] += 1;
            s += transfer.src_strides[axis];
            d += transfer.dst_strides[axis];
            if position[axis] < transfer.extents[axis] {
                break;
            }
            s -= transfer.src_strides[axis] * transfer.extents[axis];
            d -= transfer.dst_strides[axis] * transfer.extents[axis];
            position[axis] = 0;
            axis += 1;
        }
    }
}
