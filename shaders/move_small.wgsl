// Moves boxes of 1- or 2-byte elements; the sibling of move_words.wgsl, which see for jobs and table. Offsets and strides
// count elements. A slot is one word of the destination where its cells lie side by side along the first axis, one cell
// otherwise. Cells of two boxes may share a word: a word that is not filled wholly is merged atomically, by clearing and
// then setting the bits of its own cells only.
const HEADER = 4u;
const STRIDE = 40u;
const AXES = 10u;
const STEPS = 4u;

@group(0) @binding(0) var<storage, read_write> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read> table: array<u32>;

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

fn divide(x: u32, n: u32, reciprocal: f32) -> u32 {
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
    if group >= table[1] {
        return;
    }
    // Cells in a word are a power of two: 4 or 2.
    let per_word_log = table[2];
    let in_word = (1u << per_word_log) - 1u;
    let bits_log = 5u - per_word_log;
    let cell_mask = (1u << (1u << bits_log)) - 1u;

    let job = find_job(group);
    let begin = (group - table[job]) * STEPS * 64u + lane;
    let end = min(begin + STEPS * 64u, table[job + 9u]);
    let axes = table[job + 3u];
    let cells = table[job + 4u];
    let step_src = table[job + 5u];
    let step_dst = table[job + 6u];
    let slots = table[job + 7u];
    let reciprocal = bitcast<f32>(table[job + 8u]);
    for (var slot = begin; slot < end; slot += 64u) {
        var rest = divide(slot, slots, reciprocal);
        let in_row = slot - rest * slots;
        var s = table[job + 1u];
        var d = table[job + 2u];
        for (var axis = 1u; axis < axes; axis++) {
            let at = job + AXES + (axis - 1u) * 4u;
            let n = table[at];
            let next = divide(rest, n, bitcast<f32>(table[at + 1u]));
            let position = rest - next * n;
            s += position * table[at + 2u];
            d += position * table[at + 3u];
            rest = next;
        }
        var first = d + in_row * step_dst;
        var last = first + 1u;
        var place = s + in_row * step_src;
        if step_dst == 1u {
            let word = (d >> per_word_log) + in_row;
            first = max(d, word << per_word_log);
            last = min(d + cells, (word + 1u) << per_word_log);
            place = s + (first - d) * step_src;
        }
        var value = 0u;
        var mask = 0u;
        for (var cell = first; cell < last; cell++) {
            let bits = (src[place >> per_word_log] >> ((place & in_word) << bits_log)) & cell_mask;
            let shift = (cell & in_word) << bits_log;
            value |= bits << shift;
            mask |= cell_mask << shift;
            place += step_src;
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
