// Counts the numbers of each bin. All numbers are checked before. CPU version:
// src/histogram/mod.rs.

@group(0) @binding(0) var<storage, read> numbers: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(2) var<uniform> part: vec2<u32>; // first bin, number of bins

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = domain_position(id);
    if !domain_inside(p) { return; }
    let bin = numbers_load(p) - part.x;
    if bin < part.y { atomicAdd(&counts[counts_index(i32(bin))], 1u); }
}
