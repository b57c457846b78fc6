// Moves boxes of 1- or 2-byte elements. The text before this file is jobs.wgsl.
//
// Offsets and strides count elements. A slot is one word of the destination if cells along the
// first axis are contiguous there, otherwise one cell. Two boxes can share a word: a partly filled
// word is merged atomically, by clearing and then setting the bits of the cells of this box.
@group(0) @binding(0) var<storage, read_write> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<atomic<u32>>;

@compute @workgroup_size(zippy_LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = workgroup.x + workgroup.y * workgroups.x;
    if group >= zippy_table[1] {
        return;
    }
    // A word has 4 or 2 cells.
    let per_word_log = zippy_table[2];
    let in_word = (1u << per_word_log) - 1u;
    let bits_log = 5u - per_word_log;
    let cell_mask = (1u << (1u << bits_log)) - 1u;

    let job = zippy_job(group, lane);
    let step_src = job.steps.x;
    let step_dst = job.steps.y;
    for (var number = job.begin; number < job.end; number += zippy_LANES) {
        let slot = zippy_slot(job, number);
        let s = slot.line.x;
        let d = slot.line.y;
        var first = d + slot.along * step_dst;
        var last = first + 1u;
        var source = s + slot.along * step_src;
        if step_dst == 1u {
            let word = (d >> per_word_log) + slot.along;
            first = max(d, word << per_word_log);
            last = min(d + job.cells, (word + 1u) << per_word_log);
            source = s + (first - d) * step_src;
        }
        var value = 0u;
        var mask = 0u;
        for (var cell = first; cell < last; cell++) {
            let bits = (src[source >> per_word_log] >> ((source & in_word) << bits_log)) & cell_mask;
            let shift = (cell & in_word) << bits_log;
            value |= bits << shift;
            mask |= cell_mask << shift;
            source += step_src;
        }
        let word = first >> per_word_log;
        if mask == 0xffffffffu {
            atomicStore(&dst[word], value);
        } else if mask != 0u {
            atomicAnd(&dst[word], ~mask);
            atomicOr(&dst[word], value);
        }
    }
}
