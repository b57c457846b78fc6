// One step of y += a x.

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> a: f32;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = y_position(id);
    if y_inside(p) {
        y_store(p, a * x_load(p) + y_load(p));
    }
}
