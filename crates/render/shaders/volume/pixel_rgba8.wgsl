// Layers of four components of 8 bits, red lowest. Blending does the same arithmetic, in which opacity only ever grows:
// what is opaque with fewer layers is opaque with more.

@group(0) @binding(3) var<storage, read_write> layer: array<u32>;

fn eight_bits(part: f32) -> u32 {
  return u32(clamp(part, 0.0, 1.0) * 255.0 + 0.5);
}

fn pixel_of(seen: vec4<f32>) -> u32 {
  // Light may add more colour than there is opacity, for which there is no room.
  let part = min(seen, vec4(seen.a));
  return eight_bits(part.r) | (eight_bits(part.g) << 8u) | (eight_bits(part.b) << 16u) | (eight_bits(part.a) << 24u);
}

fn joined(front: f32, alpha: f32) -> f32 {
  let rest = (255u - u32(front)) * eight_bits(alpha) + 128u;
  return front + f32((rest + (rest >> 8u)) >> 8u);
}

fn is_hidden(front: f32) -> bool {
  return front >= 255.0 && piece.hidden >= 0.0;
}
