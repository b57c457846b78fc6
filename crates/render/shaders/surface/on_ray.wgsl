// The fragments of surfaces on a ray, between the samples of the volume: a part of the ray caster, before its march. A
// fragment belongs to the box of cells in which it lies, so that each is blended once, whoever casts the box. Where a fragment
// lies is counted in steps of the ray from its entry.

@group(0) @binding(8) var<storage, read> spans: array<vec4<u32>>;     // of each pixel; see shaders/surface/fragments.wgsl
@group(0) @binding(9) var<storage, read> fragments: array<u32>;       // three words each, of a pixel front first

struct Surfaces {
  next: u32,               // the next fragment
  end: u32,                // behind the last one
  at: f32,                 // where the next one lies; behind everything if there is none
  opaque: f32,             // where the nearest opaque surface stands
}

const NOWHERE = 3.0e38;

// The first fragment from a place in the list on that lies in the box and behind `behind`.
fn from_place(ray: Ray, first: u32, end: u32, behind: f32) -> vec2<u32> {
  var next = first;
  while next < end {
    let at = bitcast<f32>(fragments_load(i32(3u * next)));
    let cell = cell_of(ray.entry + ray.delta * at);
    if at > behind && all(cell >= subvolume.low) && all(cell < subvolume.high) {
      return vec2(next, bitcast<u32>(at));
    }
    next++;
  }
  return vec2(end, bitcast<u32>(NOWHERE));
}

fn surfaces_of(ray: Ray, pixel: vec2<i32>, sample: i32) -> Surfaces {
  let span = spans_load(pixel.y * view.size.x + pixel.x);
  // What lies in front of the last sample of an earlier pass was blended there.
  let behind = select(-1.0, f32(sample) - 0.5, subvolume.first > 0);
  let found = from_place(ray, span.y, span.z, behind);
  return Surfaces(found.x, span.z, bitcast<f32>(found.y), bitcast<f32>(span.x));
}

// The samples up to `end` that lie in front of the nearest opaque surface.
fn in_front_of_opaque(surfaces: Surfaces, end: i32) -> i32 {
  return min(end, i32(ceil(min(surfaces.opaque, 16777216.0) - 0.5)));
}

fn with_surfaces(ray: Ray, surfaces: ptr<function, Surfaces>, before: f32, sum: vec4<f32>) -> vec4<f32> {
  var blended = sum;
  while (*surfaces).at <= before && (*surfaces).next < (*surfaces).end {
    let word = i32(3u * (*surfaces).next);
    let colour = vec4(unpack2x16unorm(fragments_load(word + 1)), unpack2x16unorm(fragments_load(word + 2)));
    blended = over(blended, colour);
    let found = from_place(ray, (*surfaces).next + 1u, (*surfaces).end, -1.0);
    (*surfaces).next = found.x;
    (*surfaces).at = bitcast<f32>(found.y);
  }
  return blended;
}

// With those that lie behind the last sample before `end`, at which a later pass goes on.
fn with_last_surfaces(ray: Ray, surfaces: ptr<function, Surfaces>, end: i32, seen: vec4<f32>) -> vec4<f32> {
  let before = select(NOWHERE, f32(end) - 0.5, subvolume.last == 0u);
  return closed(over(seen, with_surfaces(ray, surfaces, before, vec4(0.0))), subvolume.opaque);
}
