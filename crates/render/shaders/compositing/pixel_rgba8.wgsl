// Pixels with four 8-bit components.

alias Pixel = u32;

const WORDS = 1;

fn words_of(pixel: Pixel) -> vec4<u32> {
  return vec4(pixel, 0u, 0u, 0u);
}

fn pixel_of(words: vec4<u32>) -> Pixel {
  return words.x;
}

fn full(pixel: Pixel) -> bool {
  return pixel != 0u;
}

fn in_front(brought: Pixel, there: Pixel) -> Pixel {
  return over_rgba8(brought, there);
}

// Termination does not apply to 8-bit pixels.
fn behind(brought: Pixel, there: Pixel, opaque: f32) -> Pixel {
  return over_rgba8(there, brought);
}
