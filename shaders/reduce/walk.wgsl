// Walks the cells of boxes for a reduction; follows jobs.wgsl. A slot is up to four cells along one axis. Word 3 of the
// table is the number of workgroups at work (src/device/kernels/fold.rs): each of them takes every so many groups of slots, and
// writes WORDS words of `partials`.
//
// What is done with a cell stands in another text that is put behind this one: `identity(word)`, `take(first, second)`
// for the places of a cell in both inputs, and `hand_in()`, which adds what an invocation has found to `shared_words`.

@group(0) @binding(0) var<storage, read> first: array<u32>;
@group(0) @binding(1) var<storage, read> second: array<u32>;
@group(0) @binding(3) var<storage, read_write> partials: array<u32>;

var<workgroup> shared_words: array<atomic<u32>, WORDS>;

// The cells of one group of slots that are this lane's.
fn walk(group: u32, lane: u32) {
    let job = zippy_job(group, lane);
    for (var number = job.begin; number < job.end; number += zippy_LANES) {
        let slot = zippy_slot(job, number);
        let cell = slot.along * 4u;
        var ends = slot.ends + cell * job.steps;
        for (var i = min(4u, job.cells - cell); i > 0u; i--) {
            take(ends.x, ends.y);
            ends += job.steps;
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
    let at_work = zippy_table[3];
    for (var word = lane; word < WORDS; word += zippy_LANES) {
        atomicStore(&shared_words[word], identity(word));
    }
    workgroupBarrier();
    if workgroup < at_work {
        for (var group = workgroup; group < zippy_table[1]; group += at_work) {
            walk(group, lane);
        }
        hand_in();
    }
    workgroupBarrier();
    if workgroup < at_work {
        for (var word = lane; word < WORDS; word += zippy_LANES) {
            partials[workgroup * WORDS + word] = atomicLoad(&shared_words[word]);
        }
    }
}
