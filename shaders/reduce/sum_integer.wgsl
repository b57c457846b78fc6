// Exact sum of integers of up to 32 bits, in two digits of 16 bits. A workgroup has at most 2^15
// numbers, so that no digit overflows 32 bits. `high_digit` extends the sign of signed integers.
//
// Words: low digit, high digit.

var<private> digits: vec2<u32>;

fn identity(word: u32) -> u32 {
    return 0u;
}

fn take(at: u32, second_at: u32) {
    let value = load(at);
    digits += vec2<u32>(value & 0xffffu, high_digit(value));
}

fn hand_in() {
    atomicAdd(&shared_words[0u], digits.x);
    atomicAdd(&shared_words[1u], digits.y);
}
