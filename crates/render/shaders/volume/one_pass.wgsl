// Rays are cast in one pass: there is no state between passes.

fn carried(pixel: vec2<i32>) -> vec4<f32> {
  return vec4(0.0);
}

fn carry_on(pixel: vec2<i32>, accumulated: vec4<f32>) {}

fn is_last() -> bool {
  return true;
}
