// Direct colours, stored in the voxels.

// First three components between the corners of the cell p: a colour.
fn direct_at(p: vec3<i32>, share: vec3<f32>) -> vec3<f32> {
  let colour = vec3(value_at(p, share, 0), value_at(p, share, 1), value_at(p, share, 2));
  return clamp(colour * view.direct, vec3(0.0), vec3(1.0));
}
