// The value of the nearest voxel. The twin in Rust is crates/render/src/volume/cells.rs.

// The value of the corner of the cell p that is nearest to a share of each of its axes, counted
// likewise.
fn value_at(p: vec3<i32>, share: vec3<f32>, component: i32) -> f32 {
  return voxel(p + vec3<i32>(floor(share + 0.5)), component);
}
