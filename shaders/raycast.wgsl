// Casts one ray for each pixel through one chunk of a volume, front to back: the samples whose cells the chunk holds.
// Its twin in Rust is src/algorithms/volume/{view,twin}.rs; CELL is replaced by the type of the bound voxels.

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

struct Ray {
  entry: vec3<f32>,
  delta: vec3<f32>,
  samples: i32,
}

@group(0) @binding(0) var<storage, read> volume: array<CELL>;
@group(0) @binding(1) var<storage, read> transfer: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> image: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> params: Params;

const BLOCK = 32;

fn ray_of(pixel: vec2<i32>) -> Ray {
  let x = f32(2 * pixel.x + 1 - params.size.x) / f32(params.size.y);
  let y = f32(params.size.y - 2 * pixel.y - 1) / f32(params.size.y);
  let aside = x * params.right + y * params.up;
  let towards = params.forward + params.bend * aside;
  let direction = towards / sqrt(dot(towards, towards)) * params.per_length;
  let origin = params.eye + (1.0 - params.bend) * aside * params.per_length;
  let slope = select(direction, vec3(1e-20), (abs(direction) < vec3(1e-20)));
  let a = -origin / slope;
  let b = (vec3<f32>(params.cells) - origin) / slope;
  let near = min(a, b);
  let far = max(a, b);
  let enter = max(max(max(near.x, near.y), near.z), 0.0);
  let exit = min(min(far.x, far.y), far.z);
  let samples = clamp(floor((exit - enter) / params.sample_distance + 0.5), 0.0, 16777216.0);
  return Ray(origin + direction * enter, direction * params.sample_distance, i32(samples));
}

fn position_of(ray: Ray, sample: i32) -> vec3<f32> {
  return ray.entry + ray.delta * (f32(sample) + 0.5);
}

// Whether a sample has passed these planes of cells in the ray's direction, axis by axis.
fn passed(ray: Ray, sample: i32, planes: vec3<i32>) -> vec3<bool> {
  let cell = clamp(vec3<i32>(floor(position_of(ray, sample))), vec3(0), params.cells - 1);
  return select((cell < planes), (cell >= planes), (ray.delta >= vec3(0.0)));
}

fn holds(ray: Ray, sample: i32, planes: vec3<i32>, entering: bool) -> bool {
  let by_axis = passed(ray, sample, planes);
  return select(any(by_axis), all(by_axis), entering);
}

// The first sample that has passed all planes (entering) or any of them (leaving); the guess only saves time.
fn first_past(ray: Ray, planes: vec3<i32>, entering: bool) -> i32 {
  let slope = select(ray.delta, vec3(1e-20), (abs(ray.delta) < vec3(1e-20)));
  let crossing = (vec3<f32>(planes) - ray.entry) / slope - 0.5;
  let furthest = max(max(crossing.x, crossing.y), crossing.z);
  let nearest = min(min(crossing.x, crossing.y), crossing.z);
  let guess = i32(clamp(ceil(select(nearest, furthest, entering)), 0.0, f32(ray.samples)));
  var before = guess - 1;
  var after = min(guess + 1, ray.samples);
  if before >= 0 && holds(ray, before, planes, entering) {
    after = before;
    before = -1;
  } else if after < ray.samples && !holds(ray, after, planes, entering) {
    before = after;
    after = ray.samples;
  }
  while after - before > 1 {
    let middle = before + (after - before) / 2;
    if holds(ray, middle, planes, entering) { after = middle; } else { before = middle; }
  }
  return after;
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
    let stop = min((sample / BLOCK + 1) * BLOCK, end);
    var block = vec4(0.0);
    while sample < stop {
      let p = position_of(ray, sample);
      let cell = clamp(vec3<i32>(floor(p)), params.low, params.high - 1);
      let share = clamp(p - vec3<f32>(cell), vec3(0.0), vec3(1.0));
      let colour = colour_of(value_at(cell - params.origin, share));
      block += (1.0 - block.a) * vec4(colour.rgb * colour.a, colour.a);
      sample += 1;
    }
    seen += (1.0 - seen.a) * block;
  }
  image_store(pixel, seen);
}
