// Moves boxes of units (`Unit`: words, or vectors of four words) from `src` to `dst`. The text
// before this file is jobs.wgsl. A slot is up to four cells along one axis.
//
// `src` is read_write because it can be the same buffer as `dst`. The boxes of one dispatch do not
// overlap.
@group(0) @binding(0) var<storage, read_write> src: array<Unit>;
@group(0) @binding(1) var<storage, read_write> dst: array<Unit>;

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
    let step_src = job.steps.x;
    let step_dst = job.steps.y;
    for (var number = job.begin; number < job.end; number += zippy_LANES) {
        let slot = zippy_slot(job, number);
        let cell = slot.along * 4u;
        let s = slot.line.x + cell * step_src;
        let d = slot.line.y + cell * step_dst;
        let count = min(4u, job.cells - cell);
        if count == 4u {
            let a = src[s];
            let b = src[s + step_src];
            let c = src[s + 2u * step_src];
            let e = src[s + 3u * step_src];
            dst[d] = a;
            dst[d + step_dst] = b;
            dst[d + 2u * step_dst] = c;
            dst[d + 3u * step_dst] = e;
        } else {
            for (var i = 0u; i < count; i++) {
                dst[d + i * step_dst] = src[s + i * step_src];
            }
        }
    }
}
