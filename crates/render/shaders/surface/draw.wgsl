// Rasterises triangles. Rays (shaders/volume/view.wgsl) and light precede this file. Fragment
// shaders write a few words per pixel in undefined order: results of all writes are independent of
// the order.
//
// The position of a fragment is counted in steps of its pixel's ray, from one step before the
// entry: jitter moves it by up to half a step, and positions must not be negative.
//
// crates/render/src/volume/surface/rasteriser.rs declares FIRST_PHASE, and FRAGMENT_WORDS, the
// number of words of a fragment.

struct Surface {
  colour: vec3<f32>,       // used if the table has no entries
  opacity: f32,
  light: vec4<f32>,        // ambient, diffuse, specular, shininess
  first_value: f32,        // of the table
  per_value: f32,          // entries per unit of value
  entries: i32,
  phase: u32,
  // Band of rows: first row, and the offset of the band's data in the bindings, in pixels of one
  // word, pixels of two words, and words of the list.
  first_row: i32,
  first: u32,
  first_of_two: u32,
  first_word: u32,
}

@group(0) @binding(0) var<uniform> surface: Surface;
@group(0) @binding(1) var<storage, read> table: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> nearest: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> cursors: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read_write> fragments: array<u32>;
@group(0) @binding(6) var<storage, read_write> shown: array<atomic<u32>>;

struct Corner {
  @builtin(position) clip: vec4<f32>,
  @location(0) voxel: vec3<f32>,    // in voxels
  @location(1) normal: vec3<f32>,
  @location(2) value: f32,
}

// Distance to the eye, in lengths, below which fragments are invisible.
const NEAR = 1e-3;
const FAR = 1e20;

@vertex
fn corner(@location(0) voxel: vec3<f32>, @location(1) normal: vec3<f32>, @location(2) value: f32) -> Corner {
  let from_eye = to_space(voxel - view.eye);
  let depth = dot(from_eye, view.forward);
  let x = dot(from_eye, view.right) / dot(view.right, view.right) * (f32(view.size.y) / f32(view.size.x));
  let y = dot(from_eye, view.up) / dot(view.up, view.up);
  // Depth only clips fragments behind the eye; their order is decided in steps of rays.
  let clip = select(vec4(x, y, depth / FAR, 1.0), vec4(x, y, depth - NEAR, depth), view.bend > 0.0);
  return Corner(clip, voxel, normal, value);
}

fn colour_at(value: f32) -> vec4<f32> {
  let x = clamp((value - surface.first_value) * surface.per_value, 0.0, f32(surface.entries - 1));
  let entry = max(min(i32(x), surface.entries - 2), 0);
  let colour = table[entry] + (x - f32(entry)) * (table[entry + 1] - table[entry]);
  return select(colour, vec4(surface.colour, 1.0), surface.entries == 0);
}

// True if clip planes and the crop box keep the point, with a margin for the rounding of fragments.
fn is_visible(voxel: vec3<f32>) -> bool {
  let margin = 1e-3 + 1e-6 * vec3<f32>(view.cells);
  var is_kept = all(voxel >= view.crop_low - margin) && all(voxel <= view.crop_high + margin);
  for (var plane = 0; plane < PLANES; plane++) {
    is_kept = is_kept && dot(view.planes[plane].xyz, voxel) + view.planes[plane].w >= -margin.x;
  }
  return is_kept;
}

struct Fragment {
  number: u32,             // of the pixel within the band
  at: u32,                 // the bits of its voxel on the ray
  words: vec2<u32>,        // colour and opacity
}

fn fragment_of(corner: Corner, flat_normal: vec3<f32>) -> Fragment {
  let pixel = vec2<i32>(floor(corner.clip.xy));
  let ray = ray_of(pixel);
  let step = to_space(ray.delta);
  let at = max(dot(to_space(corner.voxel - ray.entry), step) / dot(step, step) + 1.0, 0.0);
  let normal = select(corner.normal, flat_normal, all(corner.normal == vec3(0.0)));
  let plain = vec4(colour_at(corner.value).rgb * surface.opacity, surface.opacity);
  let colour = in_light(plain, normal, ray, surface.light);
  let words = vec2(pack2x16unorm(colour.rg), pack2x16unorm(colour.ba));
  let number = u32((pixel.y - surface.first_row) * view.size.x + pixel.x);
  return Fragment(number, bitcast<u32>(at), words);
}

fn normal_of(corner: Corner) -> vec3<f32> {
  let voxel = to_space(corner.voxel);
  return cross(dpdx(voxel), dpdy(voxel));
}

@fragment
fn opaque(corner: Corner) -> @location(0) vec4<f32> {
  let flat_normal = normal_of(corner);
  if is_visible(corner.voxel) {
    let fragment = fragment_of(corner, flat_normal);
    let number = fragment.number + surface.first;
    // No branch depends on the phase alone: both phases execute all operations, with operands that
    // disable those of the other phase.
    let was = atomicMin(&nearest[number], select(0xffffffffu, fragment.at, surface.phase == FIRST_PHASE));
    if (surface.phase != FIRST_PHASE) & (was == fragment.at) {
      // Coincident fragments: the larger of each pair of components, independent of the rank.
      let word = 2u * (fragment.number + surface.first_of_two);
      atomicMax(&shown[word], fragment.words.x);
      atomicMax(&shown[word + 1u], fragment.words.y);
    }
  }
  return vec4(0.0);
}

@fragment
fn transparent(corner: Corner) -> @location(0) vec4<f32> {
  let flat_normal = normal_of(corner);
  if is_visible(corner.voxel) {
    let fragment = fragment_of(corner, flat_normal);
    let number = fragment.number + surface.first;
    if fragment.at < atomicLoad(&nearest[number]) {
      // Counts up in the first phase and down in the second one.
      let count = atomicAdd(&cursors[number], select(0xffffffffu, 1u, surface.phase == FIRST_PHASE));
      if (surface.phase != FIRST_PHASE) & (count > 0u) {
        let word = FRAGMENT_WORDS * (count - 1u) - surface.first_word;
        fragments[word] = fragment.at;
        fragments[word + 1u] = fragment.words.x;
        fragments[word + 2u] = fragment.words.y;
      }
    }
  }
  return vec4(0.0);
}
