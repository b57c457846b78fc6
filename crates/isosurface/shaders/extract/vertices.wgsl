// Vertices on grid edges. Equivalent Rust code: src/extract/vertices.rs and, for further fields,
// src/points/interpolate.rs.

@group(0) @binding(6) var<storage, read_write> places: array<f32>;
// Output of `parts`.
@group(0) @binding(7) var<storage, read> along: array<f32>;

// Fraction of the edge at which a vertex lies.
fn part_of(place: i32, found: Point) -> f32 {
    return between(value(found.at), value(found.end), item(items_load(place)).isovalue);
}

fn store(number: i32, vector: vec3<f32>) {
    for (var axis = 0; axis < 3; axis++) { places_store(3 * number + axis, vector[axis]); }
}

@compute @workgroup_size(64)
fn positions(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = place_of(id, group);
    for (var step = 0u; step < STEPS && place >= 0; step++) {
        let found = point(place, step, lane);
        if found.is_there { store(found.number, position(found.at, part_of(place, found) * vec3<f32>(found.end - found.at))); }
    }
}

@compute @workgroup_size(64)
fn normals(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = place_of(id, group);
    for (var step = 0u; step < STEPS && place >= 0; step++) {
        let found = point(place, step, lane);
        if found.is_there {
            let here = gradient(found.at);
            store(found.number, normal(here + part_of(place, found) * (gradient(found.end) - here)));
        }
    }
}

@compute @workgroup_size(64)
fn parts(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = place_of(id, group);
    for (var step = 0u; step < STEPS && place >= 0; step++) {
        let found = point(place, step, lane);
        if found.is_there { places_store(found.number, part_of(place, found)); }
    }
}

// Values of another field than that of the surface.
@compute @workgroup_size(64)
fn values(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = place_of(id, group);
    for (var step = 0u; step < STEPS && place >= 0; step++) {
        let found = point(place, step, lane);
        if found.is_there {
            let here = value(found.at);
            let there = value(found.end);
            let along = along_load(found.number);
            var interpolated = here + along * (there - here);
            // Avoids overflow of the difference.
            if max(abs(here), abs(there)) > LARGE {
                let quarter = scaled(here, -2);
                interpolated = scaled(quarter + along * (scaled(there, -2) - quarter), 2);
            }
            places_store(found.number, interpolated);
        }
    }
}
