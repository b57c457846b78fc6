// Moves boxes of units (words, or vectors of four words) from `src` to `dst`. One dispatch does many boxes ("jobs"),
// whose geometry is data in `table`; see src/device/tables.rs for its layout. A job's cells are numbered in slots of up
// to four cells along one axis; a workgroup does 256 slots of one job.
//
// `src` may be the same buffer as `dst`, hence read_write; the boxes of one dispatch do not overlap.
alias Unit = u32;

const HEADER = 4u;
const STRIDE = 40u;
const AXES = 10u; // in a job: four words for each further axis
const STEPS = 4u;

@group(0) @binding(0) var<storage, read_write> src: array<Unit>;
@group(0) @binding(1) var<storage, read_write> dst: array<Unit>;
@group(0) @binding(2) var<storage, read> table: array<u32>;

// The job of a workgroup: the last that does not begin after it.
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

// An axis of a job beyond the first.
struct Axis {
    cells: u32,
    reciprocal: f32,
    step_src: u32,
    step_dst: u32,
}

fn axis_of(job: u32, axis: u32) -> Axis {
    let at = job + AXES + (axis - 1u) * 4u;
    return Axis(table[at], bitcast<f32>(table[at + 1u]), table[at + 2u], table[at + 3u]);
}

// Where the cells of a slot begin, and which of the rows further out they lie in.
struct Place {
    src: u32,
    dst: u32,
    rest: u32,
}

fn along(axis: Axis, place: Place) -> Place {
    let next = divide(place.rest, axis.cells, axis.reciprocal);
    let position = place.rest - next * axis.cells;
    return Place(place.src + position * axis.step_src, place.dst + position * axis.step_dst, next);
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
    let job = find_job(group);
    let begin = (group - table[job]) * STEPS * 64u + lane;
    let end = min(begin + STEPS * 64u, table[job + 9u]);
    let axes = table[job + 3u];
    let cells = table[job + 4u];
    let step_src = table[job + 5u];
    let step_dst = table[job + 6u];
    let slots = table[job + 7u];
    let reciprocal = bitcast<f32>(table[job + 8u]);
    let start = vec2<u32>(table[job + 1u], table[job + 2u]);
    // Most boxes have at most three axes: these are looked up once, not for every slot.
    let second = axis_of(job, 1u);
    let third = axis_of(job, 2u);
    for (var slot = begin; slot < end; slot += 64u) {
        let row = divide(slot, slots, reciprocal);
        let cell = (slot - row * slots) * 4u;
        var place = Place(start.x + cell * step_src, start.y + cell * step_dst, row);
        if axes > 1u {
            place = along(second, place);
        }
        if axes > 2u {
            place = along(third, place);
        }
        for (var axis = 3u; axis < axes; axis++) {
            place = along(axis_of(job, axis), place);
        }
        let s = place.src;
        let d = place.dst;
        let count = min(4u, cells - cell);
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
