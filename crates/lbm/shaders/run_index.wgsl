// Writes the least index of the runs with the largest key to the word after `slot` of `fastest`.
// See src/shader/fastest_kernels.rs.

@group(0) @binding(0) var<storage, read> run_fastest: array<u32>;
@group(0) @binding(1) var<storage, read_write> fastest: array<atomic<u32>>;
@group(0) @binding(2) var<uniform> slot: u32;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let run = domain_position(id);
    if !domain_inside(run) { return; }
    let key = run_fastest_load(vec4<i32>(run, 0));
    let word = fastest_index(i32(slot));
    if key > 0u && key == atomicLoad(&fastest[word]) {
        atomicMin(&fastest[word + 1u], run_fastest_load(vec4<i32>(run, 1)));
    }
}
