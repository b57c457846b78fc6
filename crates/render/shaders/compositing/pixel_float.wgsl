// Pixels of four floats. Stands after the kernels of this folder, which declare stream.

const WORDS = 4;

fn full(pixel: vec4<f32>) -> bool {
  return any(pixel != vec4(0.0));
}

fn over(front: vec4<f32>, back: vec4<f32>) -> vec4<f32> {
  return front + (1.0 - front.w) * back;
}

fn under(back: vec4<f32>, front: vec4<f32>, opaque: f32) -> vec4<f32> {
  let sum = over(front, back);
  return vec4(sum.xyz, select(sum.w, 1.0, sum.w >= opaque));
}
