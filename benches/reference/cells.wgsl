// Packs and unpacks rows of cells. Each workgroup moves one row of the table.

struct Row {
    // First cell in the chunk, stride in the chunk, first cell in the packed buffer, number of
    // cells.
    start: u32,
    step: u32,
    at: u32,
    cells: u32,
}

@group(0) @binding(0) var<storage, read> rows: array<Row>;
@group(0) @binding(1) var<storage, read_write> chunk: array<f32>;
@group(0) @binding(2) var<storage, read_write> packed: array<f32>;

@compute @workgroup_size(128)
fn pack(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let row = rows[group.x];
    for (var i = lane; i < row.cells; i += 128u) {
        packed[row.at + i] = chunk[row.start + i * row.step];
    }
}

@compute @workgroup_size(128)
fn unpack(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let row = rows[group.x];
    for (var i = lane; i < row.cells; i += 128u) {
        chunk[row.start + i * row.step] = packed[row.at + i];
    }
}
