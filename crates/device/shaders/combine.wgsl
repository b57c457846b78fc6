// Combines boxes of cells with a merge operator: dst = combine(src, dst).
//
// A slot is one cell. Destinations of one dispatch do not overlap. The text before this file
// (src/device/kernel_transfers/combine_source.rs) is the operator, the element type `T`,
// whole_cells.wgsl or packed_cells.wgsl, and jobs.wgsl.
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
    let job = zippy_job(group, lane);
    for (var number = job.begin; number < job.end; number += zippy_LANES) {
        let slot = zippy_slot(job, number);
        let cell = slot.line + slot.along * job.steps;
        zippy_combine_cell(cell.x, cell.y);
    }
}
