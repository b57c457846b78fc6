// Radix sort by digits of 8 bits: finds the bits in which keys differ, and counts the keys of each
// block per digit value.
//
// A prefix sum converts the counts to destinations, and place.wgsl moves the keys. CPU version:
// src/host_pairs/mod.rs.
//
// The text before this file declares:
// * WORDS: words per key.
// * TOP: index of the most significant word.
// * `ordered`: converts the most significant word to a number with unsigned order.
// * VALUE_WORDS: words per value, 0 without values.
// * `put_value`: moves a word of a value (values.wgsl, no_values.wgsl).
// * LANES, TILE, VALUES: invocations of a workgroup, keys per tile, values of a digit.

@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read_write> sorted: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;
@group(0) @binding(3) var<uniform> digit: vec3<i32>; // word, shift, tiles per block
@group(0) @binding(6) var<storage, read_write> differing: array<atomic<u32>>;

// Number of keys of a block per digit value; place.wgsl defines another use.
var<workgroup> marks: array<atomic<u32>, TILE>;

fn cells() -> i32 {
    return keys_extent() / WORDS;
}

fn number_of(loaded: u32, word: i32) -> u32 {
    return select(loaded, ordered(loaded), word == TOP);
}

fn value_of(loaded: u32) -> i32 {
    return i32((number_of(loaded, digit.x) >> u32(digit.y)) & u32(VALUES - 1));
}

// Returns the first key of a block; the number of all keys for a workgroup without a block.
fn begin_of(block: i32) -> i32 {
    return select(block * digit.z * TILE, cells(), block < 0);
}

fn end_of(begin: i32, tiles: i32) -> i32 {
    return select(begin + tiles * TILE, cells(), cells() - begin < tiles * TILE);
}

@compute @workgroup_size(LANES)
fn differ(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let begin = begin_of(domain_workgroup(group));
    let end = end_of(begin, digit.z);
    for (var word = 0; word < WORDS; word++) {
        let first = number_of(keys_load(word), word);
        var all = 0u;
        for (var p = begin + i32(index); p < end; p += LANES) {
            all |= number_of(keys_load(p * WORDS + word), word) ^ first;
        }
        atomicOr(&marks[word], all);
    }
    workgroupBarrier();
    if i32(index) < WORDS {
        atomicOr(&differing[differing_index(i32(index))], atomicLoad(&marks[index]));
    }
}

@compute @workgroup_size(LANES)
fn count(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let block = domain_workgroup(group);
    let begin = begin_of(block);
    let end = end_of(begin, digit.z);
    for (var p = begin + i32(index); p < end; p += LANES) {
        atomicAdd(&marks[value_of(keys_load(p * WORDS + digit.x))], 1u);
    }
    workgroupBarrier();
    for (var i = i32(index); i < VALUES && block >= 0; i += LANES) {
        counts_store(i * (counts_extent() / VALUES) + block, atomicLoad(&marks[i]));
    }
}
