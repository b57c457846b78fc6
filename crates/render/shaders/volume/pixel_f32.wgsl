// Layers of four components of 32 bits.

@group(0) @binding(3) var<storage, read_write> layer: array<vec4<f32>>;

fn pixel_of(seen: vec4<f32>) -> vec4<f32> {
  return seen;
}

// The opacity of a layer behind what has the opacity `front`.
fn joined(front: f32, alpha: f32) -> f32 {
  return over(vec4(front), vec4(alpha)).a;
}

fn is_hidden(front: f32) -> bool {
  return 1.0 - front <= subvolume.hidden;
}
