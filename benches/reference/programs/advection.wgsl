@group(0) @binding(0) var<storage, read> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> next: array<f32>;
@group(0) @binding(2) var<uniform> n: u32;
@group(0) @binding(3) var<uniform> velocity: vec4<f32>;

fn minmod(a: f32, b: f32) -> f32 {
    return select(0.0, select(b, a, abs(a) < abs(b)), a * b > 0.0);
}

fn flux(before: f32, here: f32, after: f32, beyond: f32, speed: f32) -> f32 {
    let left = here + 0.5 * (1.0 - speed) * minmod(here - before, after - here);
    let right = after - 0.5 * (1.0 + speed) * minmod(after - here, beyond - after);
    return max(speed, 0.0) * left + min(speed, 0.0) * right;
}

fn inflow(i: u32, step: u32, speed: f32) -> f32 {
    let before = now[i - step];
    let here = now[i];
    let after = now[i + step];
    return flux(now[i - 2u * step], before, here, after, speed)
        - flux(before, here, after, now[i + 2u * step], speed);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= n {
        return;
    }
    let row = n + 4u;
    let layer = row * row;
    let i = (id.z + 2u) * layer + (id.y + 2u) * row + id.x + 2u;
    next[i] = now[i] + inflow(i, 1u, velocity.x) + inflow(i, row, velocity.y) + inflow(i, layer, velocity.z);
}
