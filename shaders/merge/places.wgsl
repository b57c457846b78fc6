// Adds to each place the number of the cell within its run.

@group(0) @binding(0) var<storage, read_write> places: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = domain_position(id);
    if domain_inside(p) { places_store(p, places_load(p) + u32(p)); }
}
