// Pixels with four f32 components.

alias Pixel = vec4<f32>;

fn words_of(pixel: Pixel) -> vec4<u32> {
  return bitcast<vec4<u32>>(pixel);
}

fn pixel_of(words: vec4<u32>) -> Pixel {
  return bitcast<vec4<f32>>(words);
}

fn full(pixel: Pixel) -> bool {
  return any(pixel != vec4(0.0));
}

fn in_front(source: Pixel, destination: Pixel) -> Pixel {
  return over(source, destination);
}

fn behind(source: Pixel, destination: Pixel, opaque: f32) -> Pixel {
  return saturate_opacity(over(destination, source), opaque);
}
