// A volume without surfaces in it; see shaders/surface/on_ray.wgsl.

const HAS_SURFACES = false;

struct Surfaces { unused: u32 }

fn surfaces_of(pixel: vec2<i32>, sample: i32) -> Surfaces {
  return Surfaces(0u);
}

fn in_front_of_opaque(surfaces: Surfaces, end: i32) -> i32 {
  return end;
}

fn with_surfaces(ray: Ray, surfaces: ptr<function, Surfaces>, before: f32, sum: vec4<f32>) -> vec4<f32> {
  return sum;
}
