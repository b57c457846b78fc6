// Magnitude of loaded bits that are an i32, for lengths of vectors.

fn size(bits: u32) -> f32 {
    return abs(f32(i32(bits)));
}

fn beyond(bits: u32) -> u32 {
    return 0u;
}
