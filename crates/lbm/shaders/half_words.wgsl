// Words of two 16-bit populations, scaled by 2^15.

fn unpack_word(word: u32) -> vec2<f32> { return unpack2x16float(word) * 0.000030517578125; }

fn unpack_lane(word: u32, lane: i32) -> f32 {
    let both = unpack_word(word);
    return select(both.x, both.y, lane == 1);
}

fn random_seed(p: vec3<i32>) -> u32 {
    let mixed = vec3<u32>(p + parameters.origin) * vec3<u32>(0x8da6b343u, 0xd8163841u, 0xcb1ab31fu);
    let state = (mixed.x ^ mixed.y ^ mixed.z ^ (u32(parameters.step) * 0x9e3779b9u)) * 747796405u + 2891336453u;
    let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}

fn random_bits(seed: u32, q: u32) -> u32 {
    var x = seed + q * 0x9e3779b9u;
    x = (x ^ (x >> 16u)) * 0x7feb352du;
    return x ^ (x >> 15u);
}

fn pack_word(values: vec2<f32>, random: u32) -> u32 {
    let bits = bitcast<vec2<u32>>(values * 32768.0);
    // Halves keep all but the lowest 13 bits of the mantissa.
    let increment = vec2<u32>(random, random >> 16u) & vec2<u32>(0x1fffu, 0x1fffu);
    let rounded = (bits + increment) & vec2<u32>(0xffffe000u, 0xffffe000u);
    let is_out_of_range = (bits & vec2<u32>(0x7fffffffu, 0x7fffffffu)) > vec2<u32>(0x477fe000u, 0x477fe000u);
    return pack2x16float(bitcast<vec2<f32>>(rounded)) | select(0u, 0x7e00u, is_out_of_range.x)
        | select(0u, 0x7e000000u, is_out_of_range.y);
}

// Replaces the bits of `mask` in a word.
fn merge_word(word: u32, values: vec2<f32>, mask: u32, random: u32) -> u32 {
    return (word & ~mask) | (pack_word(values, random) & mask);
}

fn merge_lane(word: u32, lane: i32, value: f32, random: u32) -> u32 {
    return merge_word(word, vec2<f32>(value, value), select(0x0000ffffu, 0xffff0000u, lane == 1), random);
}

fn swap_lanes(word: u32, condition: bool) -> u32 { return select(word, (word << 16u) | (word >> 16u), condition); }
