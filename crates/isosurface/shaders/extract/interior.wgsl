// Vertices inside cells, at positions from src/extract/interior.rs; one invocation per vertex.
// Equivalent Rust code: src/extract/vertices.rs and src/points/interpolate.rs.

@group(0) @binding(2) var<storage, read> inner: array<vec4<u32>>; // a cell and a number; a position in the cell
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

struct Inner {
    cell: vec3<i32>,
    number: i32,
    in_cell: vec3<f32>,
}

fn inner_vertex(p: i32) -> Inner {
    let cell = vec4<i32>(inner_load(2 * p));
    return Inner(cell.xyz, cell.w, bitcast<vec3<f32>>(inner_load(2 * p + 1).xyz));
}

fn corner_of(number: i32) -> vec3<i32> {
    return vec3<i32>(number & 1, (number >> 1u) & 1, number >> 2u);
}

fn weight(corner: vec3<i32>, in_cell: vec3<f32>) -> f32 {
    let along = select(1.0 - in_cell, in_cell, corner == vec3<i32>(1));
    return along.x * along.y * along.z;
}

fn store(number: i32, vector: vec3<f32>) {
    for (var axis = 0; axis < 3; axis++) { output_store(3 * number + axis, vector[axis]); }
}

@compute @workgroup_size(LANES)
fn positions(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = domain_position(id);
    if !domain_inside(p) { return; }
    let vertex = inner_vertex(p);
    store(vertex.number, position(vertex.cell, vertex.in_cell));
}

@compute @workgroup_size(LANES)
fn normals(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = domain_position(id);
    if !domain_inside(p) { return; }
    let vertex = inner_vertex(p);
    var sum = vec3<f32>(0.0);
    for (var corner = 0; corner < 8; corner++) {
        sum += weight(corner_of(corner), vertex.in_cell) * gradient(vertex.cell + corner_of(corner));
    }
    store(vertex.number, normal(sum));
}

@compute @workgroup_size(LANES)
fn values(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = domain_position(id);
    if !domain_inside(p) { return; }
    let vertex = inner_vertex(p);
    var sum = 0.0;
    for (var corner = 0; corner < 8; corner++) {
        sum += weight(corner_of(corner), vertex.in_cell) * value(vertex.cell + corner_of(corner));
    }
    output_store(vertex.number, sum);
}
