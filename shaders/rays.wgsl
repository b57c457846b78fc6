// The rays of a picture and the lattice of samples on them, of a whole volume and never of a chunk; the first part of
// shaders/raycast.wgsl, which declares params. Its twin in Rust is src/algorithms/volume/view.rs.

struct Ray {
  entry: vec3<f32>,
  delta: vec3<f32>,
  slope: vec3<f32>,        // delta without zeros
  samples: i32,
}

// Without zeros: what runs along the faces of an axis crosses them far away, on the right side of everything.
fn along(direction: vec3<f32>) -> vec3<f32> {
  return select(direction, vec3(1e-20), (abs(direction) < vec3(1e-20)));
}

fn ray_of(pixel: vec2<i32>) -> Ray {
  let x = f32(2 * pixel.x + 1 - params.size.x) / f32(params.size.y);
  let y = f32(params.size.y - 2 * pixel.y - 1) / f32(params.size.y);
  let aside = x * params.right + y * params.up;
  let towards = params.forward + params.bend * aside;
  let direction = towards / sqrt(dot(towards, towards)) * params.per_length;
  let origin = params.eye + (1.0 - params.bend) * aside * params.per_length;
  let a = -origin / along(direction);
  let b = (vec3<f32>(params.cells) - origin) / along(direction);
  let near = min(a, b);
  let far = max(a, b);
  let enter = max(max(max(near.x, near.y), near.z), 0.0);
  let exit = min(min(far.x, far.y), far.z);
  let samples = clamp(floor((exit - enter) / params.sample_distance + 0.5), 0.0, 16777216.0);
  let delta = direction * params.sample_distance;
  return Ray(origin + direction * enter, delta, along(delta), i32(samples));
}

fn position_of(ray: Ray, sample: i32) -> vec3<f32> {
  return ray.entry + ray.delta * (f32(sample) + 0.5);
}

// Whether a sample's cell has passed all planes (entering) or any of them (leaving), in the ray's direction axis by axis.
fn holds(ray: Ray, sample: i32, planes: vec3<i32>, entering: bool) -> bool {
  let cell = clamp(vec3<i32>(floor(position_of(ray, sample))), vec3(0), params.cells - 1);
  let passed = select((cell < planes), (cell >= planes), (ray.delta >= vec3(0.0)));
  return select(any(passed), all(passed), entering);
}

// The first sample that has passed all planes (entering) or any of them (leaving); the guess only saves time.
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
