// Pixels with four 8-bit components.

alias Pixel = u32;

fn words_of(pixel: Pixel) -> vec4<u32> {
  return vec4(pixel, 0u, 0u, 0u);
}

fn pixel_of(words: vec4<u32>) -> Pixel {
  return words.x;
}

fn full(pixel: Pixel) -> bool {
  return pixel != 0u;
}

fn in_front(source: Pixel, destination: Pixel) -> Pixel {
  return over_rgba8(source, destination);
}

// Termination does not apply to 8-bit pixels.
fn behind(source: Pixel, destination: Pixel, opaque: f32) -> Pixel {
  return over_rgba8(destination, source);
}
