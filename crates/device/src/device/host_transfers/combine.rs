//! [`host_combine`]: built-in operators on mapped memory, with the bits of the combining kernels.

use super::copy_cells::{for_each_row, row_geometry};
use super::host_write::WriteCells;
use crate::device::Operator;
use crate::device::colour::Colour;
use crate::element::{ElementInfo, ElementKind, Scalar};

/// Returns the function that applies an operator to cells on the host. `None` unless the operator
/// is built in and the element is a 32-bit scalar or a vector of them. Depends on element and
/// operator only, so that the bits of a result do not depend on the location of the cells.
pub(super) fn host_combine(element: &ElementInfo, operator: &Operator) -> Option<WriteCells<'static>> {
    let (scalar, components) = match element.kind {
        ElementKind::Scalar(scalar) => (scalar, 1),
        ElementKind::Vector(scalar, components) => (scalar, components as u64),
        ElementKind::Packed(_) | ElementKind::Record(_) => return None,
    };
    let min_opacity = operator.opaque_threshold();
    // As in the kernels, minima and maxima have one comparison: if it is false, as with NaN, the
    // destination stays.
    Some(match (operator, scalar) {
        (Operator::Over, Scalar::F32) => blend_rows::<16>(<[f32; 4]>::blend_over),
        (Operator::Over, Scalar::U32) => blend_rows::<4>(u32::blend_over),
        (Operator::Under | Operator::UnderOpaque { .. }, Scalar::F32) => {
            blend_rows::<16>(move |s, d| <[f32; 4]>::blend_under(s, d, min_opacity))
        }
        (Operator::Under | Operator::UnderOpaque { .. }, Scalar::U32) => {
            blend_rows::<4>(move |s, d| u32::blend_under(s, d, min_opacity))
        }
        (Operator::Add, Scalar::F32) => combine_rows(components, |s, d| combine_f32(s, d, |s, d| s + d)),
        (Operator::Add, Scalar::U32 | Scalar::I32) => {
            combine_rows(components, |s, d| combine_u32(s, d, u32::wrapping_add))
        }
        (Operator::Min, Scalar::F32) => {
            combine_rows(components, |s, d| combine_f32(s, d, |s, d| if s < d { s } else { d }))
        }
        (Operator::Max, Scalar::F32) => {
            combine_rows(components, |s, d| combine_f32(s, d, |s, d| if s > d { s } else { d }))
        }
        (Operator::Min, Scalar::U32) => combine_rows(components, |s, d| combine_u32(s, d, u32::min)),
        (Operator::Max, Scalar::U32) => combine_rows(components, |s, d| combine_u32(s, d, u32::max)),
        (Operator::Min, Scalar::I32) => {
            combine_rows(components, |s, d| combine_u32(s, d, |s, d| (s as i32).min(d as i32) as u32))
        }
        (Operator::Max, Scalar::I32) => {
            combine_rows(components, |s, d| combine_u32(s, d, |s, d| (s as i32).max(d as i32) as u32))
        }
        _ => return None,
    })
}

/// Returns a function that combines cells of `components` independent components of `N` bytes.
fn combine_rows<const N: usize>(
    components: u64,
    combine: impl Fn([u8; N], [u8; N]) -> [u8; N] + 'static,
) -> WriteCells<'static> {
    Box::new(move |src, dst, transfer| {
        let transfer = transfer.split_units(components);
        let ((src, _), (dst, _)) = (src.as_chunks::<N>(), dst.as_chunks_mut::<N>());
        let (n, step_s, step_d) = row_geometry(&transfer);
        for_each_row(&transfer, |s, d| {
            if (step_s, step_d) == (1, 1) {
                dst[d..d + n].iter_mut().zip(&src[s..s + n]).for_each(|(d, s)| *d = combine(*s, *d));
            } else {
                (0..n).for_each(|i| dst[d + i * step_d] = combine(src[s + i * step_s], dst[d + i * step_d]));
            }
        });
    })
}

fn combine_f32(s: [u8; 4], d: [u8; 4], combine: impl Fn(f32, f32) -> f32) -> [u8; 4] {
    combine(f32::from_ne_bytes(s), f32::from_ne_bytes(d)).to_ne_bytes()
}

fn combine_u32(s: [u8; 4], d: [u8; 4], combine: impl Fn(u32, u32) -> u32) -> [u8; 4] {
    combine(u32::from_ne_bytes(s), u32::from_ne_bytes(d)).to_ne_bytes()
}

/// Size, in bytes, of the block of strided colours that is blended at once.
const BLOCK: usize = 64;

/// Returns a function that blends rows of colours of `N` bytes.
fn blend_rows<const N: usize>(blend: impl Fn(&[u8], &mut [u8]) + 'static) -> WriteCells<'static> {
    Box::new(move |src, dst, transfer| {
        let ((src, _), (dst, _)) = (src.as_chunks::<N>(), dst.as_chunks_mut::<N>());
        let (n, step_s, step_d) = row_geometry(transfer);
        for_each_row(transfer, |s, d| {
            if (step_s, step_d) == (1, 1) {
                return blend(src[s..s + n].as_flattened(), dst[d..d + n].as_flattened_mut());
            }
            for start in (0..n).step_by(BLOCK / N) {
                let count = (n - start).min(BLOCK / N);
                let (mut src_block, mut dst_block) = ([0; BLOCK], [0; BLOCK]);
                let ((src_block, _), (dst_block, _)) = (src_block.as_chunks_mut::<N>(), dst_block.as_chunks_mut::<N>());
                let (src_block, dst_block) = (&mut src_block[..count], &mut dst_block[..count]);
                for i in 0..count {
                    src_block[i] = src[s + (start + i) * step_s];
                    dst_block[i] = dst[d + (start + i) * step_d];
                }
                blend(src_block.as_flattened(), dst_block.as_flattened_mut());
                dst_block.iter().enumerate().for_each(|(i, cell)| dst[d + (start + i) * step_d] = *cell);
            }
        });
    })
}
