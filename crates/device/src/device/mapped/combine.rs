//! Built-in operators by the host, on mapped memory: the twins of the combining kernels, to the same bits.

use super::super::boxes::BoxPair;
use super::super::colour::Colour;
use super::copy::for_rows;
use crate::device::Operator;
use crate::element::{ElementInfo, ElementKind, Scalar};

/// Combines the cells of a box of the first slice with those of a box of the second.
pub(super) type CombineCells = Box<dyn Fn(&[u8], &mut [u8], &BoxPair)>;

/// How the host combines elements of this type, where it does: built-in operators on 32-bit scalars and vectors of
/// them. The same answer on every rank whose adapter maps its memory, so that bits do not depend on where cells come
/// from.
pub(super) fn host_combine(element: &ElementInfo, operator: &Operator) -> Option<CombineCells> {
    let (scalar, components) = match element.kind {
        ElementKind::Scalar(scalar) => (scalar, 1),
        ElementKind::Vector(scalar, components) => (scalar, components as u64),
        ElementKind::Packed(_) | ElementKind::Record(_) => return None,
    };
    let opaque = operator.opaque_from();
    // Minima and maxima by one comparison, as in the kernels: where it is false, as with NaN, the destination stays.
    Some(match (operator, scalar) {
        (Operator::Over, Scalar::F32) => colours::<16>(<[f32; 4]>::over_all),
        (Operator::Over, Scalar::U32) => colours::<4>(u32::over_all),
        (Operator::Under | Operator::UnderOpaque { .. }, Scalar::F32) => {
            colours::<16>(move |s, d| <[f32; 4]>::under_all(s, d, opaque))
        }
        (Operator::Under | Operator::UnderOpaque { .. }, Scalar::U32) => {
            colours::<4>(move |s, d| u32::under_all(s, d, opaque))
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

/// Row by row, each cell `units` pieces of `N` bytes that are combined by themselves.
fn cells<const N: usize>(units: u64, f: impl Fn([u8; N], [u8; N]) -> [u8; N] + 'static) -> CombineCells {
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

/// Bytes of colours that are collected from where they do not lie side by side.
const BLOCK: usize = 64;

/// Colours of `N` bytes, row by row.
fn colours<const N: usize>(blend: impl Fn(&[u8], &mut [u8]) + 'static) -> CombineCells {
    Box::new(move |src, dst, t| {
        let ((src, _), (dst, _)) = (src.as_chunks::<N>(), dst.as_chunks_mut::<N>());
        let (n, step_s, step_d) = (t.n[0] as usize, t.s[0] as usize, t.d[0] as usize);
        for_rows(t, |s, d| {
            let (s, d) = (s as usize, d as usize);
            if (step_s, step_d) == (1, 1) {
                return blend(src[s..s + n].as_flattened(), dst[d..d + n].as_flattened_mut());
            }
            for done in (0..n).step_by(BLOCK / N) {
                let some = (n - done).min(BLOCK / N);
                let (mut from, mut onto) = ([0; BLOCK], [0; BLOCK]);
                let ((from, _), (onto, _)) = (from.as_chunks_mut::<N>(), onto.as_chunks_mut::<N>());
                let (from, onto) = (&mut from[..some], &mut onto[..some]);
                for i in 0..some {
                    from[i] = src[s + (done + i) * step_s];
                    onto[i] = dst[d + (done + i) * step_d];
                }
                blend(from.as_flattened(), onto.as_flattened_mut());
                onto.iter().enumerate().for_each(|(i, cell)| dst[d + (done + i) * step_d] = *cell);
            }
        });
    })
}
