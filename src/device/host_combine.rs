//! Built-in operators by the host, on mapped memory: the twins of the combining kernels, to the same bits.

use super::Operator;
use super::boxes::Transfer;
use super::host_copy::for_rows;
use crate::element::{ElementInfo, ElementKind, Scalar};

/// Combines the cells of a box of the first slice with those of a box of the second.
pub(super) type Combine = Box<dyn Fn(&[u8], &mut [u8], &Transfer)>;

/// How the host combines elements of this type, where it does: built-in operators on 32-bit scalars and vectors of
/// them. The same answer on every rank whose adapter maps its memory, so that bits do not depend on where cells come
/// from.
pub(super) fn host_combine(element: &ElementInfo, operator: &Operator) -> Option<Combine> {
    let (scalar, components) = match element.kind {
        ElementKind::Scalar(scalar) => (scalar, 1),
        ElementKind::Vector(scalar, components) => (scalar, components as u64),
        ElementKind::Packed(_) | ElementKind::Record(_) => return None,
    };
    let opaque = operator.opaque_from();
    // Minima and maxima by one comparison, as in the kernels: where it is false, as with NaN, the destination stays.
    Some(match (operator, scalar) {
        (Operator::Over, Scalar::F32) => colours::<16>(move |s, d| onto_floats(s, d, opaque)),
        (Operator::Under | Operator::UnderOpaque { .. }, Scalar::F32) => {
            colours::<16>(move |s, d| onto_floats(d, s, opaque))
        }
        (Operator::Over, Scalar::U32) => colours::<4>(|s, d| onto_rgba8(s, d, 256)),
        (Operator::Under | Operator::UnderOpaque { .. }, Scalar::U32) => {
            let opaque = opaque.map_or(256, opaque_rgba8);
            colours::<4>(move |s, d| onto_rgba8(d, s, opaque))
        }
        (Operator::Add, Scalar::F32) => cells(components, |s, d| float(s, d, |s, d| s + d)),
        (Operator::Add, Scalar::U32 | Scalar::I32) => cells(components, |s, d| whole(s, d, u32::wrapping_add)),
        (Operator::Min, Scalar::F32) => cells(components, |s, d| float(s, d, |s, d| if s < d { s } else { d })),
        (Operator::Max, Scalar::F32) => cells(components, |s, d| float(s, d, |s, d| if s > d { s } else { d })),
        (Operator::Min, Scalar::U32) => cells(components, |s, d| whole(s, d, u32::min)),
        (Operator::Max, Scalar::U32) => cells(components, |s, d| whole(s, d, u32::max)),
        (Operator::Min, Scalar::I32) => cells(components, |s, d| whole(s, d, |s, d| (s as i32).min(d as i32) as u32)),
        (Operator::Max, Scalar::I32) => cells(components, |s, d| whole(s, d, |s, d| (s as i32).max(d as i32) as u32)),
        _ => return None,
    })
}

/// The smallest opacity of 8 bits that reaches a threshold; 256 where none does.
pub(super) fn opaque_rgba8(threshold: f32) -> u32 {
    (0..=255).find(|&alpha| alpha as f32 / 255.0 >= threshold).unwrap_or(256)
}

/// Row by row, each cell `units` pieces of `N` bytes that are combined by themselves.
fn cells<const N: usize>(units: u64, f: impl Fn([u8; N], [u8; N]) -> [u8; N] + 'static) -> Combine {
    Box::new(move |src, dst, transfer| {
        let t = transfer.in_units_of(units);
        let ((src, _), (dst, _)) = (src.as_chunks::<N>(), dst.as_chunks_mut::<N>());
        let (n, step_s, step_d) = (t.n[0] as usize, t.s[0] as usize, t.d[0] as usize);
        for_rows(&t, |s, d| {
            let (s, d) = (s as usize, d as usize);
            if (step_s, step_d) == (1, 1) {
                dst[d..d + n].iter_mut().zip(&src[s..s + n]).for_each(|(d, s)| *d = f(*s, *d));
            } else {
                (0..n).for_each(|i| dst[d + i * step_d] = f(src[s + i * step_s], dst[d + i * step_d]));
            }
        });
    })
}

fn float(s: [u8; 4], d: [u8; 4], f: impl Fn(f32, f32) -> f32) -> [u8; 4] {
    f(f32::from_ne_bytes(s), f32::from_ne_bytes(d)).to_ne_bytes()
}

