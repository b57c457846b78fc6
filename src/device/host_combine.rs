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
        (Operator::Over, Scalar::F32) => cells(1, move |s, d| floats(s, d, |s, d| onto(s, d, opaque))),
        (Operator::Under | Operator::UnderOpaque { .. }, Scalar::F32) => {
            cells(1, move |s, d| floats(s, d, |s, d| onto(d, s, opaque)))
        }
        (Operator::Over, Scalar::U32) => rows(|s, d| onto_rgba8(s, d, 256)),
        (Operator::Under | Operator::UnderOpaque { .. }, Scalar::U32) => {
            let opaque = opaque.map_or(256, opaque_rgba8);
            rows(move |s, d| onto_rgba8(d, s, opaque))
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

fn floats(s: [u8; 16], d: [u8; 16], f: impl Fn([f32; 4], [f32; 4]) -> [f32; 4]) -> [u8; 16] {
    bytemuck::cast(f(bytemuck::cast(s), bytemuck::cast(d)))
}

/// A premultiplied colour in front of another.
fn onto(front: [f32; 4], back: [f32; 4], opaque: Option<f32>) -> [f32; 4] {
    let through = 1.0 - front[3];
    let mut out: [f32; 4] = std::array::from_fn(|c| front[c] + through * back[c]);
    if opaque.is_some_and(|opaque| out[3] >= opaque) {
        out[3] = 1.0;
    }
    out
}

/// Colours of 8 bits a component that are blended together, in words of vector registers.
const BLOCK: usize = 16;

/// Colours of 8 bits a component, in a row of cells or one by one.
fn rows(f: impl Fn([u32; BLOCK], [u32; BLOCK]) -> [u32; BLOCK] + 'static) -> Combine {
    Box::new(move |src, dst, t| {
        let ((src, _), (dst, _)) = (src.as_chunks::<4>(), dst.as_chunks_mut::<4>());
        let (n, step_s, step_d) = (t.n[0] as usize, t.s[0] as usize, t.d[0] as usize);
        for_rows(t, |s, d| {
            let (s, d) = (s as usize, d as usize);
            let mut done = 0;
            if (step_s, step_d) == (1, 1) {
                let ((src, _), (dst, _)) = (src[s..s + n].as_chunks::<BLOCK>(), dst[d..d + n].as_chunks_mut::<BLOCK>());
                for (d, s) in dst.iter_mut().zip(src) {
                    *d = bytemuck::cast(f(bytemuck::cast::<[[u8; 4]; BLOCK], _>(*s), bytemuck::cast(*d)));
                }
                done = dst.len() * BLOCK;
            }
            while done < n {
                // What is left of a row goes through the same arithmetic.
                let some = (n - done).min(BLOCK);
                let (mut front, mut back) = ([0; BLOCK], [0; BLOCK]);
                for i in 0..some {
                    front[i] = u32::from_ne_bytes(src[s + (done + i) * step_s]);
                    back[i] = u32::from_ne_bytes(dst[d + (done + i) * step_d]);
                }
                let out = f(front, back);
                (0..some).for_each(|i| dst[d + (done + i) * step_d] = out[i].to_ne_bytes());
                done += some;
            }
        });
    })
}

/// [`onto`] with 8 bits a component, rounded to nearest; opacities from `opaque` on become 255.
fn onto_rgba8(front: [u32; BLOCK], back: [u32; BLOCK], opaque: u32) -> [u32; BLOCK] {
    type Halves = [u16; 2 * BLOCK];
    let through: Halves = bytemuck::cast(front.map(|front| (255 - (front >> 24)) * 0x0001_0001));
    // Every other component, in halves of words: products of 8 bits fit, and vector units multiply 16 bits best.
    let dimmed = |shift: u32| -> [u32; BLOCK] {
        let mut halves: Halves = bytemuck::cast(back.map(|back| (back >> shift) & 0x00ff_00ff));
        for (half, through) in halves.iter_mut().zip(through) {
            let product = half.wrapping_mul(through).wrapping_add(128);
            *half = product.wrapping_add(product >> 8) >> 8;
        }
        bytemuck::cast(halves)
    };
    let (even, odd) = (dimmed(0), dimmed(8));
    let both: [u32; BLOCK] = std::array::from_fn(|i| even[i] | (odd[i] << 8));
    let (mut out, front): ([u8; 4 * BLOCK], [u8; 4 * BLOCK]) = (bytemuck::cast(both), bytemuck::cast(front));
    for (out, front) in out.iter_mut().zip(front) {
        // Sums beyond 255 stay there.
        *out = out.saturating_add(front);
    }
    let mut out: [u32; BLOCK] = bytemuck::cast(out);
    if opaque < 256 {
        for out in &mut out {
            *out |= if *out >> 24 >= opaque { 0xff00_0000 } else { 0 };
        }
    }
    out
}
