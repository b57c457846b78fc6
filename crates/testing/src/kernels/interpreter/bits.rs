//! Built-in bit functions of integers.

use naga::{MathFunction, ScalarKind};

use super::scalar::ScalarValue;

pub(super) fn evaluate(function: MathFunction, x: &[ScalarValue]) -> Result<ScalarValue, String> {
    use MathFunction as Mf;
    let ty = x[0].ty();
    if !matches!(ty.kind, ScalarKind::Sint | ScalarKind::Uint) {
        return Err(format!("{function:?} of {x:?}"));
    }
    let width = u32::from(ty.width) * 8;
    let bits = x[0].bits();
    let signed = ty.kind == ScalarKind::Sint;
    let result = match function {
        Mf::CountLeadingZeros => u64::from(leading_zeros(bits, width)),
        Mf::CountTrailingZeros => u64::from(bits.trailing_zeros().min(width)),
        Mf::CountOneBits => u64::from(bits.count_ones()),
        Mf::ReverseBits => bits.reverse_bits() >> (64 - width),
        Mf::FirstTrailingBit => match bits.trailing_zeros() {
            position if position < width => u64::from(position),
            _ => u64::MAX,
        },
        // For a negative number: the first bit that differs from the sign.
        Mf::FirstLeadingBit => {
            let negative = signed && bits >> (width - 1) == 1;
            let bits = if negative { !bits & mask(width) } else { bits };
            match leading_zeros(bits, width) {
                zeros if zeros < width => u64::from(width - 1 - zeros),
                _ => u64::MAX,
            }
        }
        Mf::ExtractBits => {
            let (offset, count) = range(x[1], x[2], width)?;
            let field = if count == 0 { 0 } else { bits >> offset & mask(count) };
            let negative = signed && count > 0 && field >> (count - 1) == 1;
            if negative { field | !mask(count) } else { field }
        }
        Mf::InsertBits => {
            let (offset, count) = range(x[2], x[3], width)?;
            // An offset of the full width leaves no field, and a shift by 64 would overflow.
            let field = if count == 0 { 0 } else { mask(count) << offset };
            let inserted = if count == 0 { 0 } else { x[1].bits() << offset };
            bits & !field | inserted & field
        }
        _ => return Err(format!("{function:?} is not supported")),
    };
    ScalarValue::from_bits(ty, result & mask(width))
}

fn mask(count: u32) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

fn leading_zeros(bits: u64, width: u32) -> u32 {
    bits.leading_zeros() - (64 - width)
}

/// Offset and count of a field, at most `width` and the bits that are left.
fn range(offset: ScalarValue, count: ScalarValue, width: u32) -> Result<(u32, u32), String> {
    let offset = offset.as_index()?.min(width);
    Ok((offset, count.as_index()?.min(width - offset)))
}
