// Magnitude of loaded bits that are a u32, for lengths of vectors.

fn size(bits: u32) -> f32 {
    return f32(bits);
}

fn beyond(bits: u32) -> u32 {
    return 0u;
}
