// Layers with four 8-bit components, red lowest.

@group(0) @binding(3) var<storage, read_write> layer: array<u32>;

fn pixel_of(colour: vec4<f32>) -> u32 {
  return to_rgba8(colour);
}
