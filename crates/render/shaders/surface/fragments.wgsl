// Puts the fragments of each pixel in order: front first, and of those that lie at the same place by their colours, so that the
// order in which they were drawn does not show. `spans` gets for each pixel where the nearest opaque surface stands, and its
// first and last fragment.

@group(0) @binding(0) var<storage, read_write> fragments: array<u32>;
@group(0) @binding(1) var<storage, read> cursors: array<u32>;         // where the fragments of each pixel begin
@group(0) @binding(2) var<storage, read> nearest: array<u32>;
@group(0) @binding(3) var<storage, read_write> spans: array<vec4<u32>>;
@group(0) @binding(4) var<uniform> total: u32;                        // of all pixels
@group(0) @binding(5) var<uniform> pixels: i32;

fn fragment_at(number: u32) -> vec3<u32> {
  let word = i32(3u * number);
  return vec3(fragments_load(word), fragments_load(word + 1), fragments_load(word + 2));
}

fn put(number: u32, fragment: vec3<u32>) {
  let word = i32(3u * number);
  fragments_store(word, fragment.x);
  fragments_store(word + 1, fragment.y);
  fragments_store(word + 2, fragment.z);
}

// Places are not negative, so that their bits are in order as numbers are.
fn comes_before(a: vec3<u32>, b: vec3<u32>) -> bool {
  if a.x != b.x { return a.x < b.x; }
  if a.y != b.y { return a.y < b.y; }
  return a.z < b.z;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let pixel = domain_position(id);
  if !domain_inside(pixel) { return; }
  let first = cursors_load(pixel);
  var end = total;
  if pixel + 1 < pixels { end = cursors_load(pixel + 1); }
  for (var taken = first + 1u; taken < end; taken++) {
    let fragment = fragment_at(taken);
    var place = taken;
    while place > first {
      let other = fragment_at(place - 1u);
      if !comes_before(fragment, other) { break; }
      put(place, other);
      place--;
    }
    put(place, fragment);
  }
  spans_store(pixel, vec4(nearest_load(pixel), first, end, 0u));
}
