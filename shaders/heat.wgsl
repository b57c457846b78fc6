// One explicit step of heat diffusion on a 7-point stencil.

@group(0) @binding(0) var<storage, read> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> next: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = next_position(id);
    if !next_inside(p) {
        return;
    }
    let centre = now_load(p);
    let x = now_load(p - vec3<i32>(1, 0, 0)) + now_load(p + vec3<i32>(1, 0, 0));
    let y = now_load(p - vec3<i32>(0, 1, 0)) + now_load(p + vec3<i32>(0, 1, 0));
    let z = now_load(p - vec3<i32>(0, 0, 1)) + now_load(p + vec3<i32>(0, 0, 1));
    next_store(p, centre + 0.1 * (x + y + z - 6.0 * centre));
}
