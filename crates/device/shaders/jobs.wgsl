// Iteration over the cells of many boxes ("jobs") in one dispatch: common begin of all box kernels.
//
// A table has the geometry of the jobs. The cells of a job along its first axis are grouped into
// slots of one to four cells; the kernel chooses the size. A workgroup runs slots of one job.
//
// All names begin with `zippy_`, because the module can contain a user's operator.
//
// src/device/kernel_transfers/job_table.rs defines the layout of a table and declares:
// * zippy_LANES, zippy_SLOTS: invocations and slots of a workgroup.
// * zippy_HEADER, zippy_STRIDE: words of the header of a table and of a job.
// * zippy_AXES: offset of the further axes in a job, of zippy_AXIS_WORDS words each.

@group(0) @binding(2) var<storage, read> zippy_table: array<u32>;

// Axis of a job after the first axis. Vectors have a component for the source and one for the
// destination.
struct zippy_Axis {
    cells: u32,
    reciprocal: f32, // of `cells`
    steps: vec2<u32>, // index distance of adjacent cells
}

// Geometry of a job. Vectors have a component for the source and one for the destination.
struct zippy_Job {
    at: u32, // offset of the job in the table
    begin: u32, // first slot of this lane, which runs every slot with a distance of zippy_LANES
    end: u32,
    axes: u32, // number of axes
    cells: u32, // along the first axis
    steps: vec2<u32>, // index distance of adjacent cells along the first axis
    slots: u32, // along the first axis
    reciprocal: f32, // of `slots`
    starts: vec2<u32>, // index of the first cell
    // Most boxes have at most three axes: read once per job, not once per slot.
    second: zippy_Axis,
    third: zippy_Axis,
}

// A slot of a line of cells along the first axis.
struct zippy_Slot {
    along: u32, // index of the slot in the line
    line: vec2<u32>, // index of the first cell of the line, in source and destination
}

// Returns the job of a group of slots: the last job that does not begin after the group.
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
    let at = job + zippy_AXES + (axis - 1u) * zippy_AXIS_WORDS;
    let steps = vec2<u32>(zippy_table[at + 2u], zippy_table[at + 3u]);
    return zippy_Axis(zippy_table[at], bitcast<f32>(zippy_table[at + 1u]), steps);
}

// Returns exactly x / n, rounded down, for x < 2^23, with the reciprocal of n. Integer division is
// slow on software adapters.
fn zippy_divide(x: u32, n: u32, reciprocal: f32) -> u32 {
    let guess = u32(f32(x) * reciprocal);
    let rest = i32(x) - i32(guess * n);
    return guess + select(0u, 1u, rest >= i32(n)) - select(0u, 1u, rest < 0);
}

// Moves the indices `line` along an axis by `row` modulo the cells of the axis. Returns the indices
// and the quotient, which is the row for the next axis.
fn zippy_move_along(axis: zippy_Axis, row: u32, line: vec2<u32>) -> vec3<u32> {
    let next_row = zippy_divide(row, axis.cells, axis.reciprocal);
    return vec3<u32>(line + (row - next_row * axis.cells) * axis.steps, next_row);
}

fn zippy_slot(job: zippy_Job, slot: u32) -> zippy_Slot {
    let row = zippy_divide(slot, job.slots, job.reciprocal);
    var line = vec3<u32>(job.starts, row);
    if job.axes > 1u {
        line = zippy_move_along(job.second, line.z, line.xy);
    }
    if job.axes > 2u {
        line = zippy_move_along(job.third, line.z, line.xy);
    }
    for (var axis = 3u; axis < job.axes; axis++) {
        line = zippy_move_along(zippy_axis(job.at, axis), line.z, line.xy);
    }
    return zippy_Slot(slot - row * job.slots, line.xy);
}
