// Marks the blocks of cells that may have a visible value; rays leap over other blocks.

struct Params {
  first_value: f32,        // of the transfer table
  per_value: f32,          // entries per unit of value
  last_entry: f32,
}

@group(0) @binding(0) var<storage, read> ranges: array<vec2<f32>>;    // see shaders/volume/ranges.wgsl
// For each entry of the transfer table, the first non-transparent entry at or after it.
@group(0) @binding(1) var<storage, read> visible: array<u32>;
@group(0) @binding(2) var<storage, read_write> occupied: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

fn entry_of(value: f32) -> i32 {
  return i32(clamp((value - params.first_value) * params.per_value, 0.0, params.last_entry));
}

@compute @workgroup_size(64, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let block = occupied_position(id);
  if !occupied_inside(block) { return; }
  let range = ranges_load(block);
  // Interpolation rounds: results may lie slightly outside of the range.
  let margin = 1e-6 * max(abs(range.x), abs(range.y));
  let next = visible_load(max(entry_of(range.x - margin) - 1, 0));
  let end = u32(min(entry_of(range.y + margin) + 2, i32(params.last_entry)));
  occupied_store(block, select(0u, 1u, next <= end));
}
