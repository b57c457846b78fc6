// Marks the blocks of a chunk's cells in which some value may be visible, so that shaders/raycast.wgsl can leap over the
// others. CELL is replaced by the type of the bound voxels.

struct Params {
  origin: vec3<i32>,       // global coordinate of the section's first voxel
  first_value: f32,        // of the transfer table
  low: vec3<i32>,          // the chunk's cells, global, from low
  per_value: f32,          // entries per unit of value
  high: vec3<i32>,         // up to high, which is outside
  last_entry: f32,
}

@group(0) @binding(0) var<storage, read> volume: array<CELL>;
// For each entry of the transfer table the first one from it on that is not transparent.
@group(0) @binding(1) var<storage, read> visible: array<u32>;
@group(0) @binding(2) var<storage, read_write> occupied: array<u32>;
@group(0) @binding(3) var<uniform> params: Params;

const SIDE = 8;            // cells; as in shaders/raycast.wgsl

fn entry_of(value: f32) -> i32 {
  return i32(clamp((value - params.first_value) * params.per_value, 0.0, params.last_entry));
}

@compute @workgroup_size(64, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let block = occupied_position(id);
  if !occupied_inside(block) { return; }
  // A cell has voxels at both its ends.
  let first = params.low + block * SIDE - params.origin;
  let last = min(params.low + block * SIDE + SIDE, params.high) - params.origin;
  var least = f32(volume_load(first));
  var most = least;
  for (var z = first.z; z <= last.z; z++) {
    for (var y = first.y; y <= last.y; y++) {
      for (var x = first.x; x <= last.x; x++) {
        let value = f32(volume_load(vec3(x, y, z)));
        least = min(least, value);
        most = max(most, value);
      }
    }
  }
  // Interpolation rounds: its results may lie a little outside.
  let margin = 1e-6 * max(abs(least), abs(most));
  let next = visible_load(max(entry_of(least - margin) - 1, 0));
  let end = u32(min(entry_of(most + margin) + 2, i32(params.last_entry)));
  occupied_store(block, select(0u, 1u, next <= end));
}
