// Layers with four 32-bit components.

@group(0) @binding(3) var<storage, read_write> layer: array<vec4<f32>>;

fn pixel_of(colour: vec4<f32>) -> vec4<f32> {
  return colour;
}
