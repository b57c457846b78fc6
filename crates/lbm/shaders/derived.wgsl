// What a picture of a flow shows: from the velocities of a cell and of those around it, by central differences.
@group(0) @binding(0) var<storage, read> cells: array<u32>;
@group(0) @binding(1) var<storage, read> velocity: array<f32>;
@group(0) @binding(2) var<storage, read_write> values: array<f32>;
@group(0) @binding(3) var<uniform> quantity: u32;

fn velocity_at(p: vec3<i32>) -> vec3<f32> {
    return vec3<f32>(velocity_load(vec4<i32>(p, 0)), velocity_load(vec4<i32>(p, 1)), velocity_load(vec4<i32>(p, 2)));
}

// The velocity next to a cell: zero in walls, that of the cell beyond open sides, and its image
// beyond free-slip sides.
fn beside(p: vec3<i32>, step: vec3<i32>) -> vec3<f32> {
    if !velocity_has(vec4<i32>(p + step, 0)) { return velocity_at(p); }
    let kind = cells_load(p + step);
    if kind == 1u && cells_load(p) >= 4u { return velocity_at(p); }
    if kind == 3u {
        let u = velocity_at(p);
        return select(u, -u, step != vec3<i32>(0, 0, 0));
    }
    return velocity_at(p + step);
}

fn slope(p: vec3<i32>, step: vec3<i32>) -> vec3<f32> {
    return 0.5 * (beside(p, step) - beside(p, -step));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = values_position(id);
    if !values_inside(p) { return; }
    let u = velocity_at(p);
    let dx = slope(p, vec3<i32>(1, 0, 0));
    let dy = slope(p, vec3<i32>(0, 1, 0));
    let dz = slope(p, vec3<i32>(0, 0, 1));
    let curl = length(vec3<f32>(dy.z - dz.y, dz.x - dx.z, dx.y - dy.x));
    let strength = -0.5 * (dx.x * dx.x + dy.y * dy.y + dz.z * dz.z) - (dx.y * dy.x + dx.z * dz.x + dy.z * dz.y);
    let value = select(select(length(u), curl, quantity == 1u), strength, quantity == 2u);
    let kind = cells_load(p);
    values_store(p, select(0.0, value, kind == 0u || kind >= 4u));
}
