// Loads and orders of cells in reductions, one per section. A line `//@` begins a section.
//
// A reduction contains one `load`, a copy of this function as `load_second`, and one order. A
// reduction of vector lengths contains a `load` with the name `load_number`, the size of its order,
// and the length. Indices count cells; 8- and 16-bit cells are packed in words from the lowest
// bits.

//@ word
fn load(at: u32) -> u32 {
    return first[at];
}

//@ u8
fn load(at: u32) -> u32 {
    return extractBits(first[at >> 2u], (at & 3u) * 8u, 8u);
}

//@ i8
fn load(at: u32) -> u32 {
    return u32(extractBits(i32(first[at >> 2u]), (at & 3u) * 8u, 8u));
}

//@ u16
fn load(at: u32) -> u32 {
    return extractBits(first[at >> 1u], (at & 1u) * 16u, 16u);
}

//@ i16
fn load(at: u32) -> u32 {
    return u32(extractBits(i32(first[at >> 1u]), (at & 1u) * 16u, 16u));
}

//@ f16
// Returns the bits of the f32 of the same value, also for a subnormal f16.
fn load(at: u32) -> u32 {
    let bits = extractBits(first[at >> 1u], (at & 1u) * 16u, 16u);
    let sign = (bits & 0x8000u) << 16u;
    let biased = (bits >> 10u) & 31u;
    let fraction = bits & 0x3ffu;
    let top = firstLeadingBit(fraction | 1u);
    let subnormal = ((top + 103u) << 23u) | ((fraction << (23u - top)) & 0x7fffffu);
    let normal = ((biased + 112u) << 23u) | (fraction << 13u);
    let special = 0x7f800000u | (fraction << 13u);
    let small = select(subnormal, 0u, fraction == 0u);
    return sign | select(select(normal, special, biased == 31u), small, biased == 0u);
}

//@ unsigned
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

//@ signed
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

//@ float
fn key(bits: u32) -> u32 {
    return bits ^ select(0x80000000u, 0xffffffffu, (bits >> 31u) == 1u);
}

fn is_nan(bits: u32) -> bool {
    return (bits & 0x7fffffffu) > 0x7f800000u;
}

fn one_zero(bits: u32) -> u32 {
    return select(bits, 0u, bits == 0x80000000u);
}

//@ size of unsigned
fn size(bits: u32) -> f32 {
    return f32(bits);
}

fn beyond(bits: u32) -> u32 {
    return 0u;
}

//@ size of signed
fn size(bits: u32) -> f32 {
    return abs(f32(i32(bits)));
}

fn beyond(bits: u32) -> u32 {
    return 0u;
}

//@ size of float
fn size(bits: u32) -> f32 {
    return bitcast<f32>(bits & 0x7fffffffu);
}

// Returns the bits of an infinity or a NaN without the sign, otherwise 0. NaNs are larger.
fn beyond(bits: u32) -> u32 {
    let size = bits & 0x7fffffffu;
    return select(0u, size, size >= 0x7f800000u);
}

//@ length
// Returns the length of the vector that begins at index `at`. Components are scaled by the largest
// one, so that squares neither overflow nor underflow.
fn load(at: u32) -> u32 {
    var special = 0u;
    var largest = 0f;
    for (var i = 0u; i < COMPONENTS; i++) {
        let bits = load_number(at + i);
        special = max(special, beyond(bits));
        largest = max(largest, select(size(bits), 0f, beyond(bits) > 0u));
    }
    var squares = 0f;
    for (var i = 0u; i < COMPONENTS; i++) {
        let scaled = size(load_number(at + i)) / largest;
        squares += scaled * scaled;
    }
    let length = bitcast<u32>(largest * sqrt(squares));
    return select(select(length, 0u, largest == 0f), special, special > 0u);
}
