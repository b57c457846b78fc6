// Writes the opaque surfaces of a strip of the image as a layer behind all others. A pixel format
// precedes this file.

@group(0) @binding(0) var<storage, read> backdrop: array<vec2<u32>>;  // two times two components of 16 bits
@group(0) @binding(6) var<uniform> columns: i32;

@compute @workgroup_size(64, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let place = layer_position(id);
  if !layer_inside(place) { return; }
  let words = backdrop_load(place.y * columns + place.x);
  layer_store(place, pixel_of(vec4(unpack2x16unorm(words.x), unpack2x16unorm(words.y))));
}
