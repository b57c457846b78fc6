// One explicit step of heat diffusion on a 5-point stencil.

@group(0) @binding(0) var<storage, read> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> next: array<f32>;

struct Params {
    rate: f32,
}
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = next_position(id);
    if !next_inside(p) {
        return;
    }
    let centre = now_load(p);
    let x = vec2<i32>(1, 0);
    let y = vec2<i32>(0, 1);
    let around = now_load(p - x) + now_load(p + x) + now_load(p - y) + now_load(p + y);
    next_store(p, centre + params.rate * (around - 4.0 * centre));
}
