// Classification of a sample by the transfer function at its value.

@group(0) @binding(1) var<storage, read> transfer: array<vec4<f32>>;

fn colour_of(value: f32) -> vec4<f32> {
  let x = clamp((value - view.first_value) * view.per_value, 0.0, view.last_entry);
  let entry = min(i32(x), i32(view.last_entry) - 1);
  return between(transfer_load(entry), transfer_load(entry + 1), x - f32(entry));
}

fn sample_of(ray: Ray, sample: i32, p: vec3<f32>, cell: vec3<i32>) -> vec4<f32> {
  let share = clamp(p - vec3<f32>(cell), vec3(0.0), vec3(1.0));
  let at = cell - subvolume.origin;
  var colour = colour_of(value_at(at, share, COMPONENTS - 1));
  if COMPONENTS == 2 { colour = vec4(colour_of(value_at(at, share, 0)).rgb, colour.a); }
  if COMPONENTS == 4 { colour = vec4(direct_at(at, share), colour.a); }
  return vec4(colour.rgb * colour.a, colour.a);
}