fn whole(s: [u8; 4], d: [u8; 4], f: impl Fn(u32, u32) -> u32) -> [u8; 4] {
    f(u32::from_ne_bytes(s), u32::from_ne_bytes(d)).to_ne_bytes()
}

/// Bytes that are blended together.
const BLOCK: usize = 64;

/// Words in them.
const WORDS: usize = BLOCK / 4;

/// Colours of `N` bytes, block by block where they lie in rows.
fn colours<const N: usize>(f: impl Fn([u8; BLOCK], [u8; BLOCK]) -> [u8; BLOCK] + 'static) -> Combine {
    Box::new(move |src, dst, t| {
        let ((src, _), (dst, _)) = (src.as_chunks::<N>(), dst.as_chunks_mut::<N>());
        let (n, step_s, step_d) = (t.n[0] as usize, t.s[0] as usize, t.d[0] as usize);
        for_rows(t, |s, d| {
            let (s, d) = (s as usize, d as usize);
            let mut done = 0;
            if (step_s, step_d) == (1, 1) {
                let (src, dst) = (src[s..s + n].as_flattened(), dst[d..d + n].as_flattened_mut());
                let ((src, _), (dst, _)) = (src.as_chunks::<BLOCK>(), dst.as_chunks_mut::<BLOCK>());
                dst.iter_mut().zip(src).for_each(|(d, s)| *d = f(*s, *d));
                done = dst.len() * BLOCK / N;
            }
            while done < n {
                // What is left of a row goes through the same arithmetic.
                let some = (n - done).min(BLOCK / N);
                let (mut from, mut to) = ([0; BLOCK], [0; BLOCK]);
                let ((from_cells, _), (to_cells, _)) = (from.as_chunks_mut::<N>(), to.as_chunks_mut::<N>());
                for i in 0..some {
                    from_cells[i] = src[s + (done + i) * step_s];
                    to_cells[i] = dst[d + (done + i) * step_d];
                }
                let (out, to) = (f(from, to), d + done * step_d);
                let cells = out.as_chunks::<N>().0.iter().take(some);
                cells.enumerate().for_each(|(i, cell)| dst[to + i * step_d] = *cell);
                done += some;
            }
        });
    })
}

/// Premultiplied colours in front of others; opacities from `opaque` on become 1.
fn onto_floats(front: [u8; BLOCK], back: [u8; BLOCK], opaque: Option<f32>) -> [u8; BLOCK] {
    let (front, back): ([f32; WORDS], [f32; WORDS]) = (bytemuck::cast(front), bytemuck::cast(back));
    let mut out: [f32; WORDS] = std::array::from_fn(|i| front[i] + (1.0 - front[i | 3]) * back[i]);
    if let Some(opaque) = opaque {
        for alpha in out.iter_mut().skip(3).step_by(4) {
            *alpha = if *alpha >= opaque { 1.0 } else { *alpha };
        }
    }
    bytemuck::cast(out)
}

/// The same with 8 bits a component, rounded to nearest; opacities from `opaque` on become 255.
fn onto_rgba8(front: [u8; BLOCK], back: [u8; BLOCK], opaque: u32) -> [u8; BLOCK] {
    type Halves = [u16; 2 * WORDS];
    let (front, back): ([u32; WORDS], [u32; WORDS]) = (bytemuck::cast(front), bytemuck::cast(back));
    let through: Halves = bytemuck::cast(front.map(|front| (255 - (front >> 24)) * 0x0001_0001));
    // Every other component, in halves of words: products of 8 bits fit, and vector units multiply 16 bits best.
    let dimmed = |shift: u32| -> [u32; WORDS] {
        let mut halves: Halves = bytemuck::cast(back.map(|back| (back >> shift) & 0x00ff_00ff));
        for (half, through) in halves.iter_mut().zip(through) {
            let product = half.wrapping_mul(through).wrapping_add(128);
            *half = product.wrapping_add(product >> 8) >> 8;
        }
        bytemuck::cast(halves)
    };
    let (even, odd) = (dimmed(0), dimmed(8));
    let both: [u32; WORDS] = std::array::from_fn(|i| even[i] | (odd[i] << 8));
    let (mut out, front): ([u8; BLOCK], [u8; BLOCK]) = (bytemuck::cast(both), bytemuck::cast(front));
    for (out, front) in out.iter_mut().zip(front) {
        // Sums beyond 255 stay there.
        *out = out.saturating_add(front);
    }
    if opaque < 256 {
        for alpha in out.iter_mut().skip(3).step_by(4) {
            *alpha = if u32::from(*alpha) >= opaque { 255 } else { *alpha };
        }
    }
    out
}
