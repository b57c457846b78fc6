// Adds to each destination index the index of the cell in its run. The dispatch covers the cells of
// the run from `first` on.

@group(0) @binding(0) var<storage, read_write> places: array<u32>;
@group(0) @binding(1) var<uniform> first: u32;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = domain_position(id);
    if domain_inside(p) { places_store(p, places_load(p) + first + u32(p)); }
}
