// Writes lines of pixels as runs, each where the host has found that it begins. Before each run stands a word with the
// number of empty pixels before it and of its own. The words of each line are left in counts, whose cells are the domain.

@group(0) @binding(0) var<storage, read> pixels: array<PIXEL>;
@group(0) @binding(1) var<storage, read> lines: array<vec4<u32>>; // first pixel, length, first word
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;
@group(0) @binding(3) var<storage, read_write> stream: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let line = counts_position(id);
  if !counts_inside(line) {
    return;
  }
  let job = lines_load(line);
  var at = i32(job.w);
  var skip = 0u;
  var run = 0u;
  for (var x = 0u; x < job.z; x++) {
    let pixel = pixels_load(vec2<i32>(vec2(job.x + x, job.y)));
    let here = full(pixel);
    if here {
      store_pixel(at + 1 + i32(run) * WORDS, pixel);
      run += 1u;
    }
    let last = x + 1u == job.z;
    if run > 0u && (!here || last) {
      stream_store(at, skip | (run << 16u));
      at += 1 + i32(run) * WORDS;
      run = 0u;
      skip = 0u;
    }
    skip += select(1u, 0u, here);
  }
  counts_store(line, u32(at) - job.w);
}
