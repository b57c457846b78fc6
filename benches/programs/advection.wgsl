// One step of advection by a constant velocity, of second order with a minmod limiter.

@group(0) @binding(0) var<storage, read> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> next: array<f32>;
@group(0) @binding(2) var<uniform> velocity: vec3<f32>;

fn minmod(a: f32, b: f32) -> f32 {
    return select(0.0, select(b, a, abs(a) < abs(b)), a * b > 0.0);
}

// Flux through the face between `here` and `after`.
fn flux(before: f32, here: f32, after: f32, beyond: f32, speed: f32) -> f32 {
    let left = here + 0.5 * (1.0 - speed) * minmod(here - before, after - here);
    let right = after - 0.5 * (1.0 + speed) * minmod(after - here, beyond - after);
    return max(speed, 0.0) * left + min(speed, 0.0) * right;
}

// Flux into a cell along one axis.
fn inflow(p: vec3<i32>, step: vec3<i32>, speed: f32) -> f32 {
    let before = now_load(p - step);
    let here = now_load(p);
    let after = now_load(p + step);
    return flux(now_load(p - 2 * step), before, here, after, speed)
        - flux(before, here, after, now_load(p + 2 * step), speed);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = next_position(id);
    if !next_inside(p) {
        return;
    }
    let x = inflow(p, vec3<i32>(1, 0, 0), velocity.x);
    let y = inflow(p, vec3<i32>(0, 1, 0), velocity.y);
    let z = inflow(p, vec3<i32>(0, 0, 1), velocity.z);
    next_store(p, now_load(p) + x + y + z);
}
