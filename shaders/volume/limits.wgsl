// The samples of a ray that may be seen, first and one past the last: all of them.

fn limits_of(ray: Ray, pixel: vec2<i32>) -> vec2<i32> {
  return vec2(0, ray.samples);
}
