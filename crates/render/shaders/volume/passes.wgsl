// Rays with very many samples are cast in several passes, which carry the accumulated colour.

@group(0) @binding(7) var<storage, read_write> carry: array<vec4<f32>>;

fn carried(pixel: vec2<i32>) -> vec4<f32> {
  return select(carry_load(pixel), vec4(0.0), subvolume.first == 0);
}

fn carry_on(pixel: vec2<i32>, accumulated: vec4<f32>) {
  carry_store(pixel, accumulated);
}

fn is_last() -> bool {
  return subvolume.last == 1u;
}
