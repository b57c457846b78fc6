// One step of diffusion between open cells. Nothing flows through walls.

@group(0) @binding(0) var<storage, read> open: array<u32>;
@group(0) @binding(1) var<storage, read> now: array<f32>;
@group(0) @binding(2) var<storage, read_write> next: array<f32>;
@group(0) @binding(3) var<uniform> rate: f32;

// Flow from q into the open cell p.
fn flow(p: vec2<i32>, q: vec2<i32>) -> f32 {
    return select(0.0, rate * (now_load(q) - now_load(p)), open_load(q) == 1u);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = next_position(id);
    if !next_inside(p) {
        return;
    }
    let x = vec2<i32>(1, 0);
    let y = vec2<i32>(0, 1);
    let change = flow(p, p - x) + flow(p, p + x) + flow(p, p - y) + flow(p, p + y);
    next_store(p, select(0.0, now_load(p) + change, open_load(p) == 1u));
}
