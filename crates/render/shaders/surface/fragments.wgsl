// Sorts the fragments of each pixel, front first; coincident fragments by colour, so that the
// result does not depend on the order of drawing. `spans` receives per pixel the position of the
// nearest opaque surface, and its first and last fragment. FRAGMENT_WORDS is the number of words of
// a fragment.

@group(0) @binding(0) var<storage, read_write> fragments: array<u32>;
@group(0) @binding(1) var<storage, read> cursors: array<u32>;         // offset of each pixel's fragments
@group(0) @binding(2) var<storage, read> nearest: array<u32>;
@group(0) @binding(3) var<storage, read_write> spans: array<vec4<u32>>;
@group(0) @binding(4) var<uniform> total: u32;                        // of all pixels
@group(0) @binding(5) var<uniform> pixels: i32;

fn fragment_at(number: u32) -> vec3<u32> {
  let word = i32(FRAGMENT_WORDS * number);
  return vec3(fragments_load(word), fragments_load(word + 1), fragments_load(word + 2));
}

fn put(number: u32, fragment: vec3<u32>) {
  let word = i32(FRAGMENT_WORDS * number);
  fragments_store(word, fragment.x);
  fragments_store(word + 1, fragment.y);
  fragments_store(word + 2, fragment.z);
}

// Positions are not negative: their bits have the order of the numbers.
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
  let count = end - first;
  // Heapsort: few iterations for any number of fragments.
  var unsorted = count;
  var next = count / 2u;
  while unsorted > 1u {
    var sinking: vec3<u32>;
    if next > 0u {
      next--;
      sinking = fragment_at(first + next);
    } else {
      unsorted--;
      sinking = fragment_at(first + unsorted);
      put(first + unsorted, fragment_at(first));
    }
    var index = next;
    loop {
      var child = 2u * index + 1u;
      if child >= unsorted { break; }
      var below = fragment_at(first + child);
      if child + 1u < unsorted {
        let other = fragment_at(first + child + 1u);
        if comes_before(below, other) {
          below = other;
          child++;
        }
      }
      if !comes_before(sinking, below) { break; }
      put(first + index, below);
      index = child;
    }
    put(first + index, sinking);
  }
  spans_store(pixel, vec4(nearest_load(pixel), first, end, 0u));
}
