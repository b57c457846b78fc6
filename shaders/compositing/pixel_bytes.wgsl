// Pixels of four bytes. Stands after the kernels of this folder, which declare stream.

const WORDS = 1;

fn full(pixel: u32) -> bool {
  return pixel != 0u;
}

// Products by what the front lets through are divided by 255 and rounded to the nearest, two bytes at a time.
fn over(front: u32, back: u32) -> u32 {
  let through = 255u - (front >> 24u);
  let even = (back & 0x00ff00ffu) * through + 0x00800080u;
  let odd = ((back >> 8u) & 0x00ff00ffu) * through + 0x00800080u;
  let low = ((even + ((even >> 8u) & 0x00ff00ffu)) >> 8u) & 0x00ff00ffu;
  let high = (odd + ((odd >> 8u) & 0x00ff00ffu)) & 0xff00ff00u;
  return front + (low | high);
}

fn under(back: u32, front: u32, opaque: f32) -> u32 {
  return over(front, back);
}
