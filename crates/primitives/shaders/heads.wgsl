// Sets the flag of each key that differs from the previous key. Keys have WORDS words.
//
// The host sets the flag of the first key. CPU version: `read` in src/heads.rs.

@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read_write> flags: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = flags_position(id);
    if !flags_inside(p) { return; }
    var differs = 0u;
    for (var word = 0; word < WORDS; word++) {
        differs |= u32(keys_load(p * WORDS + word)) ^ u32(keys_load((p - 1) * WORDS + word));
    }
    flags_store(p, select(0u, 1u, differs != 0u));
}
