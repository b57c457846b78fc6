// Counts the words that lines of pixels take as runs. One invocation a line of at most 256 pixels; the twin of all kernels
// here is crates/render/src/compositing/stream.rs. PIXEL is replaced by the type of the pixels.

@group(0) @binding(0) var<storage, read> pixels: array<PIXEL>;
@group(0) @binding(1) var<storage, read> lines: array<vec4<u32>>; // first pixel, length
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let line = counts_position(id);
  if !counts_inside(line) {
    return;
  }
  let job = lines_load(line);
  var words = 0u;
  var before = false;
  for (var x = 0u; x < job.z; x++) {
    let here = full(pixels_load(vec2<i32>(vec2(job.x + x, job.y))));
    words += select(0u, select(u32(WORDS) + 1u, u32(WORDS), before), here);
    before = here;
  }
  counts_store(line, words);
}
