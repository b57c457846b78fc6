// Blends lines of runs onto pixels. The words of each line are left in counts, whose cells are the domain.

struct Params {
  way: u32,      // what the stream brings replaces what is there (0), lies in front (1) or behind (2)
  opaque: f32,   // behind, what gets this opacity becomes opaque
}

@group(0) @binding(0) var<storage, read> stream: array<u32>;
@group(0) @binding(1) var<storage, read> lines: array<vec4<u32>>; // first pixel, its word of the table, start of the stream
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;
@group(0) @binding(3) var<storage, read_write> onto: array<PIXEL>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let line = counts_position(id);
  if !counts_inside(line) {
    return;
  }
  let job = lines_load(line);
  var at = i32(job.w + stream_load(i32(job.z)));
  let end = i32(job.w + stream_load(i32(job.z) + 1));
  counts_store(line, u32(end - at));
  var pixel = vec2<i32>(job.xy);
  while at < end {
    let runs = stream_load(at);
    at += 1;
    pixel.x += i32(runs & 0xffffu);
    for (var left = runs >> 16u; left > 0u; left--) {
      let brought = load_pixel(at);
      let there = onto_load(pixel);
      switch params.way {
        case 0u: { onto_store(pixel, brought); }
        case 1u: { onto_store(pixel, over(brought, there)); }
        default: { onto_store(pixel, under(brought, there, params.opaque)); }
      }
      at += WORDS;
      pixel.x += 1;
    }
  }
}
