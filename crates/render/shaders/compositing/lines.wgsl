// Common part of the kernels of this folder: one invocation per line of pixels. A kernel calls
// `work` on a line, which returns a number of words. shaders/colour.wgsl and the file of the pixel
// format precede it. WORDS is the number of words of a pixel. Equivalent Rust code:
// crates/render/src/compositing/stream.rs.

@group(0) @binding(0) var<storage, read> lines: array<vec4<u32>>; // first pixel, and data of the kernel
@group(0) @binding(1) var<storage, read_write> counts: array<u32>; // the words of each line; its cells are the domain

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let line = counts_position(id);
  if counts_inside(line) {
    counts_store(line, work(lines_load(line)));
  }
}
