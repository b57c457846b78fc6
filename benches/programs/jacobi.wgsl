// One sweep of Jacobi's method for Poisson's equation in three dimensions, and its residual.

@group(0) @binding(0) var<storage, read> b: array<f32>;
@group(0) @binding(1) var<storage, read> now: array<f32>;
@group(0) @binding(2) var<storage, read_write> next: array<f32>;
@group(0) @binding(3) var<storage, read_write> residual: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = next_position(id);
    if !next_inside(p) {
        return;
    }
    let x = vec3<i32>(1, 0, 0);
    let y = vec3<i32>(0, 1, 0);
    let z = vec3<i32>(0, 0, 1);
    let centre = now_load(p);
    let around = now_load(p - x) + now_load(p + x) + now_load(p - y) + now_load(p + y) + now_load(p - z) + now_load(p + z);
    let r = b_load(p) + around - 6.0 * centre;
    next_store(p, centre + r / 6.0);
    residual_store(p, r);
}
