// Copies cell `indices[p]` of a sequence to cell p of the output, if `part` has the cell. `input`
// has the cells of `part`. Cells have WORDS words,
// of type `Stored` in the output.

@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read_write> output: array<Stored>;
@group(0) @binding(3) var<uniform> part: vec2<u32>; // first cell, number of cells

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = domain_position(id);
    if !domain_inside(p) { return; }
    let at = indices_load(p) - part.x;
    if at >= part.y { return; }
    for (var word = 0; word < WORDS; word++) {
        output_store(p * WORDS + word, input_load(i32(at) * WORDS + word));
    }
}
