// Boxes as data: what every kernel that goes through the cells of boxes begins with. One dispatch does many boxes
// ("jobs"), whose geometry stands in a table (its layout: src/device/kernels/tables.rs). A job's cells are numbered in slots along
// one axis; what a slot is, one to four cells, is the kernel's business. A workgroup of 64 does 256 slots of one job.
//
// All names begin with `zippy_`, as the text of a user's operator may stand in the same module.
const zippy_LANES = 64u;
const zippy_SLOTS = 256u;
const zippy_HEADER = 4u;
const zippy_STRIDE = 40u;
const zippy_AXES = 10u; // in a job: four words for each further axis

@group(0) @binding(2) var<storage, read> zippy_table: array<u32>;

// An axis of a job beyond the first.
struct zippy_Axis {
    cells: u32,
    reciprocal: f32,
    steps: vec2<u32>, // in source and destination
}

struct zippy_Job {
    at: u32, // of its words in the table
    begin: u32, // the slots of this lane: from here, every 64th
    end: u32,
    axes: u32,
    cells: u32, // along the first axis
    steps: vec2<u32>, // of a cell along the first axis, in source and destination
    slots: u32, // along the first axis
    reciprocal: f32, // of that
    starts: vec2<u32>, // in source and destination
    // Most boxes have at most three axes: these are looked up once, not for every slot.
    second: zippy_Axis,
    third: zippy_Axis,
}

// A slot's number along the first axis; where the line of cells that it belongs to begins in source and destination.
struct zippy_Slot {
    along: u32,
    ends: vec2<u32>,
}

// The job of a group of slots: the last that does not begin after it.
fn zippy_job(group: u32, lane: u32) -> zippy_Job {
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
    let at = zippy_HEADER + low * zippy_STRIDE;
    let begin = (group - zippy_table[at]) * zippy_SLOTS;
    return zippy_Job(
        at,
        begin + lane,
        min(begin + zippy_SLOTS, zippy_table[at + 9u]),
        zippy_table[at + 3u],
        zippy_table[at + 4u],
        vec2<u32>(zippy_table[at + 5u], zippy_table[at + 6u]),
        zippy_table[at + 7u],
        bitcast<f32>(zippy_table[at + 8u]),
        vec2<u32>(zippy_table[at + 1u], zippy_table[at + 2u]),
        zippy_axis(at, 1u),
        zippy_axis(at, 2u),
    );
}

fn zippy_axis(job: u32, axis: u32) -> zippy_Axis {
    let at = job + zippy_AXES + (axis - 1u) * 4u;
    let steps = vec2<u32>(zippy_table[at + 2u], zippy_table[at + 3u]);
    return zippy_Axis(zippy_table[at], bitcast<f32>(zippy_table[at + 1u]), steps);
}

// x / n for x < 2^23 by the reciprocal, made exact: integer division is slow on software adapters.
fn zippy_divide(x: u32, n: u32, reciprocal: f32) -> u32 {
    let guess = u32(f32(x) * reciprocal);
    let rest = i32(x) - i32(guess * n);
    return guess + select(0u, 1u, rest >= i32(n)) - select(0u, 1u, rest < 0);
}

// The ends moved along the axis to the place that `rest` says, and what is left of that for the axes further out.
fn zippy_along(axis: zippy_Axis, rest: u32, ends: vec2<u32>) -> vec3<u32> {
    let next = zippy_divide(rest, axis.cells, axis.reciprocal);
    return vec3<u32>(ends + (rest - next * axis.cells) * axis.steps, next);
}

fn zippy_slot(job: zippy_Job, slot: u32) -> zippy_Slot {
    let row = zippy_divide(slot, job.slots, job.reciprocal);
    var place = vec3<u32>(job.starts, row);
    if job.axes > 1u {
        place = zippy_along(job.second, place.z, place.xy);
    }
    if job.axes > 2u {
        place = zippy_along(job.third, place.z, place.xy);
    }
    for (var axis = 3u; axis < job.axes; axis++) {
        place = zippy_along(zippy_axis(job.at, axis), place.z, place.xy);
    }
    return zippy_Slot(slot - row * job.slots, place.xy);
}
