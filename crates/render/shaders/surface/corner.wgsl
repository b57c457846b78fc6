// Converts vertices of surfaces to corners (position in voxels, normal, value); reports the first
// vertex that is not finite.
//
// src/volume/surface/triangle_import.rs declares:
// * CORNER_WORDS: numbers of a corner.
// * WRONG_POSITION, WRONG_NORMAL: indices in `found` of the first non-finite position and normal.
// * MOST, BEYOND: largest f32, and the limit of positions.

struct Vertices {
  origin: vec3<f32>,           // position of the first voxel
  has_normals: u32,
  origin_remainder: vec3<f32>, // exact position of the first voxel minus `origin`
  has_values: u32,
  to_voxels: mat3x3<f32>,      // from vectors in space
}

// Three numbers per vertex; values: one per vertex.
@group(0) @binding(0) var<storage, read> positions: array<f32>;
@group(0) @binding(1) var<storage, read> normals: array<f32>;
@group(0) @binding(2) var<storage, read> values: array<f32>;
@group(0) @binding(3) var<storage, read_write> corners: array<f32>;   // seven numbers each
@group(0) @binding(4) var<storage, read_write> found: array<atomic<u32>>;
@group(0) @binding(5) var<uniform> vertices: Vertices;

// Tests bits, because compilers may assume that all numbers are finite.
fn is_finite(number: f32) -> bool {
  return (bitcast<u32>(number) & 0x7f800000u) != 0x7f800000u;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let vertex = domain_position(id);
  if !domain_inside(vertex) { return; }
  var voxel = vec3<f32>(0.0);
  for (var axis = 0; axis < 3; axis++) {
    let position = positions_load(3 * vertex + axis);
    if !is_finite(position) { atomicMin(&found[found_index(WRONG_POSITION)], u32(vertex)); }
    // Clamping prevents compilers from adding `origin` and `origin_remainder` first.
    let from_origin = clamp(position - vertices.origin[axis], -MOST, MOST);
    let offset = clamp(from_origin - vertices.origin_remainder[axis], -MOST, MOST);
    // Clamped products: their sums are finite, and no device fuses product and sum.
    voxel += clamp(offset * vertices.to_voxels[axis], vec3(-BEYOND), vec3(BEYOND));
    let normal = select(0.0, normals_load(3 * vertex + axis), vertices.has_normals == 1u);
    if !is_finite(normal) { atomicMin(&found[found_index(WRONG_NORMAL)], u32(vertex)); }
    corners_store(CORNER_WORDS * vertex + 3 + axis, normal);
  }
  for (var axis = 0; axis < 3; axis++) { corners_store(CORNER_WORDS * vertex + axis, voxel[axis]); }
  let value = select(0.0, values_load(vertex), vertices.has_values == 1u);
  corners_store(CORNER_WORDS * vertex + 6, value);
}
