// Shading of a colour. Equivalent Rust code: crates/render/src/volume/shading.rs;
// shaders/volume/decay.wgsl precedes this file.

// Shades a premultiplied colour in the light of the camera, on both sides of a surface. The
// gradient, or the normal, is per length, in any unit. `light` holds ambient, diffuse, specular,
// shininess.
fn in_light(colour: vec4<f32>, gradient: vec3<f32>, ray: Ray, light: vec4<f32>) -> vec4<f32> {
  let along_ray = to_space(ray.delta);
  let towards = along_ray / sqrt(dot(along_ray, along_ray));
  // Scales the largest component to 1, so that squares neither vanish nor overflow; clamped to
  // numbers with a normal reciprocal.
  let size = abs(gradient);
  let most = clamp(max(max(size.x, size.y), size.z), 1.1754944e-38, 8.507059e37);
  let normal = gradient * (1.0 / most);
  let square = dot(normal, normal);
  let cosine = select(0.0, abs(dot(normal, towards)) / sqrt(square), square > 0.0);
  let shown = light.x + light.y * cosine;
  let mirrored = light.z * power_of(cosine, light.w) * colour.a;
  return vec4(colour.rgb * shown + mirrored, colour.a);
}
