// Voxels of the volume. `Cell` is the type of the bound voxels, COMPONENTS the number of
// interleaved components per voxel. shaders/volume/linear.wgsl or shaders/volume/nearest.wgsl
// follows, for values between voxels.

@group(0) @binding(0) var<storage, read> volume: array<Cell>;

fn between(a: vec4<f32>, b: vec4<f32>, share: f32) -> vec4<f32> {
  return a + share * (b - a);
}

// A component of the voxel p, counted from the first bound voxel.
fn voxel(p: vec3<i32>, component: i32) -> f32 {
  return f32(volume_load(vec3(p.x * COMPONENTS + component, p.yz)));
}
