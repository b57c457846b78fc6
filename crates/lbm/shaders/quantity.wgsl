// A scalar quantity of a flow. Derivatives of the velocity are central differences.
@group(0) @binding(0) var<storage, read> kinds: array<u32>;
@group(0) @binding(1) var<storage, read> velocity: array<f32>;
@group(0) @binding(2) var<storage, read_write> values: array<f32>;
@group(0) @binding(3) var<uniform> quantity: u32;

fn velocity_at(p: vec3<i32>) -> vec3<f32> {
    return vec3<f32>(velocity_load(vec4<i32>(p, 0)), velocity_load(vec4<i32>(p, 1)), velocity_load(vec4<i32>(p, 2)));
}

// The velocity of a neighbour: zero in walls, that of the cell beyond open sides, and the mirror
// image beyond free-slip sides.
fn neighbour_velocity(p: vec3<i32>, step: vec3<i32>) -> vec3<f32> {
    if !velocity_has(vec4<i32>(p + step, 0)) { return velocity_at(p); }
    let kind = kinds_load(p + step);
    if kind == SOLID && kinds_load(p) >= OPEN_VELOCITY { return velocity_at(p); }
    if kind == MIRROR {
        let u = velocity_at(p);
        return select(u, -u, step != vec3<i32>(0, 0, 0));
    }
    return velocity_at(p + step);
}

fn derivative(p: vec3<i32>, step: vec3<i32>) -> vec3<f32> {
    return 0.5 * (neighbour_velocity(p, step) - neighbour_velocity(p, -step));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = values_position(id);
    if !values_inside(p) { return; }
    let u = velocity_at(p);
    let dx = derivative(p, vec3<i32>(1, 0, 0));
    let dy = derivative(p, vec3<i32>(0, 1, 0));
    let dz = derivative(p, vec3<i32>(0, 0, 1));
    let curl = length(vec3<f32>(dy.z - dz.y, dz.x - dx.z, dx.y - dy.x));
    let q_criterion = -0.5 * (dx.x * dx.x + dy.y * dy.y + dz.z * dz.z) - (dx.y * dy.x + dx.z * dz.x + dy.z * dz.y);
    let value = select(select(length(u), curl, quantity == VORTICITY), q_criterion, quantity == Q_CRITERION);
    let kind = kinds_load(p);
    values_store(p, select(0.0, value, kind == FLUID || kind >= OPEN_VELOCITY));
}
