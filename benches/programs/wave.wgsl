// One leapfrog step of the wave equation, damped near the edges.

@group(0) @binding(0) var<storage, read> old: array<f32>;
@group(0) @binding(1) var<storage, read> now: array<f32>;
@group(0) @binding(2) var<storage, read_write> next: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = next_position(id);
    if !next_inside(p) {
        return;
    }
    let at = next_global(p);
    let to_edge = min(at, next_shape() - 1 - at);
    let near = f32(max(20 - min(to_edge.x, to_edge.y), 0)) / 20.0;
    let damping = 1.0 - 0.3 * near * near;
    let centre = now_load(p);
    let x = vec2<i32>(1, 0);
    let y = vec2<i32>(0, 1);
    let around = now_load(p - x) + now_load(p + x) + now_load(p - y) + now_load(p + y) - 4.0 * centre;
    next_store(p, damping * (2.0 * centre - damping * old_load(p) + 0.25 * around));
}
