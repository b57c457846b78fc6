// Casts the ray of each pixel of a layer through a box of cells, front to back. Last part of the
// ray caster, after rays, cells, classification and pixel format. Equivalent Rust code:
// crates/render/src/volume/march.rs.
//
// crates/render/src/volume/kernels.rs declares the binary logarithms of two numbers:
// * SUM_BITS: samples that are summed up among themselves.
// * SIDE_BITS: cells of a side of a block of space.

struct Subvolume {
  low: vec3<i32>,          // the cells of the box, global, from low
  first: i32,              // samples of earlier passes
  high: vec3<i32>,         // up to high, which is outside
  most: i32,               // samples of this pass
  origin: vec3<i32>,       // global coordinate of the first voxel that is bound
  opaque: f32,             // the opacity at which a ray ends
  blocks: vec3<i32>,       // the block of space of the first word of `occupied`
  hidden: f32,             // no sample is visible through a transparency up to this
  at: vec2<i32>,           // the pixel of the picture that the layer begins with
  last: u32,               // 1: no pass follows
}

@group(0) @binding(2) var<storage, read> occupied: array<u32>;        // see shaders/volume/visible.wgsl
@group(0) @binding(4) var<storage, read_write> prefix: array<f32>;    // the opacity of this rank's layers in front
@group(0) @binding(6) var<uniform> subvolume: Subvolume;

// Number of samples from p to the first sample that may lie outside of its block.
fn leap(ray: Ray, p: vec3<f32>, block: vec3<i32>) -> i32 {
  // Upper bound of the rounding of samples.
  let margin = 1e-3 + 1e-6 * vec3<f32>(view.cells);
  let low = vec3<f32>(block << vec3(SIDE_BITS));
  let high = low + f32(1 << SIDE_BITS);
  let plane = select(low + margin, high - margin, (ray.delta >= vec3(0.0)));
  let samples = (plane - p) / ray.slope;
  return 1 + i32(clamp(min(min(samples.x, samples.y), samples.z), 0.0, 65536.0));
}

@compute @workgroup_size(64, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let place = layer_position(id);
  if !layer_inside(place) { return; }
  let pixel = place + subvolume.at;
  let before = prefix_load(pixel);
  if is_hidden(before) {
    layer_store(place, pixel_of(vec4(0.0)));
    return;
  }
  let ray = ray_of(pixel);
  let forward = ray.delta >= vec3(0.0);
  var sample = first_past(ray, select(subvolume.high, subvolume.low, forward), true) + subvolume.first;
  var surfaces = surfaces_of(pixel, sample);
  // A later pass blends fragments behind it.
  let last_place = select(f32(sample + subvolume.most) - 0.5, 3e38, is_last());
  let most = min(first_past(ray, select(subvolume.low, subvolume.high, forward), false), sample + subvolume.most);
  let end = in_front_of_opaque(surfaces, most);
  var accumulated = carried(pixel);
  // Partial sums start at fixed samples, so that a complete sum has the same bits in every box.
  var sum = vec4(0.0);
  var stop = sample;
  var is_over = false;
  loop {
    // Samples in empty space add exactly nothing, so that skipping them changes no bit. Rays of a
    // subgroup leap together, then take a sample together.
    var p = position_of(ray, sample);
    var cell = cell_of(p);
    var block = cell >> vec3(SIDE_BITS);
    while sample < end && occupied_load(block - subvolume.blocks) == 0u {
      sample += leap(ray, p, block);
      p = position_of(ray, sample);
      cell = cell_of(p);
      block = cell >> vec3(SIDE_BITS);
    }
    if sample >= min(stop, end) {
      // Later samples then add exactly nothing, here and in compositing.
      accumulated = saturate_opacity(over(accumulated, sum), subvolume.opaque);
      if accumulated.a >= 1.0 || is_over || (sample >= end && !HAS_SURFACES) { break; }
      sum = vec4(0.0);
      stop = ((sample >> SUM_BITS) + 1) << SUM_BITS;
      is_over = HAS_SURFACES && sample >= end;
    }
    // After the last sample, the remaining fragments.
    sum = with_surfaces(ray, &surfaces, select(f32(sample) + 0.5, last_place, is_over), sum);
    if HAS_SURFACES && is_over { continue; }
    sum = over(sum, lit(ray, p, cell, sample_of(ray, sample, p, cell)));
    sample += 1;
  }
  // The last pass overwrites the values that earlier passes store in the layer.
  carry_on(pixel, accumulated);
  layer_store(place, pixel_of(accumulated));
  prefix_store(pixel, select(before, joined(before, accumulated.a), is_last()));
}
