// Combines boxes of cells into others: dst = combine(src, dst). Follows the operator's text, the element type `T`, the
// bindings `zippy_src` and `zippy_dst` and `zippy_combine_cell(s, d)`, all generated (src/device/kernels/combine_source.rs), and
// jobs.wgsl. A slot is one cell. Destinations of one dispatch do not overlap.
@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = workgroup.x + workgroup.y * workgroups.x;
    if group >= zippy_table[1] {
        return;
    }
    let job = zippy_job(group, lane);
    for (var number = job.begin; number < job.end; number += zippy_LANES) {
        let slot = zippy_slot(job, number);
        let ends = slot.ends + slot.along * job.steps;
        zippy_combine_cell(ends.x, ends.y);
    }
}
