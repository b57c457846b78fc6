use super::{SIGNED, UNSIGNED, check, pairs, quadruples};

#[test]
fn signed_arithmetic_wraps() {
    let inputs = pairs(&SIGNED);
    check("x.x + x.y", &inputs, |[a, b]| a.wrapping_add(b));
    check("x.x - x.y", &inputs, |[a, b]| a.wrapping_sub(b));
    check("x.x * x.y", &inputs, |[a, b]| a.wrapping_mul(b));
    check("-x", &SIGNED, i32::wrapping_neg);
    check("~x", &SIGNED, |a| !a);
}

#[test]
fn signed_division_by_zero_gives_dividend_and_remainder_zero() {
    let inputs = pairs(&SIGNED);
    let quotient = |[a, b]: [i32; 2]| match (a, b) {
        (a, 0) => a,
        (i32::MIN, -1) => i32::MIN,
        (a, b) => a / b,
    };
    let remainder = |[a, b]: [i32; 2]| match (a, b) {
        (_, 0) | (i32::MIN, -1) => 0,
        (a, b) => a % b,
    };
    check("x.x / x.y", &inputs, quotient);
    check("x.x % x.y", &inputs, remainder);
}

#[test]
fn unsigned_arithmetic_wraps() {
    let inputs = pairs(&UNSIGNED);
    check("x.x + x.y", &inputs, |[a, b]| a.wrapping_add(b));
    check("x.x - x.y", &inputs, |[a, b]| a.wrapping_sub(b));
    check("x.x * x.y", &inputs, |[a, b]| a.wrapping_mul(b));
    check("x.x / x.y", &inputs, |[a, b]| a.checked_div(b).unwrap_or(a));
    check("x.x % x.y", &inputs, |[a, b]| if b == 0 { 0 } else { a % b });
}

#[test]
fn shift_amounts_count_modulo_width() {
    check("x.x << x.y", &pairs(&UNSIGNED), |[a, b]| a << (b % 32));
    check("x.x >> x.y", &pairs(&UNSIGNED), |[a, b]| a >> (b % 32));
    check("x.x << bitcast<u32>(x.y)", &pairs(&SIGNED), |[a, b]| a << (b & 31));
    check("x.x >> bitcast<u32>(x.y)", &pairs(&SIGNED), |[a, b]| a >> (b & 31));
}

#[test]
fn bitwise_operators_apply_to_each_bit() {
    let inputs = pairs(&UNSIGNED);
    check("x.x & x.y", &inputs, |[a, b]| a & b);
    check("x.x | x.y", &inputs, |[a, b]| a | b);
    check("x.x ^ x.y", &inputs, |[a, b]| a ^ b);
}

#[test]
fn comparisons_of_integers_know_the_sign() {
    check("u32(x.x < x.y)", &pairs(&SIGNED), |[a, b]| u32::from(a < b));
    check("u32(x.x < x.y)", &pairs(&UNSIGNED), |[a, b]| u32::from(a < b));
    check("u32(x.x >= x.y)", &pairs(&SIGNED), |[a, b]| u32::from(a >= b));
    check("u32(x.x > x.y) + 2u * u32(x.x <= x.y)", &pairs(&UNSIGNED), |[a, b]| if a > b { 1u32 } else { 2 });
    check("u32(x.x == x.y) + 2u * u32(x.x != x.y)", &pairs(&SIGNED), |[a, b]| if a == b { 1u32 } else { 2 });
}

#[test]
fn integer_abs_sign_min_max_and_clamp_match_rust() {
    check("abs(x)", &SIGNED, i32::wrapping_abs);
    check("abs(x)", &UNSIGNED, |a| a);
    check("sign(x)", &SIGNED, i32::signum);
    check("min(x.x, x.y)", &pairs(&SIGNED), |[a, b]| a.min(b));
    check("max(x.x, x.y)", &pairs(&UNSIGNED), |[a, b]| a.max(b));
    check("clamp(x.x, x.y, x.z)", &quadruples(&SIGNED), |[a, l, h, _]| a.max(l).min(h));
    check("clamp(x.x, x.y, x.z)", &quadruples(&UNSIGNED), |[a, l, h, _]| a.max(l).min(h));
}

