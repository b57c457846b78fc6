// The 5-point operator of Poisson's equation.

@group(0) @binding(0) var<storage, read> p: array<f32>;
@group(0) @binding(1) var<storage, read_write> q: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = q_position(id);
    if !q_inside(at) {
        return;
    }
    let x = vec2<i32>(1, 0);
    let y = vec2<i32>(0, 1);
    q_store(at, 4.0 * p_load(at) - p_load(at - x) - p_load(at + x) - p_load(at - y) - p_load(at + y));
}
