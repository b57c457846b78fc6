// Least and greatest value of each block of cells of a chunk.
//
// crates/render/src/volume/space.rs declares:
// * Cell: type of the bound voxels.
// * COMPONENTS: number of interleaved components per voxel.
// * OPACITY: component that determines visibility.
// * SIDE: number of cells of a side of a block.

struct Params {
  origin: vec3<i32>,       // global coordinate of the first voxel that is bound
  reach: i32,              // cells around a block that count as its own
  low: vec3<i32>,          // the chunk's cells, global, from low
  high: vec3<i32>,         // up to high, which is outside
  cells: vec3<i32>,        // of the whole volume
}

@group(0) @binding(0) var<storage, read> volume: array<Cell>;
@group(0) @binding(1) var<storage, read_write> ranges: array<vec2<f32>>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(64, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let block = ranges_position(id);
  if !ranges_inside(block) { return; }
  // A cell has voxels at both its ends.
  let start = params.low + block * SIDE;
  let first = max(start - params.reach, vec3(0)) - params.origin;
  let last = min(min(start + SIDE, params.high) + params.reach, params.cells) - params.origin;
  let some = f32(volume_load(vec3(first.x * COMPONENTS + OPACITY, first.yz)));
  var range = vec2(some);
  for (var z = first.z; z <= last.z; z++) {
    for (var y = first.y; y <= last.y; y++) {
      for (var x = first.x; x <= last.x; x++) {
        let value = f32(volume_load(vec3(x * COMPONENTS + OPACITY, y, z)));
        range = vec2(min(range.x, value), max(range.y, value));
      }
    }
  }
  ranges_store(block, range);
}
