// Counts the words of the runs of a line of at most 256 pixels. `line` holds first pixel, length.

@group(0) @binding(2) var<storage, read> pixels: array<Pixel>;

fn work(line: vec4<u32>) -> u32 {
  var words = 0u;
  var before = false;
  for (var x = 0u; x < line.z; x++) {
    let is_full = full(pixels_load(vec2<i32>(vec2(line.x + x, line.y))));
    words += select(0u, select(u32(WORDS) + 1u, u32(WORDS), before), is_full);
    before = is_full;
  }
  return words;
}
