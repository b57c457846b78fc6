// One explicit step of the Gray-Scott reaction-diffusion equations.

@group(0) @binding(0) var<storage, read> u: array<f32>;
@group(0) @binding(1) var<storage, read> v: array<f32>;
@group(0) @binding(2) var<storage, read_write> next_u: array<f32>;
@group(0) @binding(3) var<storage, read_write> next_v: array<f32>;

struct Params {
    feed: f32,
    kill: f32,
}
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = next_u_position(id);
    if !next_u_inside(p) {
        return;
    }
    let x = vec2<i32>(1, 0);
    let y = vec2<i32>(0, 1);
    let a = u_load(p);
    let b = v_load(p);
    let around_a = u_load(p - x) + u_load(p + x) + u_load(p - y) + u_load(p + y);
    let around_b = v_load(p - x) + v_load(p + x) + v_load(p - y) + v_load(p + y);
    let reaction = a * b * b;
    next_u_store(p, a + 0.2 * (around_a - 4.0 * a) - reaction + params.feed * (1.0 - a));
    next_v_store(p, b + 0.1 * (around_b - 4.0 * b) + reaction - (params.feed + params.kill) * b);
}
