// Vertices on grid edges. Equivalent Rust code: src/extract/vertices.rs and, for further fields,
// src/points/interpolate.rs.

@group(0) @binding(6) var<storage, read_write> output: array<f32>;
// Output of `fractions`.
@group(0) @binding(7) var<storage, read> along: array<f32>;

// Fraction of the edge at which a vertex lies.
fn edge_fraction(index: i32, vertex: Point) -> f32 {
    return between(value(vertex.at), value(vertex.end), item(items_load(index)).isovalue);
}

fn store(number: i32, vector: vec3<f32>) {
    for (var axis = 0; axis < 3; axis++) { output_store(3 * number + axis, vector[axis]); }
}

@compute @workgroup_size(LANES)
fn positions(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = item_index(id, group);
    for (var step = 0u; step < STEPS && index >= 0; step++) {
        let vertex = point(index, step, lane);
        if vertex.is_there {
            let in_cell = edge_fraction(index, vertex) * vec3<f32>(vertex.end - vertex.at);
            store(vertex.number, position(vertex.at, in_cell));
        }
    }
}

@compute @workgroup_size(LANES)
fn normals(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = item_index(id, group);
    for (var step = 0u; step < STEPS && index >= 0; step++) {
        let vertex = point(index, step, lane);
        if vertex.is_there {
            let low = gradient(vertex.at);
            store(vertex.number, normal(low + edge_fraction(index, vertex) * (gradient(vertex.end) - low)));
        }
    }
}

@compute @workgroup_size(LANES)
fn fractions(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = item_index(id, group);
    for (var step = 0u; step < STEPS && index >= 0; step++) {
        let vertex = point(index, step, lane);
        if vertex.is_there { output_store(vertex.number, edge_fraction(index, vertex)); }
    }
}

// Values of another field than that of the surface.
@compute @workgroup_size(LANES)
fn values(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = item_index(id, group);
    for (var step = 0u; step < STEPS && index >= 0; step++) {
        let vertex = point(index, step, lane);
        if vertex.is_there {
            let low = value(vertex.at);
            let high = value(vertex.end);
            let along = along_load(vertex.number);
            var interpolated = low + along * (high - low);
            // Avoids overflow of the difference.
            if max(abs(low), abs(high)) > LARGE {
                let quarter = scaled(low, -2);
                interpolated = scaled(quarter + along * (scaled(high, -2) - quarter), 2);
            }
            output_store(vertex.number, interpolated);
        }
    }
}
