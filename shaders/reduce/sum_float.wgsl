// Exact sum of f32 numbers, as a long integer in digits of 16 bits from 2^-149.
//
// Each mantissa is shifted by its exponent and added to up to four digits, without carries. A
// workgroup has at most 2^15 numbers, so that no digit overflows 32 bits. To avoid branches, each
// number adds to all digits, to most of them zero.
//
// Words: 18 digits (two's complement), numbers of NaNs, of +infinities and of -infinities.

var<private> digits_0: vec2<u32>;
var<private> digits_1: vec2<u32>;
var<private> digits_2: vec2<u32>;
var<private> digits_3: vec2<u32>;
var<private> digits_4: vec2<u32>;
var<private> digits_5: vec2<u32>;
var<private> digits_6: vec2<u32>;
var<private> digits_7: vec2<u32>;
var<private> digits_8: vec2<u32>;
var<private> specials: vec3<u32>;

fn identity(word: u32) -> u32 {
    return 0u;
}

fn take(at: u32, second_at: u32) {
    let bits = load(at);
    let biased = (bits >> 23u) & 0xffu;
    let fraction = bits & 0x7fffffu;
    let special = biased == 255u;
    let negative = (bits >> 31u) == 1u;
    let nan = special & (fraction != 0u);
    let infinite = special & !nan;
    specials += select(vec3<u32>(0u), vec3<u32>(1u), vec3<bool>(nan, infinite & !negative, infinite & negative));

    let mantissa = select(fraction | select(0u, 0x800000u, biased != 0u), 0u, special);
    let exponent = max(biased, 1u) - 1u;
    let shift = exponent & 31u;
    let bin = exponent >> 5u;
    let low = mantissa << shift;
    let high = (mantissa >> 1u) >> (31u - shift);
    let sign = vec2<u32>(select(0u, 0xffffffffu, negative));
    let near = (vec2<u32>(low & 0xffffu, low >> 16u) ^ sign) - sign;
    let far = (vec2<u32>(high & 0xffffu, high >> 16u) ^ sign) - sign;

    let zero = vec2<u32>(0u);
    digits_0 += select(zero, near, bin == 0u);
    digits_1 += select(zero, near, bin == 1u) + select(zero, far, bin == 0u);
    digits_2 += select(zero, near, bin == 2u) + select(zero, far, bin == 1u);
    digits_3 += select(zero, near, bin == 3u) + select(zero, far, bin == 2u);
    digits_4 += select(zero, near, bin == 4u) + select(zero, far, bin == 3u);
    digits_5 += select(zero, near, bin == 5u) + select(zero, far, bin == 4u);
    digits_6 += select(zero, near, bin == 6u) + select(zero, far, bin == 5u);
    digits_7 += select(zero, near, bin == 7u) + select(zero, far, bin == 6u);
    digits_8 += select(zero, far, bin == 7u);
}

fn add_pair(word: u32, pair: vec2<u32>) {
    atomicAdd(&shared_words[word], pair.x);
    atomicAdd(&shared_words[word + 1u], pair.y);
}

fn hand_in() {
    add_pair(0u, digits_0);
    add_pair(2u, digits_1);
    add_pair(4u, digits_2);
    add_pair(6u, digits_3);
    add_pair(8u, digits_4);
    add_pair(10u, digits_5);
    add_pair(12u, digits_6);
    add_pair(14u, digits_7);
    add_pair(16u, digits_8);
    add_pair(18u, specials.xy);
    atomicAdd(&shared_words[20u], specials.z);
}
