use crate::{bits, evaluate, float, run_body, signed, unsigned};

const EDGES: [i32; 8] = [0, 1, -1, 7, -7, i32::MAX, i32::MIN, 31];

#[test]
fn integer_operators_wrap_and_division_by_zero_gives_the_dividend() {
    for a in EDGES {
        for b in EDGES {
            let (x, y) = (a as u32, b as u32);
            assert_eq!(signed("a + b", &[a, b]), a.wrapping_add(b));
            assert_eq!(signed("a - b", &[a, b]), a.wrapping_sub(b));
            assert_eq!(signed("a * b", &[a, b]), a.wrapping_mul(b));
            assert_eq!(signed("a / b", &[a, b]), if b == 0 { a } else { a.wrapping_div(b) });
            assert_eq!(signed("a % b", &[a, b]), if b == 0 { 0 } else { a.wrapping_rem(b) });
            assert_eq!(unsigned("a / b", &[x, y]), x.checked_div(y).unwrap_or(x));
            assert_eq!(unsigned("a % b", &[x, y]), x.checked_rem(y).unwrap_or(0));
            assert_eq!(unsigned("(a & b) ^ (a | b)", &[x, y]), x ^ y);
            let amount = format!("a << {}u", y % 32);
            assert_eq!(signed(&amount, &[a]), a << (y % 32));
            let out = run_body(
                "",
                "out[0] = input[0] << input[1]; out[1] = input[0] >> input[1];
                 out[2] = bitcast<u32>(bitcast<i32>(input[0]) >> input[1]);",
                &[x, y],
                3,
            );
            assert_eq!(out, [x << (y % 32), x >> (y % 32), (a >> (y % 32)) as u32]);
            let out = evaluate(
                "i32",
                &["u32(a < b)", "u32(a <= b)", "u32(a > b)", "u32(a >= b)", "u32(a == b)", "u32(a != b)"],
                &[x, y],
            );
            assert_eq!(out, [a < b, a <= b, a > b, a >= b, a == b, a != b].map(u32::from));
            let out = evaluate("u32", &["u32(a < b)", "u32(a <= b)", "u32(a > b)", "u32(a >= b)"], &[x, y]);
            assert_eq!(out, [x < y, x <= y, x > y, x >= y].map(u32::from));
        }
        assert_eq!(signed("-a", &[a]), a.wrapping_neg());
        assert_eq!(signed("~a", &[a]), !a);
    }
}

#[test]
fn float_comparisons_with_nan_are_false_except_inequality() {
    let values = [0.0, -0.0, 1.0, f32::NAN, f32::INFINITY];
    for a in values {
        for b in values {
            let out = evaluate(
                "f32",
                &["u32(a < b)", "u32(a <= b)", "u32(a > b)", "u32(a >= b)", "u32(a == b)", "u32(a != b)"],
                &bits(&[a, b]),
            );
            assert_eq!(out, [a < b, a <= b, a > b, a >= b, a == b, a != b].map(u32::from), "{a} {b}");
        }
    }
}

#[test]
fn float_operators_do_not_fold_identities() {
    // −0 + 0 is 0, and NaN · 0 is NaN.
    assert_eq!(float("a + 0.0", &[-0.0]).to_bits(), 0);
    assert!(float("a * 0.0", &[f32::NAN]).is_nan());
    assert!(float("a - a", &[f32::INFINITY]).is_nan());
    assert_eq!(float("a % b", &[7.5, -2.0]), 1.5);
    assert_eq!(float("a % b", &[-7.5, 2.0]), -1.5);
    assert_eq!(float("-a", &[0.0]).to_bits(), 0x8000_0000);
    assert_eq!(float("a / b", &[1.0, 0.0]), f32::INFINITY);
}

#[test]
fn operators_mix_vectors_and_scalars() {
    let body = "let v = vec3<i32>(bitcast<i32>(input[0]), 5, -6);
        let w = v * 3 - 1; out[0] = bitcast<u32>(w.x); out[1] = bitcast<u32>(w.z);
        let x = 100 / v; out[2] = bitcast<u32>(x.y);
        let y = v << vec3(1u, 2u, input[0] + 29u); out[3] = bitcast<u32>(y.z);
        var z = v; z += w; z.y *= 2; z[2] -= 1; out[4] = bitcast<u32>(z.x + z.y + z.z);
        let f = vec2(2.0, 3.0) * 0.5; out[5] = u32(f.x * 10.0 + f.y);";
    let out = run_body("", body, &[4], 6);
    assert_eq!(out[..4], [11, -19_i32 as u32, 20, -12_i32 as u32]);
    assert_eq!(out[4], (4 + 11 + (5 + 14) * 2 + (-6 - 19 - 1)) as u32);
    assert_eq!(out[5], 11);
}

#[test]
fn operators_of_64_bit_integers_keep_all_bits() {
    let body = "let a = (i64(bitcast<i32>(input[0])) << 20u) + 12345li;
        let b = u64(input[1]) << 33u;
        let r = array<i64, 8>(
            a * a, a / -77li, a % 1000li, a >> 3u, bitcast<i64>(b >> (input[1] - 0xdeadbeaeu)), bitcast<i64>(b ^ 0xfflu),
            select(1li, 2li, a < 0li), bitcast<i64>(b / 3lu));
        for (var i = 0; i < 8; i++) { out[2 * i] = u32(bitcast<u64>(r[i]) & 0xfffffffflu); out[2 * i + 1] = u32(r[i] >> 32u); }";
    let (x, y) = (-123_456_i32, 0xdead_beef_u32);
    let out = run_body("", body, &[x as u32, y], 16);
    let a = (i64::from(x) << 20) + 12345;
    let b = u64::from(y) << 33;
    let expected =
        [a.wrapping_mul(a) as u64, (a / -77) as u64, (a % 1000) as u64, (a >> 3) as u64, b >> 1, b ^ 0xff, 2, b / 3];
    for (index, expected) in expected.into_iter().enumerate() {
        assert_eq!(u64::from(out[2 * index]) | u64::from(out[2 * index + 1]) << 32, expected, "{index}");
    }
}

#[test]
fn logical_operators_evaluate_the_right_side_only_where_needed() {
    let declarations = "var<private> calls: u32;
        fn count(result: bool) -> bool { calls++; return result; }";
    let body = "let t = input[0] == 1u; let f = input[0] == 0u;
        out[0] = u32(f && count(true)); out[1] = calls;
        out[2] = u32(t || count(false)); out[3] = calls;
        out[4] = u32(t && count(true)); out[5] = calls;
        out[6] = u32(f || count(false)); out[7] = calls;";
    assert_eq!(run_body(declarations, body, &[1], 8), [0, 0, 1, 0, 1, 1, 0, 2]);
}
