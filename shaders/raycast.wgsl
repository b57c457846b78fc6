// Casts one ray for each pixel through one chunk of a volume, front to back: the samples whose cells the chunk holds.
// shaders/rays.wgsl stands before it. Its twin in Rust is src/algorithms/volume/twin.rs; CELL is replaced by the type of the
// bound voxels.

struct Params {
  eye: vec3<f32>,          // in voxels
  sample_distance: f32,
  forward: vec3<f32>,
  bend: f32,               // 1: rays meet in the eye, 0: they are parallel
  right: vec3<f32>,        // half a picture height
  first_value: f32,        // of the transfer table
  up: vec3<f32>,
  per_value: f32,          // entries per unit of value
  per_length: vec3<f32>,   // voxels per unit of length
  last_entry: f32,
  cells: vec3<i32>,        // of the whole volume
  first_sample: i32,       // of this pass
  low: vec3<i32>,          // the chunk's cells, global, from low
  end_sample: i32,
  high: vec3<i32>,         // up to high, which is outside
  resume: u32,             // 1: the picture holds the samples before first_sample
  origin: vec3<i32>,       // global coordinate of the section's first voxel
  size: vec2<i32>,         // of the picture
}

@group(0) @binding(0) var<storage, read> volume: array<CELL>;
@group(0) @binding(1) var<storage, read> transfer: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> occupied: array<u32>; // see shaders/occupancy.wgsl
@group(0) @binding(3) var<storage, read_write> image: array<vec4<f32>>;
@group(0) @binding(4) var<uniform> params: Params;

const BLOCK_BITS = 5u;     // 32 samples are summed up among themselves
const SIDE_BITS = 3u;      // blocks of space have 8 cells a side

// How many samples on from p the first one lies that may be outside its block of space.
fn leap(ray: Ray, p: vec3<f32>, block: vec3<i32>) -> i32 {
  // Rounding moves samples by less than this.
  let margin = 1e-3 + 1e-6 * vec3<f32>(params.cells);
  let low = vec3<f32>(params.low + (block << vec3(SIDE_BITS)));
  let high = low + f32(1 << SIDE_BITS);
  let plane = select(low + margin, high - margin, (ray.delta >= vec3(0.0)));
  let samples = (plane - p) / ray.slope;
  return 1 + i32(clamp(min(min(samples.x, samples.y), samples.z), 0.0, 65536.0));
}

fn between(a: vec4<f32>, b: vec4<f32>, share: f32) -> vec4<f32> {
  return a + share * (b - a);
}

fn value_at(p: vec3<i32>, share: vec3<f32>) -> f32 {
  let low = vec4(
    f32(volume_load(p)), f32(volume_load(p + vec3(0, 1, 0))),
    f32(volume_load(p + vec3(0, 0, 1))), f32(volume_load(p + vec3(0, 1, 1))));
  let high = vec4(
    f32(volume_load(p + vec3(1, 0, 0))), f32(volume_load(p + vec3(1, 1, 0))),
    f32(volume_load(p + vec3(1, 0, 1))), f32(volume_load(p + vec3(1, 1, 1))));
  let rows = between(low, high, share.x);
  let planes = rows.xz + share.y * (rows.yw - rows.xz);
  return planes.x + share.z * (planes.y - planes.x);
}

fn colour_of(value: f32) -> vec4<f32> {
  let x = clamp((value - params.first_value) * params.per_value, 0.0, params.last_entry);
  let entry = min(i32(x), i32(params.last_entry) - 1);
  return between(transfer_load(entry), transfer_load(entry + 1), x - f32(entry));
}

@compute @workgroup_size(64, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let pixel = image_position(id);
  if !image_inside(pixel) { return; }
  let ray = ray_of(pixel.xy);
  let forward = ray.delta >= vec3(0.0);
  var sample = max(first_past(ray, select(params.high, params.low, forward), true), params.first_sample);
  let end = min(first_past(ray, select(params.low, params.high, forward), false), params.end_sample);
  var seen = vec4(0.0);
  if params.resume != 0u { seen = image_load(pixel); }
  while sample < end {
    // Blocks lie on the lattice of samples, so that a whole block is the same bits in every chunk.
    let stop = min(((sample >> BLOCK_BITS) + 1) << BLOCK_BITS, end);
    var block = vec4(0.0);
    while sample < stop {
      let p = position_of(ray, sample);
      let cell = clamp(vec3<i32>(floor(p)), params.low, params.high - 1);
      let space = (cell - params.low) >> vec3(SIDE_BITS);
      if occupied_load(space) == 0u {
        // Every sample in it would add nothing at all: leaving them out changes no bit.
        sample += leap(ray, p, space);
      } else {
        let share = clamp(p - vec3<f32>(cell), vec3(0.0), vec3(1.0));
        let colour = colour_of(value_at(cell - params.origin, share));
        block += (1.0 - block.a) * vec4(colour.rgb * colour.a, colour.a);
        sample += 1;
      }
    }
    seen += (1.0 - seen.a) * block;
  }
  image_store(pixel, seen);
}
