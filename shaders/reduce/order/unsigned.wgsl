// Order and digits of loaded bits that are a u32. Keys are u32 values in the order of the numbers.

fn key(bits: u32) -> u32 {
    return bits;
}

fn is_nan(bits: u32) -> bool {
    return false;
}

fn high_digit(value: u32) -> u32 {
    return value >> 16u;
}

fn is_negative(value: u32) -> bool {
    return false;
}

fn one_zero(bits: u32) -> u32 {
    return bits;
}
