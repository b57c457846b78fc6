// Adds to cell p of `bounds` the number of sorted keys that are smaller than needle p, or with
// UPPER not greater. Keys have WORDS words; `ordered` and TOP are as in sort/radix.wgsl.

@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read> needles: array<u32>;
@group(0) @binding(2) var<storage, read_write> bounds: array<u32>;
@group(0) @binding(3) var<uniform> fresh: u32; // 1: set the bounds instead of adding to them

fn word_of(word: u32, number: i32) -> u32 {
    return select(word, ordered(word), number == TOP);
}

// Returns true if key `at` is before needle p.
fn before(at: i32, p: i32) -> bool {
    for (var i = 0; i < WORDS; i++) {
        let word = select(WORDS - 1 - i, i, TOP == 0);
        let key = word_of(keys_load(at * WORDS + word), word);
        let needle = word_of(needles_load(p * WORDS + word), word);
        if key != needle { return key < needle; }
    }
    return UPPER;
}

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = domain_position(id);
    if !domain_inside(p) { return; }
    var low = 0;
    var high = keys_extent() / WORDS;
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle, p) { low = middle + 1; } else { high = middle; }
    }
    bounds_store(p, select(bounds_load(p), 0u, fresh == 1u) + u32(low));
}
