// Magnitude of loaded bits that are an f32, for lengths of vectors.

fn size(bits: u32) -> f32 {
    return bitcast<f32>(bits & 0x7fffffffu);
}

// Returns the bits of an infinity or a NaN without the sign, otherwise 0. NaNs are larger.
fn beyond(bits: u32) -> u32 {
    let size = bits & 0x7fffffffu;
    return select(0u, size, size >= 0x7f800000u);
}
