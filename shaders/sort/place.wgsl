// One pass of a radix sort: keys to their places. It stands behind radix.wgsl; the twin is src/algorithms/sort/host.rs.
//
// A block is some tiles of 2,048 keys. A workgroup takes one tile after the other; of each a group of 32 invocations has a
// quarter, 32 keys a round. Keys of a round that have one value find each other in a word of `marks`, by group and value, so
// that equal ones stay in their order. Then `marks` has, for each place in the sorted tile, where in the tile its key is, so
// that keys with one value are written side by side. No workgroup waits for another.

const GROUPS = 4;
const ROUNDS = 16;

// By group and value, how many keys came in earlier rounds; then the place of the first one in the sorted tile.
var<workgroup> before: array<u32, GROUPS * VALUES>;
// By value, how many keys the tile has; then what leads from a place in the sorted tile to one among all keys.
var<workgroup> base: array<u32, VALUES>;
var<workgroup> parts: array<u32, LANES / 16>;

fn count_before(block: i32, value: i32) -> u32 {
    return counts_load(value * (counts_extent() / VALUES) + block);
}

// Turns numbers of keys into places in the sorted tile; each lane has two values, whose next keys go to `next`.
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

// Puts the key at `p`, and what is beside it, where place `i` of the sorted tile goes.
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

@compute @workgroup_size(128)
fn place(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let block = domain_workgroup(group);
    let lane = i32(index);
    let own = lane >> 5u;
    let bit = 1u << (index & 31u);
    var next = vec2<u32>(count_before(block, lane * 2), count_before(block, lane * 2 + 1));
    let first = begin_of(block);
    let last = end_of(first, digit.z);
    for (var begin = first; begin < last; begin += TILE) {
        let some = end_of(begin, 1) - begin;
        let own_first = own * (TILE / GROUPS) + (lane & 31);
        var found: array<i32, ROUNDS>;
        for (var round = 0; round < ROUNDS; round++) {
            let i = own_first + round * 32;
            let mark = own * VALUES + value_of(keys_load((begin + i) * WORDS + digit.x));
            let mine = select(0u, bit, i < some);
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
            let i = own_first + round * 32;
            if i < some {
                atomicStore(&marks[i32(before[found[round] & 1023]) + (found[round] >> 10u)], u32(i));
            }
        }
        workgroupBarrier();
        for (var i = lane; i < some; i += LANES) {
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
