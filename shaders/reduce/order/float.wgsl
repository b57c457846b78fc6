// Order and digits of loaded bits that are an f32. Keys are u32 values in the order of the numbers.

fn key(bits: u32) -> u32 {
    return bits ^ select(0x80000000u, 0xffffffffu, (bits >> 31u) == 1u);
}

fn is_nan(bits: u32) -> bool {
    return (bits & 0x7fffffffu) > 0x7f800000u;
}

fn one_zero(bits: u32) -> u32 {
    return select(bits, 0u, bits == 0x80000000u);
}
