// Scatter of one radix sort pass: moves keys to their destinations. The text before this file is
// radix.wgsl. CPU version: src/host_pairs/mod.rs.
//
// A block is several tiles of TILE keys. A workgroup runs the tiles of its block in order. A group
// of 32 invocations has a quarter of the tile, 32 keys per round. In a round, the keys of a group
// with equal digits share a word of `marks`, so that equal keys stay in their order. Then `marks`
// has the tile index of the key at each index of the sorted tile, so that keys with equal digits
// are written to consecutive addresses. No workgroup waits for another.

const GROUPS = 4;
const ROUNDS = 16;

// By group and digit: number of keys in earlier rounds; then index of the first key in the sorted
// tile.
var<workgroup> before: array<u32, GROUPS * VALUES>;
// By digit: number of keys of the tile; then offset from the index in the sorted tile to the index
// among all keys.
var<workgroup> base: array<u32, VALUES>;
var<workgroup> parts: array<u32, LANES / 16>;

fn count_before(block: i32, value: i32) -> u32 {
    return counts_load(value * (counts_extent() / VALUES) + block);
}

// Converts numbers of keys to indices in the sorted tile. Each lane has two digits; `next` is the
// destination of their next keys. Returns `next` after this tile.
fn find_places(lane: i32, next: vec2<u32>) -> vec2<u32> {
    var all = vec2<u32>();
    for (var i = lane * 2; i < GROUPS * VALUES; i += VALUES) {
        all += vec2<u32>(before[i], before[i + 1]);
    }
    base[lane] = all.x + all.y;
    workgroupBarrier();
    var start = 0u;
    for (var i = lane & -16; i < lane; i++) {
        start += base[i];
    }
    if (lane & 15) == 15 {
        parts[lane >> 4u] = start + base[lane];
    }
    workgroupBarrier();
    for (var i = 0; i < (lane >> 4u); i++) {
        start += parts[i];
    }
    var starts = vec2<u32>(start, start + all.x);
    base[lane * 2] = next.x - starts.x;
    base[lane * 2 + 1] = next.y - starts.y;
    for (var i = lane * 2; i < GROUPS * VALUES; i += VALUES) {
        let here = vec2<u32>(before[i], before[i + 1]);
        before[i] = starts.x;
        before[i + 1] = starts.y;
        starts += here;
    }
    workgroupBarrier();
    return next + all;
}

// Moves the key at `p`, and its value, to the destination of index `i` of the sorted tile.
fn put(p: i32, i: i32) {
    let key = keys_load(p * WORDS + digit.x);
    let to = i32(base[value_of(key)]) + i;
    sorted_store(to * WORDS + digit.x, key);
    if WORDS == 2 {
        sorted_store(to * WORDS + 1 - digit.x, keys_load(p * WORDS + 1 - digit.x));
    }
    for (var word = 0; word < VALUE_WORDS; word++) {
        put_value(p * VALUE_WORDS + word, to * VALUE_WORDS + word);
    }
}

@compute @workgroup_size(LANES)
fn place(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let block = domain_workgroup(group);
    let lane = i32(index);
    let key_group = lane >> 5u;
    let bit = 1u << (index & 31u);
    var next = vec2<u32>(count_before(block, lane * 2), count_before(block, lane * 2 + 1));
    let first = begin_of(block);
    let last = end_of(first, digit.z);
    for (var begin = first; begin < last; begin += TILE) {
        let keys_in_tile = end_of(begin, 1) - begin;
        let first_key = key_group * (TILE / GROUPS) + (lane & 31);
        var found: array<i32, ROUNDS>;
        for (var round = 0; round < ROUNDS; round++) {
            let i = first_key + round * 32;
            let mark = key_group * VALUES + value_of(keys_load((begin + i) * WORDS + digit.x));
            let mine = select(0u, bit, i < keys_in_tile);
            atomicOr(&marks[mark], mine);
            workgroupBarrier();
            let equal = atomicLoad(&marks[mark]);
            let lower = countOneBits(equal & (bit - 1u));
            let earlier = before[mark];
            found[round] = (i32(earlier + lower) << 10u) | mark;
            workgroupBarrier();
            if lower == 0u && mine != 0u {
                before[mark] = earlier + countOneBits(equal);
                atomicStore(&marks[mark], 0u);
            }
            workgroupBarrier();
        }
        next = find_places(lane, next);
        for (var round = 0; round < ROUNDS; round++) {
            let i = first_key + round * 32;
            if i < keys_in_tile {
                atomicStore(&marks[i32(before[found[round] & 1023]) + (found[round] >> 10u)], u32(i));
            }
        }
        workgroupBarrier();
        for (var i = lane; i < keys_in_tile; i += LANES) {
            put(begin + i32(atomicLoad(&marks[i])), i);
        }
        workgroupBarrier();
        for (var i = lane; i < GROUPS * VALUES; i += LANES) {
            atomicStore(&marks[i], 0u);
            before[i] = 0u;
        }
        workgroupBarrier();
    }
}