#[test]
fn bit_counts_match_rust() {
    check("countOneBits(x)", &UNSIGNED, u32::count_ones);
    check("countLeadingZeros(x)", &UNSIGNED, u32::leading_zeros);
    check("countTrailingZeros(x)", &UNSIGNED, u32::trailing_zeros);
    check("countLeadingZeros(x)", &SIGNED, |a| a.leading_zeros() as i32);
    check("reverseBits(x)", &UNSIGNED, u32::reverse_bits);
    check("reverseBits(x)", &SIGNED, i32::reverse_bits);
}

#[test]
fn first_bits_are_all_ones_where_there_is_none() {
    check("firstLeadingBit(x)", &UNSIGNED, |a| (0..32).rev().find(|i| a >> i & 1 == 1).unwrap_or(u32::MAX));
    check("firstTrailingBit(x)", &UNSIGNED, |a| (0..32).find(|i| a >> i & 1 == 1).unwrap_or(u32::MAX));
    let leading = |a: i32| (0..31).rev().find(|i| a >> i & 1 != i32::from(a < 0)).unwrap_or(-1);
    check("firstLeadingBit(x)", &SIGNED, leading);
    check("firstTrailingBit(x)", &SIGNED, |a| (0..32).find(|i| a >> i & 1 == 1).unwrap_or(-1));
}

#[test]
fn extract_bits_stops_at_the_width_and_extends_the_sign() {
    let field = |a: u32, offset: u32, count: u32| -> Vec<u32> {
        let offset = offset.min(32);
        (offset..offset + count.min(32 - offset)).map(|i| a >> i & 1).collect()
    };
    check("extractBits(x.x, x.y, x.z)", &quadruples(&UNSIGNED), |[a, offset, count, _]| {
        field(a, offset, count).iter().rev().fold(0, |value, bit| value << 1 | bit)
    });
    check("extractBits(bitcast<i32>(x.x), x.y, x.z)", &quadruples(&UNSIGNED), |[a, offset, count, _]| {
        let bits = field(a, offset, count);
        let sign = bits.last().map_or(0, |bit| -(*bit as i32));
        bits.iter().rev().fold(sign, |value, bit| value << 1 | *bit as i32)
    });
}

#[test]
fn insert_bits_keeps_the_other_bits() {
    check("insertBits(x.x, x.y, x.z, x.w)", &quadruples(&UNSIGNED), |[a, new, offset, count]| {
        let offset = offset.min(32);
        let range = offset..offset + count.min(32 - offset);
        (0..32).fold(0, |word, i| word | (if range.contains(&i) { new >> (i - offset) } else { a >> i } & 1) << i)
    });
}

#[test]
fn dot_products_of_integers_wrap() {
    check("dot(x.xy, x.zw)", &quadruples(&SIGNED), |[a, b, c, d]| a.wrapping_mul(c).wrapping_add(b.wrapping_mul(d)));
    check("dot4U8Packed(x.x, x.y)", &pairs(&UNSIGNED), |[a, b]| {
        (0..4).map(|i| (a >> (8 * i) & 255) * (b >> (8 * i) & 255)).sum::<u32>()
    });
    check("dot4I8Packed(x.x, x.y)", &pairs(&UNSIGNED), |[a, b]| {
        (0..4).map(|i| i32::from((a >> (8 * i)) as i8) * i32::from((b >> (8 * i)) as i8)).sum::<i32>()
    });
}

#[test]
fn wide_integers_have_64_bits() {
    let inputs = pairs(&[0i64, 1, -1, 3, i64::MIN, i64::MAX, 1 << 32, -(1 << 33) + 5]);
    check("x.x * x.y", &inputs, |[a, b]| a.wrapping_mul(b));
    check("x.x / x.y", &inputs, |[a, b]| if b == 0 { a } else { a.wrapping_div(b) });
    check("x.x % x.y", &inputs, |[a, b]| if b == 0 { 0 } else { a.wrapping_rem(b) });
    check("x.x << (u32(x.y) & 63u)", &inputs, |[a, b]| a << (b & 63));
    check("x.x >> u32(x.y)", &inputs, |[a, b]| a >> (b as u32 % 64));
    check("min(abs(x.x), x.y)", &inputs, |[a, b]| a.wrapping_abs().min(b));
    check("u64(x.x) / (u64(x.y) | 1lu)", &inputs, |[a, b]| a as u64 / (b as u64 | 1));
}
