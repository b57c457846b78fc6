// Gradients of the values, for shading. Equivalent Rust code: crates/render/src/volume/shading.rs;
// shaders/volume/light.wgsl precedes this file.

// Weights of the four voxels around a cell for the derivative inside it: interpolated central
// differences, one-sided at the border of the volume.
fn weights_of(cell: i32, cells: i32, share: f32) -> vec4<f32> {
  let near = 0.5 * (1.0 - share);
  let far = 0.5 * share;
  let inner = vec4(-near, -far, near, far);
  let first = vec4(0.0, inner.y - 2.0 * near, inner.z + near, inner.w);
  let low = select(inner, first, cell == 0);
  let last = vec4(low.x, low.y - far, low.z + 2.0 * far, 0.0);
  return select(low, last, cell == cells - 1);
}

// Values of four consecutive voxels, interpolated along two axes.
fn mixed(four: vec4<f32>, shares: vec2<f32>) -> f32 {
  let rows = four.xz + shares.x * (four.yw - four.xz);
  return rows.x + shares.y * (rows.y - rows.x);
}

// One voxel per edge of the cell along one axis: the lower ends, p with or without the steps u and
// v.
fn edges(p: vec3<i32>, u: vec3<i32>, v: vec3<i32>) -> vec4<f32> {
  let last = COMPONENTS - 1;
  return vec4(voxel(p, last), voxel(p + u, last), voxel(p + v, last), voxel(p + u + v, last));
}

// Derivative along one axis; `at` is the cell, counted from the first bound voxel.
fn slope_of(at: vec3<i32>, axis: vec3<i32>, before: i32, after: i32, u: vec3<i32>, v: vec3<i32>, w: vec4<f32>,
            shares: vec2<f32>) -> f32 {
  var sum = w.x * mixed(edges(at - before * axis, u, v), shares);
  sum += w.y * mixed(edges(at, u, v), shares);
  sum += w.z * mixed(edges(at + axis, u, v), shares);
  return sum + w.w * mixed(edges(at + after * axis, u, v), shares);
}

fn gradient_of(cell: vec3<i32>, share: vec3<f32>) -> vec3<f32> {
  let at = cell - subvolume.origin;
  // Voxels outside of the volume have weight 0: any voxel can replace them.
  let before = select(vec3(1), vec3(0), cell == vec3(0));
  let after = select(vec3(2), vec3(1), cell == view.cells - 1);
  let x = vec3(1, 0, 0);
  let y = vec3(0, 1, 0);
  let z = vec3(0, 0, 1);
  return vec3(
    slope_of(at, x, before.x, after.x, y, z, weights_of(cell.x, view.cells.x, share.x), share.yz),
    slope_of(at, y, before.y, after.y, x, z, weights_of(cell.y, view.cells.y, share.y), share.xz),
    slope_of(at, z, before.z, after.z, x, y, weights_of(cell.z, view.cells.z, share.z), share.xy));
}

// Converts a gradient per voxel to one per length along the axes of space.
fn gradient_in_space(gradient: vec3<f32>) -> vec3<f32> {
  let along = gradient * view.per_length;
  return vec3(dot(view.inverse[0].xyz, along), dot(view.inverse[1].xyz, along), dot(view.inverse[2].xyz, along));
}

fn lit(ray: Ray, p: vec3<f32>, cell: vec3<i32>, colour: vec4<f32>) -> vec4<f32> {
  if colour.a == 0.0 { return colour; }
  let gradient = gradient_of(cell, clamp(p - vec3<f32>(cell), vec3(0.0), vec3(1.0)));
  return in_light(colour, gradient_in_space(gradient), ray, view.light);
}
