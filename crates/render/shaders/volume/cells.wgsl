// The volume's values between voxels: the part of the ray caster that reads voxels. CELL is the type of the bound voxels,
// COMPONENTS their number in a row for each place.

@group(0) @binding(0) var<storage, read> volume: array<CELL>;

fn between(a: vec4<f32>, b: vec4<f32>, share: f32) -> vec4<f32> {
  return a + share * (b - a);
}

// A component of the voxel p, counted from the first one that is bound.
fn voxel(p: vec3<i32>, component: i32) -> f32 {
  return f32(volume_load(vec3(p.x * COMPONENTS + component, p.yz)));
}

// The value between the corners of the cell p, counted likewise.
fn value_at(p: vec3<i32>, share: vec3<f32>, component: i32) -> f32 {
  let low = vec4(
    voxel(p, component), voxel(p + vec3(0, 1, 0), component),
    voxel(p + vec3(0, 0, 1), component), voxel(p + vec3(0, 1, 1), component));
  let high = vec4(
    voxel(p + vec3(1, 0, 0), component), voxel(p + vec3(1, 1, 0), component),
    voxel(p + vec3(1, 0, 1), component), voxel(p + vec3(1, 1, 1), component));
  let rows = between(low, high, share.x);
  let planes = rows.xz + share.y * (rows.yw - rows.xz);
  return planes.x + share.z * (planes.y - planes.x);
}

// The first three components between the corners of the cell p: a colour.
fn direct_at(p: vec3<i32>, share: vec3<f32>) -> vec3<f32> {
  let colour = vec3(value_at(p, share, 0), value_at(p, share, 1), value_at(p, share, 2));
  return clamp(colour * view.direct, vec3(0.0), vec3(1.0));
}
