// Writes the item and the copy index of each copy.
//
// Cell q of `pairs` (two words) gets the item of copy q, as an index plus `first`, and the index of
// copy q among the copies of its item. `ends` has the inclusive prefix sum of the copies per item.
// CPU version: src/amplify/mod.rs.

@group(0) @binding(0) var<storage, read> ends: array<u32>;
@group(0) @binding(1) var<storage, read_write> pairs: array<u32>;
@group(0) @binding(2) var<uniform> first: u32;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let q = domain_position(id);
    if !domain_inside(q) { return; }
    // Binary search for the first item with an end greater than q.
    var low = 0;
    var high = ends_extent() - 1;
    while low < high {
        let middle = low + (high - low) / 2;
        if ends_load(middle) <= u32(q) { low = middle + 1; } else { high = middle; }
    }
    let before = select(0u, ends_load(low - 1), low > 0);
    pairs_store(2 * q, first + u32(low));
    pairs_store(2 * q + 1, u32(q) - before);
}
