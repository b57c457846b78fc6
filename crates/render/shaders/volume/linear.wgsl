// Trilinear interpolation between voxels. Equivalent Rust code: crates/render/src/volume/cells.rs.

// Value between the corners of the cell p, counted from the first bound voxel.
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
