// Combines boxes of cells into others: dst = combine(src, dst). Appended to the operator's text, the element type `T`,
// the bindings `zippy_src` and `zippy_dst` and `zippy_combine_cell(s, d)`, all generated (src/device/combine_source.rs).
// A slot is one cell; for jobs and table see move_words.wgsl. Destinations of one dispatch do not overlap.
const zippy_HEADER = 4u;
const zippy_STRIDE = 40u;
const zippy_AXES = 10u;
const zippy_STEPS = 4u;

@group(0) @binding(2) var<storage, read> zippy_table: array<u32>;

fn zippy_find_job(group: u32) -> u32 {
    var low = 0u;
    var high = zippy_table[0];
    while high - low > 1u {
        let middle = (low + high) >> 1u;
        if zippy_table[zippy_HEADER + middle * zippy_STRIDE] <= group {
            low = middle;
        } else {
            high = middle;
        }
    }
    return zippy_HEADER + low * zippy_STRIDE;
}

fn zippy_divide(x: u32, n: u32, reciprocal: f32) -> u32 {
    let guess = u32(f32(x) * reciprocal);
    let rest = i32(x) - i32(guess * n);
    return guess + select(0u, 1u, rest >= i32(n)) - select(0u, 1u, rest < 0);
}

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
    let job = zippy_find_job(group);
    let begin = (group - zippy_table[job]) * zippy_STEPS * 64u + lane;
    let end = min(begin + zippy_STEPS * 64u, zippy_table[job + 9u]);
    let axes = zippy_table[job + 3u];
    let cells = zippy_table[job + 4u];
    let reciprocal = bitcast<f32>(zippy_table[job + 8u]);
    for (var slot = begin; slot < end; slot += 64u) {
        var rest = zippy_divide(slot, cells, reciprocal);
        let cell = slot - rest * cells;
        var s = zippy_table[job + 1u] + cell * zippy_table[job + 5u];
        var d = zippy_table[job + 2u] + cell * zippy_table[job + 6u];
        for (var axis = 1u; axis < axes; axis++) {
            let at = job + zippy_AXES + (axis - 1u) * 4u;
            let n = zippy_table[at];
            let next = zippy_divide(rest, n, bitcast<f32>(zippy_table[at + 1u]));
            let position = rest - next * n;
            s += position * zippy_table[at + 2u];
            d += position * zippy_table[at + 3u];
            rest = next;
        }
        zippy_combine_cell(s, d);
    }
}
