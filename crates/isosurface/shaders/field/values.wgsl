// Samples, including NaN and infinities. `Sample` is their type, $NUMBER_OF the function that
// converts a sample to f32. Equivalent Rust code: src/field/values.rs.

@group(0) @binding(1) var<storage, read> samples: array<Sample>;

fn value(p: vec3<i32>) -> f32 {
    return $NUMBER_OF(samples_load(p));
}

// Nearest f32, ties to even: devices differ in rounding large integers.
fn of_unsigned(whole: u32) -> f32 {
    let surplus = max(8u, countLeadingZeros(whole)) - countLeadingZeros(whole);
    let kept = whole >> surplus;
    let rest = 2u * (whole & ((1u << surplus) - 1u));
    let is_up = rest > (1u << surplus) || (rest == (1u << surplus) && (kept & 1u) == 1u);
    return f32(kept + u32(is_up)) * f32(1u << surplus);
}

fn of_signed(whole: i32) -> f32 {
    let size = of_unsigned(bitcast<u32>(abs(whole)));
    return select(size, -size, whole < 0);
}

// Tests bits, because compilers may assume that all numbers are finite.
fn is_finite(number: f32) -> bool {
    return (bitcast<u32>(number) & 0x7f800000u) != 0x7f800000u;
}

fn is_nan(bits: u32) -> bool {
    return (bits & 0x7fffffffu) > 0x7f800000u;
}

// Maps bits to integers in the order of the numbers; both zeros have one key.
fn key(bits: u32) -> u32 {
    let one_zero = select(bits, 0u, bits == 0x80000000u);
    return one_zero ^ select(0x80000000u, 0xffffffffu, (one_zero >> 31u) == 1u);
}

fn is_inside(sample: f32, isovalue: f32) -> bool {
    let bits = bitcast<u32>(sample);
    return !is_nan(bits) && key(bits) >= key(bitcast<u32>(isovalue));
}

// Magnitudes beyond which differences may overflow or be flushed to zero.
const LARGE = 1e18;
const SMALL = 1e-18;

// The number times 2^power; zero below the normal numbers; infinities unchanged. Operates on bits,
// because compilers factor out of differences and quotients.
fn scaled(number: f32, power: i32) -> f32 {
    let bits = bitcast<u32>(number);
    let is_subnormal = (bits & 0x7f800000u) == 0u;
    let size = select(bits & 0x7fffffffu, bitcast<u32>(f32(bits & 0x7fffffu)), is_subnormal);
    let exponent = i32(size >> 23u) + power - select(0, 149, is_subnormal);
    let moved = (u32(clamp(exponent, 0, 254)) << 23u) | (size & 0x7fffffu);
    let finite = bitcast<f32>((bits & 0x80000000u) | select(moved, 0u, exponent < 1));
    return select(number, finite, is_finite(number));
}

// Position of the surface between two samples; see the Rust code for infinite samples and NaN.
fn between(first: f32, second: f32, isovalue: f32) -> f32 {
    let is_far = vec2<bool>(!is_finite(first), !is_finite(second));
    let largest = max(max(abs(first), abs(second)), abs(isovalue));
    var a = first - isovalue;
    var b = second - isovalue;
    if largest > LARGE || largest < SMALL {
        let power = select(64, -64, largest > LARGE);
        a = scaled(first, power) - scaled(isovalue, power);
        b = scaled(second, power) - scaled(isovalue, power);
    }
    let difference = a - b;
    var part = 0.5;
    if difference != 0.0 { part = clamp(a / difference, 0.0, 1.0); }
    if any(is_far) { part = select(select(0.0, 1.0, is_far.x), 0.5, all(is_far)); }
    return part;
}
