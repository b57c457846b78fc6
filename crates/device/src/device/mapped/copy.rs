//! Moving boxes by the host: the mapped path, and the plain twin of the transfer shaders.

use super::super::boxes::{AXES, BoxPair};

/// Copies the cells of `t` (offsets and strides in elements of `element_bytes`) from `src` to `dst`.
///
/// # Panics
/// If a box leaves its slice; callers have checked.
pub(in crate::device) fn copy(src: &[u8], dst: &mut [u8], element_bytes: usize, t: &BoxPair) {
    if t.cells() == 0 {
        return;
    }
    if t.s[0] == 1 && t.d[0] == 1 {
        let row = t.n[0] as usize * element_bytes;
        for_rows(t, |s, d| {
            let (s, d) = (s as usize * element_bytes, d as usize * element_bytes);
            dst[d..d + row].copy_from_slice(&src[s..s + row]);
        });
        return;
    }
    match element_bytes {
        1 => strided::<1>(src, dst, t),
        2 => strided::<2>(src, dst, t),
        4 => strided::<4>(src, dst, t),
        8 => strided::<8>(src, dst, t),
        16 => strided::<16>(src, dst, t),
        _ => for_rows(t, |s, d| {
            for i in 0..t.n[0] {
                let from = (s + i * t.s[0]) as usize * element_bytes;
                let to = (d + i * t.d[0]) as usize * element_bytes;
                dst[to..to + element_bytes].copy_from_slice(&src[from..from + element_bytes]);
            }
        }),
    }
}

/// Rows whose cells do not lie side by side, in elements of `N` bytes.
fn strided<const N: usize>(src: &[u8], dst: &mut [u8], t: &BoxPair) {
    let (src, _) = src.as_chunks::<N>();
    let (dst, _) = dst.as_chunks_mut::<N>();
    let (n, step_s, step_d) = (t.n[0] as usize, t.s[0] as usize, t.d[0] as usize);
    for_rows(t, |s, d| {
        let (s, d) = (s as usize, d as usize);
        let from = src[s..].iter().step_by(step_s.max(1));
        if step_s == 0 && step_d == 1 {
            dst[d..d + n].fill(src[s]);
        } else if step_s == 0 {
            dst[d..].iter_mut().step_by(step_d).take(n).for_each(|to| *to = src[s]);
        } else if step_d == 1 {
            dst[d..d + n].iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        } else {
            dst[d..].iter_mut().step_by(step_d.max(1)).zip(from.take(n)).for_each(|(to, from)| *to = *from);
        }
    });
}

/// Calls with the source and destination offset of every row along axis 0.
pub(super) fn for_rows(t: &BoxPair, mut row: impl FnMut(u64, u64)) {
    let mut at = [0; AXES];
    let (mut s, mut d) = (t.src, t.dst);
    loop {
        row(s, d);
        let mut axis = 1;
        loop {
            if axis >= t.axes {
                return;
            }
            at[axis] += 1;
            s += t.s[axis];
            d += t.d[axis];
            if at[axis] < t.n[axis] {
                break;
            }
            s -= t.s[axis] * t.n[axis];
            d -= t.d[axis] * t.n[axis];
            at[axis] = 0;
            axis += 1;
        }
    }
}
