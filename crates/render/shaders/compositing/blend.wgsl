// Blends a line of runs onto pixels. `line` holds first pixel, table word, start of the stream.

struct Params {
  way: u32,      // rule: ALONE (replace), IN_FRONT or BEHIND
  opaque: f32,   // for BEHIND: opacity from which pixels become opaque
}

@group(0) @binding(2) var<storage, read> stream: array<u32>;
@group(0) @binding(3) var<storage, read_write> onto: array<Pixel>;
@group(0) @binding(4) var<uniform> params: Params;

fn load_pixel(at: i32) -> Pixel {
  var words = vec4(stream_load(at), 0u, 0u, 0u);
  if WORDS == 4 {
    words = vec4(words.x, stream_load(at + 1), stream_load(at + 2), stream_load(at + 3));
  }
  return pixel_of(words);
}

fn work(line: vec4<u32>) -> u32 {
  let start = i32(line.w + stream_load(i32(line.z)));
  let end = i32(line.w + stream_load(i32(line.z) + 1));
  var at = start;
  var pixel = vec2<i32>(line.xy);
  while at < end {
    let runs = stream_load(at);
    at += 1;
    pixel.x += i32(runs & 0xffffu);
    for (var remaining = runs >> 16u; remaining > 0u; remaining--) {
      let source = load_pixel(at);
      let destination = onto_load(pixel);
      let blended = select(behind(source, destination, params.opaque), in_front(source, destination), params.way == IN_FRONT);
      onto_store(pixel, select(blended, source, params.way == ALONE));
      at += WORDS;
      pixel.x += 1;
    }
  }
  return u32(end - start);
}
