// Walks the cells of boxes for a reduction. One dispatch does many boxes ("jobs"), whose geometry is data in `table`; see
// src/device/tables.rs for its layout, and src/device/fold.rs for word 3 of it, the number of workgroups at work. Each of
// them takes every so many groups of 256 slots of up to four cells, and writes WORDS words of `partials`.
//
// What is done with a cell stands in another text that is put behind this one: `identity(word)`, `take(first, second)`
// for the places of a cell in both inputs, and `hand_in()`, which adds what an invocation has found to `shared_words`.

const HEADER = 4u;
const STRIDE = 40u;
const AXES = 10u; // in a job: four words for each further axis
const STEPS = 4u;

@group(0) @binding(0) var<storage, read> first: array<u32>;
@group(0) @binding(1) var<storage, read> second: array<u32>;
@group(0) @binding(2) var<storage, read> table: array<u32>;
@group(0) @binding(3) var<storage, read_write> partials: array<u32>;

var<workgroup> shared_words: array<atomic<u32>, WORDS>;

// The job of a group: the last that does not begin after it.
fn find_job(group: u32) -> u32 {
    var low = 0u;
    var high = table[0];
    while high - low > 1u {
        let middle = (low + high) >> 1u;
        if table[HEADER + middle * STRIDE] <= group {
            low = middle;
        } else {
            high = middle;
        }
    }
    return HEADER + low * STRIDE;
}

// x / n for x < 2^23 by the reciprocal, made exact: integer division is slow on software adapters.
fn divide(x: u32, n: u32, reciprocal: f32) -> u32 {
    let guess = u32(f32(x) * reciprocal);
    let rest = i32(x) - i32(guess * n);
    return guess + select(0u, 1u, rest >= i32(n)) - select(0u, 1u, rest < 0);
}

// The cells of one group of slots that are this lane's.
fn walk(group: u32, lane: u32) {
    let job = find_job(group);
    let begin = (group - table[job]) * STEPS * 64u + lane;
    let end = min(begin + STEPS * 64u, table[job + 9u]);
    let axes = table[job + 3u];
    let cells = table[job + 4u];
    let step_first = table[job + 5u];
    let step_second = table[job + 6u];
    let slots = table[job + 7u];
    let reciprocal = bitcast<f32>(table[job + 8u]);
    for (var slot = begin; slot < end; slot += 64u) {
        var rest = divide(slot, slots, reciprocal);
        let cell = (slot - rest * slots) * 4u;
        var s = table[job + 1u] + cell * step_first;
        var d = table[job + 2u] + cell * step_second;
        for (var axis = 1u; axis < axes; axis++) {
            let at = job + AXES + (axis - 1u) * 4u;
            let n = table[at];
            let next = divide(rest, n, bitcast<f32>(table[at + 1u]));
            let position = rest - next * n;
            s += position * table[at + 2u];
            d += position * table[at + 3u];
            rest = next;
        }
        for (var i = min(4u, cells - cell); i > 0u; i--) {
            take(s, d);
            s += step_first;
            d += step_second;
        }
    }
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let workgroup = workgroup_id.x + workgroup_id.y * workgroups.x;
    let at_work = table[3];
    for (var word = lane; word < WORDS; word += 64u) {
        atomicStore(&shared_words[word], identity(word));
    }
    workgroupBarrier();
    if workgroup < at_work {
        for (var group = workgroup; group < table[1]; group += at_work) {
            walk(group, lane);
        }
        hand_in();
    }
    workgroupBarrier();
    if workgroup < at_work {
        for (var word = lane; word < WORDS; word += 64u) {
            partials[workgroup * WORDS + word] = atomicLoad(&shared_words[word]);
        }
    }
}
