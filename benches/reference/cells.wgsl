// Cells of boxes to a packed buffer and back, PITCH being the extents of the storage. One workgroup does up to 256 cells of
// one box; a table says which.

struct Box {
    start: u32,
    width: u32,
    height: u32,
    cells: u32,
    at: u32,
}

@group(0) @binding(0) var<storage, read> boxes: array<Box>;
@group(0) @binding(1) var<storage, read> groups: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> chunk: array<f32>;
@group(0) @binding(3) var<storage, read_write> packed: array<f32>;

// The cell in the chunk, and in the packed buffer; the latter is negative past the end of the box.
fn place(group: u32, lane: u32) -> vec2<i32> {
    let job = groups[group];
    let one = boxes[job.x];
    let cell = job.y + lane;
    if cell >= one.cells {
        return vec2<i32>(0, -1);
    }
    let row = cell / one.width;
    let layer = row / one.height;
    let x = cell - row * one.width;
    let y = row - layer * one.height;
    return vec2<i32>(i32(one.start + x + PITCH_X * (y + PITCH_Y * layer)), i32(one.at + cell));
}

@compute @workgroup_size(256)
fn pack(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let p = place(group.x, lane);
    if p.y >= 0 {
        packed[p.y] = chunk[p.x];
    }
}

@compute @workgroup_size(256)
fn unpack(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let p = place(group.x, lane);
    if p.y >= 0 {
        chunk[p.x] = packed[p.y];
    }
}
