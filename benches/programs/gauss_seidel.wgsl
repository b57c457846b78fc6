// Half a sweep of red-black Gauss–Seidel: the cells of one colour.

@group(0) @binding(0) var<storage, read> b: array<f32>;
@group(0) @binding(1) var<storage, read_write> u: array<f32>;
@group(0) @binding(2) var<uniform> colour: i32;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = u_position(id);
    let at = u_global(p);
    if !u_inside(p) || ((at.x + at.y) & 1) != colour {
        return;
    }
    let x = vec2<i32>(1, 0);
    let y = vec2<i32>(0, 1);
    u_store(p, 0.25 * (b_load(p) + u_load(p - x) + u_load(p + x) + u_load(p - y) + u_load(p + y)));
}
