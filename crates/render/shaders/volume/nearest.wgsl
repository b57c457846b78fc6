// Value of the nearest voxel. Equivalent Rust code: crates/render/src/volume/cells.rs.

// Value of the corner of the cell p nearest to a fraction of each axis; cells count from the first
// bound voxel.
fn value_at(p: vec3<i32>, share: vec3<f32>, component: i32) -> f32 {
  return voxel(p + vec3<i32>(floor(share + 0.5)), component);
}
