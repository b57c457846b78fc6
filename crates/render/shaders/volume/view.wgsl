// Rays of an image and their lattice of samples, for the whole volume and never for a chunk. First
// part of the ray caster. crates/render/src/volume/kernels.rs composes it and declares PLANES, the
// number of clip planes, with its limit MAX_CLIP_PLANES, and MAX_STEPS, the largest number of
// sample distances on a ray. Equivalent Rust code: crates/render/src/volume/view.rs.

struct View {
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
  jitter: f32,             // 1: the lattice of samples is shifted by a function of the pixel
  crop_low: vec3<f32>,     // visible box of the volume
  depth_unit: f32,         // of the sums of densities
  crop_high: vec3<f32>,
  colour_unit: f32,        // of the sums of colours
  light: vec4<f32>,        // ambient, diffuse, specular, shininess
  planes: array<vec4<f32>, MAX_CLIP_PLANES>,
  directions: array<vec4<f32>, 3>,  // unit vector in space of each axis of the volume
  inverse: array<vec4<f32>, 3>,     // columns of the inverse of the matrix with these columns
  size: vec2<i32>,         // of the picture
  direct: f32,             // scales a component of a direct colour to 0 to 1
}

@group(0) @binding(5) var<uniform> view: View;

struct Ray {
  entry: vec3<f32>,
  delta: vec3<f32>,
  slope: vec3<f32>,        // delta without zeros
  samples: i32,
}

// Converts a vector in space to voxels.
fn to_voxels(vector: vec3<f32>) -> vec3<f32> {
  let lengths = view.inverse[0].xyz * vector.x + view.inverse[1].xyz * vector.y + view.inverse[2].xyz * vector.z;
  return lengths * view.per_length;
}

// Converts a vector in voxels to space.
fn to_space(voxels: vec3<f32>) -> vec3<f32> {
  let along = voxels / view.per_length;
  return view.directions[0].xyz * along.x + view.directions[1].xyz * along.y + view.directions[2].xyz * along.z;
}

// Replaces zeros: a ray parallel to the faces of an axis crosses them far away, on the correct
// side.
fn along(direction: vec3<f32>) -> vec3<f32> {
  return select(direction, vec3(1e-20), (abs(direction) < vec3(1e-20)));
}

fn ray_of(pixel: vec2<i32>) -> Ray {
  let x = f32(2 * pixel.x + 1 - view.size.x) / f32(view.size.y);
  let y = f32(view.size.y - 2 * pixel.y - 1) / f32(view.size.y);
  let aside = x * view.right + y * view.up;
  let towards = view.forward + view.bend * aside;
  let direction = to_voxels(towards / sqrt(dot(towards, towards)));
  let origin = view.eye + to_voxels((1.0 - view.bend) * aside);
  let a = (view.crop_low - origin) / along(direction);
  let b = (view.crop_high - origin) / along(direction);
  let near = min(a, b);
  let far = max(a, b);
  var enter = max(max(max(near.x, near.y), near.z), 0.0);
  var exit = min(min(far.x, far.y), far.z);
  for (var plane = 0; plane < PLANES; plane++) {
    let normal = view.planes[plane].xyz;
    let towards_it = dot(normal, direction);
    let slope = select(towards_it, 1e-20, abs(towards_it) < 1e-20);
    let crossing = -(dot(normal, origin) + view.planes[plane].w) / slope;
    enter = select(enter, max(enter, crossing), slope > 0.0);
    exit = select(min(exit, crossing), exit, slope > 0.0);
  }
  let samples = clamp(floor((exit - enter) / view.sample_distance + 0.5), 0.0, MAX_STEPS);
  let delta = direction * view.sample_distance;
  let entry = origin + direction * enter + delta * (view.jitter * shift_of(vec2<u32>(pixel)));
  return Ray(entry, delta, along(delta), i32(samples));
}

// Pseudo-random number from -1/2 up to 1/2 that depends on the pixel only.
fn shift_of(pixel: vec2<u32>) -> f32 {
  var h = (pixel.x * 0x9e3779b1u) ^ (pixel.y * 0x85ebca77u);
  h = (h ^ (h >> 15u)) * 0x2c1b3c6du;
  h = (h ^ (h >> 12u)) * 0x297a2d39u;
  return f32((h ^ (h >> 15u)) >> 8u) / 16777216.0 - 0.5;
}

fn position_of(ray: Ray, sample: i32) -> vec3<f32> {
  return ray.entry + ray.delta * (f32(sample) + 0.5);
}

fn cell_of(p: vec3<f32>) -> vec3<i32> {
  return clamp(vec3<i32>(floor(p)), vec3(0), view.cells - 1);
}

// True if a sample's cell has passed all planes (entering) or any of them (leaving), in the ray's
// direction along each axis.
fn holds(ray: Ray, sample: i32, planes: vec3<i32>, entering: bool) -> bool {
  let cell = cell_of(position_of(ray, sample));
  let passed = select((cell < planes), (cell >= planes), (ray.delta >= vec3(0.0)));
  return select(any(passed), all(passed), entering);
}

// First sample that has passed all planes (entering) or any of them (leaving); the guess only saves
// time.
fn first_past(ray: Ray, planes: vec3<i32>, entering: bool) -> i32 {
  let crossing = (vec3<f32>(planes) - ray.entry) / ray.slope - 0.5;
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
