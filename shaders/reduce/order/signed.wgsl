// Order and digits of loaded bits that are an i32. Keys are u32 values in the order of the numbers.

fn key(bits: u32) -> u32 {
    return bits ^ 0x80000000u;
}

fn is_nan(bits: u32) -> bool {
    return false;
}

fn high_digit(value: u32) -> u32 {
    return u32(i32(value) >> 16u);
}

fn is_negative(value: u32) -> bool {
    return (value >> 31u) == 1u;
}

fn one_zero(bits: u32) -> u32 {
    return bits;
}
