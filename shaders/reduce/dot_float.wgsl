// Exact sum of the products of f32 numbers. Method: as in sum_float.wgsl, with mantissas of 48 bits
// and digits of 16 bits from 2^-298.
//
// A product is added to up to seven digits. A workgroup has at most 2^15 products, so that no digit
// overflows 32 bits.
//
// Words: 36 digits (two's complement), numbers of NaNs, of +infinities and of -infinities.

var<private> digits_0: vec4<u32>;
var<private> digits_1: vec4<u32>;
var<private> digits_2: vec4<u32>;
var<private> digits_3: vec4<u32>;
var<private> digits_4: vec4<u32>;
var<private> digits_5: vec4<u32>;
var<private> digits_6: vec4<u32>;
var<private> digits_7: vec4<u32>;
var<private> digits_8: vec4<u32>;
var<private> specials: vec3<u32>;

fn identity(word: u32) -> u32 {
    return 0u;
}

// Returns the mantissa of a finite number with its leading one, and the exponent from 0.
fn parts(bits: u32) -> vec2<u32> {
    let biased = (bits >> 23u) & 0xffu;
    return vec2<u32>((bits & 0x7fffffu) | select(0u, 0x800000u, biased != 0u), max(biased, 1u) - 1u);
}

fn take(at: u32, second_at: u32) {
    let a_bits = load(at);
    let b_bits = load_second(second_at);
    let a = parts(a_bits);
    let b = parts(b_bits);
    let negative = ((a_bits ^ b_bits) >> 31u) == 1u;
    let a_infinite = (a_bits & 0x7fffffffu) == 0x7f800000u;
    let b_infinite = (b_bits & 0x7fffffffu) == 0x7f800000u;
    // Infinity times zero is also a NaN.
    let nan = is_nan(a_bits) | is_nan(b_bits) | (a_infinite & (b.x == 0u)) | (b_infinite & (a.x == 0u));
    let infinite = (a_infinite | b_infinite) & !nan;
    specials += select(vec3<u32>(0u), vec3<u32>(1u), vec3<bool>(nan, infinite & !negative, infinite & negative));

    // Product of 24 and 24 bits, from halves of 8 and 16 bits.
    let middle = (a.x >> 16u) * (b.x & 0xffffu) + (a.x & 0xffffu) * (b.x >> 16u);
    let lowest = (a.x & 0xffffu) * (b.x & 0xffffu);
    let sum = lowest + (middle << 16u);
    let finite = !(nan | infinite);
    let low = select(0u, sum, finite);
    let carried = (a.x >> 16u) * (b.x >> 16u) + (middle >> 16u) + select(0u, 1u, sum < lowest);
    let high = select(0u, carried, finite);

    let exponent = a.y + b.y;
    let bin = exponent >> 6u;
    let shift = exponent & 31u;
    let back = 31u - shift;
    let shifted = vec3<u32>(low << shift, (high << shift) | ((low >> 1u) >> back), (high >> 1u) >> back);
    let words = select(vec4<u32>(shifted, 0u), vec4<u32>(0u, shifted), (exponent & 32u) != 0u);
    let sign = vec4<u32>(select(0u, 0xffffffffu, negative));
    let near = (vec4<u32>(words.x & 0xffffu, words.x >> 16u, words.y & 0xffffu, words.y >> 16u) ^ sign) - sign;
    let far = (vec4<u32>(words.z & 0xffffu, words.z >> 16u, words.w & 0xffffu, words.w >> 16u) ^ sign) - sign;

    let zero = vec4<u32>(0u);
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

fn add_four(word: u32, four: vec4<u32>) {
    atomicAdd(&shared_words[word], four.x);
    atomicAdd(&shared_words[word + 1u], four.y);
    atomicAdd(&shared_words[word + 2u], four.z);
    atomicAdd(&shared_words[word + 3u], four.w);
}

fn hand_in() {
    add_four(0u, digits_0);
    add_four(4u, digits_1);
    add_four(8u, digits_2);
    add_four(12u, digits_3);
    add_four(16u, digits_4);
    add_four(20u, digits_5);
    add_four(24u, digits_6);
    add_four(28u, digits_7);
    add_four(32u, digits_8);
    atomicAdd(&shared_words[36u], specials.x);
    atomicAdd(&shared_words[37u], specials.y);
    atomicAdd(&shared_words[38u], specials.z);
}
