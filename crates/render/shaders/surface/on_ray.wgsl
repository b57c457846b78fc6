// Fragments of surfaces on a ray, between the samples of the volume; part of the ray caster, before
// its march. A fragment belongs to the box of cells around it, so that each fragment is blended
// once. Its position is in steps of the ray, from one step before the entry.

@group(0) @binding(8) var<storage, read> spans: array<vec4<u32>>;     // of each pixel; see shaders/surface/fragments.wgsl
@group(0) @binding(9) var<storage, read> fragments: array<u32>;       // FRAGMENT_WORDS words each, of a pixel front first

const HAS_SURFACES = true;

struct Surfaces {
  next: u32,               // the next fragment
  end: u32,                // behind the last one
  behind: f32,             // earlier passes have blended fragments up to here
  opaque: f32,             // position of the nearest opaque surface
}

fn surfaces_of(pixel: vec2<i32>, sample: i32) -> Surfaces {
  let span = spans_load(pixel.y * view.size.x + pixel.x);
  let behind = select(-3e38, f32(sample) - 0.5, subvolume.first > 0);
  return Surfaces(span.y, span.z, behind, bitcast<f32>(span.x) - 1.0);
}

fn in_front_of_opaque(surfaces: Surfaces, end: i32) -> i32 {
  return min(end, i32(ceil(clamp(surfaces.opaque, 0.0, MAX_STEPS) - 0.5)));
}

// A sum of samples, followed by the fragments of this box up to `before`.
fn with_surfaces(ray: Ray, surfaces: ptr<function, Surfaces>, before: f32, sum: vec4<f32>) -> vec4<f32> {
  var blended = sum;
  var next = (*surfaces).next;
  while next < (*surfaces).end {
    let word = i32(FRAGMENT_WORDS * next);
    let at = bitcast<f32>(fragments_load(word)) - 1.0;
    if at > before { break; }
    let cell = cell_of(ray.entry + ray.delta * at);
    if at > (*surfaces).behind && all(cell >= subvolume.low) && all(cell < subvolume.high) {
      let colour = vec4(unpack2x16unorm(fragments_load(word + 1)), unpack2x16unorm(fragments_load(word + 2)));
      blended = over(blended, colour);
    }
    next++;
  }
  (*surfaces).next = next;
  return blended;
}
