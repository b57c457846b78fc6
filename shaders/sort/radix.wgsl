// One pass of a radix sort: by a digit of 4 bits. Each workgroup has a block of 2,048 keys, each invocation 16 of them one
// after the other, so that the order of equal digits is kept. The twin is src/algorithms/sort/host.rs.
//
// What stands before this text declares WORDS of a key, TOP, the word that counts most, `ordered`, which turns that one into
// a number that is compared unsigned, VALUE_WORDS, and the arrays of values where there are any.

@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read_write> sorted: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;
@group(0) @binding(3) var<uniform> digit: vec2<i32>; // word and shift

const LANES = 128;
const EACH = 16;
const DIGITS = 16;

// How often each lane has each digit, by digit and then by lane; then how many keys with that digit come before in the block.
var<workgroup> table: array<u32, LANES * DIGITS>;
var<workgroup> parts: array<u32, LANES>;

fn cells() -> i32 {
    return keys_extent() / WORDS;
}

// The first key of a lane; behind all where the workgroup only fills up a dispatch.
fn begin_of(block: i32, lane: i32) -> i32 {
    return select((block * LANES + lane) * EACH, cells(), block < 0);
}

fn digit_of(p: i32) -> i32 {
    let word = keys_load(p * WORDS + digit.x);
    return i32((select(word, ordered(word), digit.x == TOP) >> u32(digit.y)) & 15u);
}

fn end_of(begin: i32) -> i32 {
    return select(begin + EACH, cells(), cells() - begin < EACH);
}

// Fills the table; returns how many keys of the block have the digit `lane / 8`, where `lane % 8` is 7.
fn fill(begin: i32, lane: i32) -> u32 {
    for (var i = 0; i < DIGITS; i++) {
        table[i * LANES + lane] = 0u;
    }
    for (var p = begin; p < end_of(begin); p++) {
        table[digit_of(p) * LANES + lane] += 1u;
    }
    workgroupBarrier();
    var sum = 0u;
    for (var i = 0; i < EACH; i++) {
        sum += table[lane * EACH + i];
    }
    parts[lane] = sum;
    workgroupBarrier();
    var all = 0u;
    for (var i = lane & -8; i < lane; i++) {
        all += parts[i];
    }
    for (var i = 0; i < EACH; i++) {
        let one = table[lane * EACH + i];
        table[lane * EACH + i] = all;
        all += one;
    }
    workgroupBarrier();
    return all;
}

@compute @workgroup_size(128)
fn count(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let block = domain_workgroup(group);
    let lane = i32(index);
    let all = fill(begin_of(block, lane), lane);
    if (lane & 7) == 7 && block >= 0 {
        counts_store((lane >> 3u) * (counts_extent() / DIGITS) + block, all);
    }
}

@compute @workgroup_size(128)
fn place(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let block = domain_workgroup(group);
    let lane = i32(index);
    let begin = begin_of(block, lane);
    _ = fill(begin, lane);
    for (var p = begin; p < end_of(begin); p++) {
        let value = digit_of(p);
        let before = table[value * LANES + lane];
        table[value * LANES + lane] = before + 1u;
        let to = i32(counts_load(value * (counts_extent() / DIGITS) + block) + before);
        for (var word = 0; word < WORDS; word++) {
            sorted_store(to * WORDS + word, keys_load(p * WORDS + word));
        }
        for (var word = 0; word < VALUE_WORDS; word++) {
            put_value(p * VALUE_WORDS + word, to * VALUE_WORDS + word);
        }
    }
}
