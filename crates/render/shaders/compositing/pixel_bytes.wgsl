// Pixels of four bytes. Stands after the kernels of this folder, which declare stream, and before shaders/colours.wgsl.

const WORDS = 1;

fn full(pixel: u32) -> bool {
  return pixel != 0u;
}

fn over(front: u32, back: u32) -> u32 {
  return bytes_over(front, back, 256u);
}

fn under(back: u32, front: u32, opaque: f32) -> u32 {
  return over(front, back);
}
