// Iterates over the cells of boxes for a reduction. The text before this file is jobs.wgsl. A slot
// is up to four cells along one axis.
//
// Word 3 of the table is the number n of active workgroups (`Device::reduce_boxes`). Active
// workgroup i runs the groups of slots i, i + n, i + 2 n and so on, and writes WORDS words of
// `partials`.
//
// src/algorithms/reduce/source.rs declares WORDS. The text after this file defines the reduction:
// * `identity(word)` returns the initial value of a word.
// * `take(at, second_at)` adds a cell, by its indices in both inputs, to the invocation's state.
// * `hand_in()` adds the invocation's state to `shared_words`.

@group(0) @binding(0) var<storage, read> first: array<u32>;
@group(0) @binding(1) var<storage, read> second: array<u32>;
@group(0) @binding(3) var<storage, read_write> partials: array<u32>;

var<workgroup> shared_words: array<atomic<u32>, WORDS>;

// Runs the slots of one group that belong to this lane.
fn walk(group: u32, lane: u32) {
    let job = zippy_job(group, lane);
    for (var number = job.begin; number < job.end; number += zippy_LANES) {
        let slot = zippy_slot(job, number);
        let cell = slot.along * 4u;
        var index = slot.line + cell * job.steps;
        for (var i = min(4u, job.cells - cell); i > 0u; i--) {
            take(index.x, index.y);
            index += job.steps;
        }
    }
}

@compute @workgroup_size(zippy_LANES)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let workgroup = workgroup_id.x + workgroup_id.y * workgroups.x;
    let active_workgroups = zippy_table[3];
    for (var word = lane; word < WORDS; word += zippy_LANES) {
        atomicStore(&shared_words[word], identity(word));
    }
    workgroupBarrier();
    if workgroup < active_workgroups {
        for (var group = workgroup; group < zippy_table[1]; group += active_workgroups) {
            walk(group, lane);
        }
        hand_in();
    }
    workgroupBarrier();
    if workgroup < active_workgroups {
        for (var word = lane; word < WORDS; word += zippy_LANES) {
            partials[workgroup * WORDS + word] = atomicLoad(&shared_words[word]);
        }
    }
}
