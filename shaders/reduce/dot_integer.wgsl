// Exact sum of the products of integers of up to 32 bits, in four digits of 16 bits. A workgroup
// has at most 2^15 products, so that no digit overflows 32 bits.
//
// Words: the digits, lowest first (two's complement).

var<private> digits: vec4<u32>;

fn identity(word: u32) -> u32 {
    return 0u;
}

fn take(at: u32, second_at: u32) {
    let a_bits = load(at);
    let b_bits = load_second(second_at);
    let a = select(a_bits, ~a_bits + 1u, is_negative(a_bits));
    let b = select(b_bits, ~b_bits + 1u, is_negative(b_bits));
    let sign = vec4<u32>(select(0u, 0xffffffffu, is_negative(a_bits) != is_negative(b_bits)));

    let lowest = (a & 0xffffu) * (b & 0xffffu);
    let high_low = (a >> 16u) * (b & 0xffffu);
    let low_high = (a & 0xffffu) * (b >> 16u);
    let middle = (lowest >> 16u) + (high_low & 0xffffu) + (low_high & 0xffffu);
    let high = (a >> 16u) * (b >> 16u) + (high_low >> 16u) + (low_high >> 16u) + (middle >> 16u);
    let product = vec4<u32>(lowest & 0xffffu, middle & 0xffffu, high & 0xffffu, high >> 16u);
    digits += (product ^ sign) - sign;
}

fn hand_in() {
    atomicAdd(&shared_words[0u], digits.x);
    atomicAdd(&shared_words[1u], digits.y);
    atomicAdd(&shared_words[2u], digits.z);
    atomicAdd(&shared_words[3u], digits.w);
}
