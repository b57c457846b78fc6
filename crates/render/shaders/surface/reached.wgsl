// Finds the cells of this rank's bricks that triangles may cross, and the triangles that other
// ranks need. The draw order receives triangles that may cross bricks of this rank, or very many
// bricks; other triangles are replaced by a degenerate one (a single vertex three times).
//
// src/volume/surface/triangle_import.rs declares:
// * LISTED, OUTSIDE, WRONG_TRIANGLE: indices in `found` of the number of listed triangles, of the
//   number outside of the volume, and of the first triangle with a vertex index out of range.
// * BOXES: index in `found` of the first box, which has six numbers.
// * NONE: index of bricks of other ranks.
// * CORNER_WORDS, LISTED_WORDS: words of a corner and of a listed triangle.

struct Reach {
  margin: vec3<f32>,       // in voxels; see src/volume/surface/distribute.rs
  side: i32,               // of bricks, in cells
  cells: vec3<i32>,        // of the whole volume
  vertices: u32,
  bricks: vec3<i32>,
  most: u32,               // triangles that the list holds
  first: i32,              // triangle of this call
}

@group(0) @binding(0) var<storage, read> corners: array<f32>;         // see shaders/surface/corner.wgsl
@group(0) @binding(1) var<storage, read> triangles: array<u32>;
@group(0) @binding(2) var<storage, read> numbers: array<u32>;         // of each brick among this rank's, or NONE
@group(0) @binding(3) var<storage, read_write> order: array<u32>;
@group(0) @binding(4) var<storage, read_write> found: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> listed: array<u32>;    // per triangle three vertex indices and three corners
@group(0) @binding(6) var<uniform> reach: Reach;

// Maximum number of bricks per triangle in kernels; the host processes larger triangles. Other
// invocations would wait for them, and some devices end loops after 65,535 iterations.
const MAX_BRICKS = 64;

fn place_of(vertex: u32) -> vec3<f32> {
  let first = CORNER_WORDS * i32(vertex);
  return vec3(corners_load(first), corners_load(first + 1), corners_load(first + 2));
}

fn add(corner: vec3<u32>) {
  let number = atomicAdd(&found[found_index(LISTED)], 1u);
  if number >= reach.most { return; }
  let first = LISTED_WORDS * i32(number);
  for (var i = 0; i < 3; i++) {
    listed_store(first + i, corner[i]);
    for (var word = 0; word < CORNER_WORDS; word++) {
      let number = bitcast<u32>(corners_load(CORNER_WORDS * i32(corner[i]) + word));
      listed_store(first + 3 + CORNER_WORDS * i + word, number);
    }
  }
}

// Most triangles do not extend the box: a read costs less than an atomic write.
fn widen(number: u32, low: vec3<i32>, high: vec3<i32>) {
  for (var axis = 0; axis < 3; axis++) {
    let place = found_index(BOXES + 6 * i32(number) + axis);
    let least = u32(low[axis]);
    let most = u32(high[axis]);
    if least < atomicLoad(&found[place]) { atomicMin(&found[place], least); }
    if most > atomicLoad(&found[place + 3u]) { atomicMax(&found[place + 3u], most); }
  }
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let place = domain_position(id);
  if !domain_inside(place) { return; }
  let triangle = reach.first + place;
  var corner = vec3<u32>(0u);
  for (var i = 0; i < 3; i++) { corner[i] = triangles_load(3 * triangle + i); }
  var is_own = false;
  if any(corner >= vec3(reach.vertices)) {
    atomicMin(&found[found_index(WRONG_TRIANGLE)], u32(triangle));
  } else {
    let a = place_of(corner.x);
    let b = place_of(corner.y);
    let c = place_of(corner.z);
    let last = vec3<f32>(reach.cells);
    let least = min(min(a, b), c) - reach.margin;
    let greatest = max(max(a, b), c) + reach.margin;
    if any(greatest < vec3(0.0)) || any(least > last) { atomicAdd(&found[found_index(OUTSIDE)], 1u); }
    let low = vec3<i32>(clamp(floor(least), vec3(0.0), last - 1.0));
    let high = vec3<i32>(clamp(floor(greatest) + 1.0, vec3(1.0), last));
    let first = low / reach.side;
    let extent = (high + reach.side - 1) / reach.side - first;
    let count = extent.x * extent.y * extent.z;
    var is_others = count > MAX_BRICKS;
    is_own = is_others;
    for (var i = 0; i < count && count <= MAX_BRICKS; i++) {
      let at = first + vec3(i % extent.x, i / extent.x % extent.y, i / extent.x / extent.y);
      let number = numbers_load(at.x + reach.bricks.x * (at.y + reach.bricks.y * at.z));
      if number == NONE {
        is_others = true;
      } else {
        is_own = true;
        widen(number, max(low, at * reach.side), min(high, min((at + 1) * reach.side, reach.cells)));
      }
    }
    if is_others { add(corner); }
  }
  for (var i = 0; i < 3; i++) { order_store(3 * triangle + i, select(0u, corner[i], is_own)); }
}
