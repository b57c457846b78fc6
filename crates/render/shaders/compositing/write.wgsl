// Writes a line of pixels as runs, at the offset that the host computed. `line` holds first pixel,
// length, first word. A run begins with one word: the number of empty pixels before it and of its
// own pixels.

@group(0) @binding(2) var<storage, read> pixels: array<Pixel>;
@group(0) @binding(3) var<storage, read_write> stream: array<u32>;

fn store_pixel(at: i32, pixel: Pixel) {
  let words = words_of(pixel);
  stream_store(at, words.x);
  if WORDS == 4 {
    stream_store(at + 1, words.y);
    stream_store(at + 2, words.z);
    stream_store(at + 3, words.w);
  }
}

fn work(line: vec4<u32>) -> u32 {
  var at = i32(line.w);
  var skip = 0u;
  var run = 0u;
  for (var x = 0u; x < line.z; x++) {
    let pixel = pixels_load(vec2<i32>(vec2(line.x + x, line.y)));
    let is_full = full(pixel);
    if is_full {
      store_pixel(at + 1 + i32(run) * WORDS, pixel);
      run += 1u;
    }
    let last = x + 1u == line.z;
    if run > 0u && (!is_full || last) {
      stream_store(at, skip | (run << 16u));
      at += 1 + i32(run) * WORDS;
      run = 0u;
      skip = 0u;
    }
    skip += select(1u, 0u, is_full);
  }
  return u32(at) - line.w;
}
