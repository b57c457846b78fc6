use crate::{run_body, signed, unsigned};

const SIGNED: [i32; 9] = [0, 1, -1, 2, -2, 0x1234_5678, i32::MAX, i32::MIN, i32::MIN + 1];

#[test]
fn functions_of_one_integer_follow_their_definitions() {
    for value in SIGNED {
        let bits = value as u32;
        assert_eq!(signed("abs(a)", &[value]), value.wrapping_abs());
        assert_eq!(signed("sign(a)", &[value]), value.signum());
        assert_eq!(unsigned("sign(a)", &[bits]), u32::from(bits != 0));
        assert_eq!(unsigned("abs(a)", &[bits]), bits);
        assert_eq!(unsigned("countLeadingZeros(a)", &[bits]), bits.leading_zeros());
        assert_eq!(unsigned("countTrailingZeros(a)", &[bits]), bits.trailing_zeros());
        assert_eq!(signed("countOneBits(a)", &[value]), value.count_ones() as i32);
        assert_eq!(unsigned("reverseBits(a)", &[bits]), bits.reverse_bits());
        let trailing = if bits == 0 { u32::MAX } else { bits.trailing_zeros() };
        assert_eq!(unsigned("firstTrailingBit(a)", &[bits]), trailing);
        assert_eq!(unsigned("firstLeadingBit(a)", &[bits]), 31_u32.wrapping_sub(bits.leading_zeros()));
        let differing = if value < 0 { !bits } else { bits };
        assert_eq!(signed("firstLeadingBit(a)", &[value]), 31 - differing.leading_zeros() as i32);
    }
}

#[test]
fn functions_of_several_integers_follow_their_definitions() {
    for a in SIGNED {
        for b in SIGNED {
            let (x, y) = (a as u32, b as u32);
            assert_eq!(signed("min(a, b)", &[a, b]), a.min(b));
            assert_eq!(signed("max(a, b)", &[a, b]), a.max(b));
            assert_eq!(unsigned("min(a, b)", &[x, y]), x.min(y));
            assert_eq!(unsigned("max(a, b)", &[x, y]), x.max(y));
            assert_eq!(signed("clamp(a, b, c)", &[a, b, 7]), a.max(b).min(7));
            assert_eq!(unsigned("clamp(a, b, c)", &[x, y, 7]), x.max(y).min(7));
            let products = x.to_le_bytes().into_iter().zip(y.to_le_bytes());
            let sum: i32 = products.clone().map(|(x, y)| i32::from(x as i8) * i32::from(y as i8)).sum();
            assert_eq!(unsigned("bitcast<u32>(dot4I8Packed(a, b))", &[x, y]), sum as u32);
            let sum: u32 = products.map(|(x, y)| u32::from(x) * u32::from(y)).sum();
            assert_eq!(unsigned("dot4U8Packed(a, b)", &[x, y]), sum);
        }
    }
    assert_eq!(signed("dot(vec3(a, b, c), vec3(b, c, a))", &[2, 3, -5]), 6 - 15 - 10);
}

#[test]
fn extract_bits_and_insert_bits_clamp_offset_and_count() {
    for value in [0xfedc_ba98_u32, 0x7654_3210, u32::MAX, 0] {
        for offset in [0, 1, 5, 31, 32, 33, u32::MAX] {
            for count in [0, 1, 7, 31, 32, 40, u32::MAX] {
                let o = offset.min(32);
                let c = count.min(32 - o);
                let mask = ((1_u64 << c) - 1) as u32;
                let field = if c == 0 { 0 } else { value >> o & mask };
                let sign = if c == 0 { 0 } else { ((field << (32 - c)) as i32 >> (32 - c)) as u32 };
                let input = [value, offset, count];
                assert_eq!(unsigned("extractBits(a, b, c)", &input), field, "{input:x?}");
                let body = "out[0] = bitcast<u32>(extractBits(bitcast<i32>(input[0]), input[1], input[2]));
                    out[1] = insertBits(input[0], input[3], input[1], input[2]);";
                let out = run_body("", body, &[value, offset, count, 0x1357_9bdf], 2);
                let inserted = match c {
                    0 => value,
                    _ => value & !(mask << o) | (0x1357_9bdf & mask) << o,
                };
                assert_eq!(out, [sign, inserted], "{input:x?}");
            }
        }
    }
}

#[test]
fn functions_of_64_bit_integers_have_64_bit_results() {
    let body = "let a = (u64(input[1]) << 32u) | u64(input[0]);
        let s = bitcast<i64>(a);
        var results = array<u64, 10>(
            countLeadingZeros(a), countTrailingZeros(a), countOneBits(a), reverseBits(a), firstLeadingBit(a),
            firstTrailingBit(a), bitcast<u64>(abs(s)), bitcast<u64>(firstLeadingBit(s)), min(a, 5lu),
            bitcast<u64>(max(s, 5li)));
        for (var i = 0u; i < 10u; i++) {
            out[2u * i] = u32(results[i] & 0xfffffffflu);
            out[2u * i + 1u] = u32(results[i] >> 32u);
        }";
    for value in [0_u64, 1, 0x8000_0000_0000_0000, 0x0123_4567_89ab_cdef, u64::MAX, 0xffff_ffff_0000_0000] {
        let out = run_body("", body, &[value as u32, (value >> 32) as u32], 20);
        let results: Vec<_> = out.chunks(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect();
        let s = value as i64;
        let differing = if s < 0 { !value } else { value };
        let expected = [
            u64::from(value.leading_zeros()),
            u64::from(value.trailing_zeros()),
            u64::from(value.count_ones()),
            value.reverse_bits(),
            63_u64.wrapping_sub(u64::from(value.leading_zeros())),
            if value == 0 { u64::MAX } else { u64::from(value.trailing_zeros()) },
            s.wrapping_abs() as u64,
            63_u64.wrapping_sub(u64::from(differing.leading_zeros())),
            value.min(5),
            s.max(5) as u64,
        ];
        assert_eq!(results, expected, "{value:x}");
    }
}
