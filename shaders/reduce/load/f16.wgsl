// Loads an f16 as the bits of the f32 of the same value, also if the f16 is subnormal. A word has
// two cells, from the lowest bits.
//
// $LOAD is the name of the function, $INPUT the array of words. `at` counts cells.

fn $LOAD(at: u32) -> u32 {
    let bits = extractBits($INPUT[at >> 1u], (at & 1u) * 16u, 16u);
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
