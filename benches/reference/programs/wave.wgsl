@group(0) @binding(0) var<storage, read> old: array<f32>;
@group(0) @binding(1) var<storage, read> now: array<f32>;
@group(0) @binding(2) var<storage, read_write> next: array<f32>;
@group(0) @binding(3) var<uniform> n: u32;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= n {
        return;
    }
    let row = n + 2u;
    let i = (id.y + 1u) * row + id.x + 1u;
    let to_edge = min(id.xy, n - 1u - id.xy);
    let near = f32(max(20 - i32(min(to_edge.x, to_edge.y)), 0)) / 20.0;
    let damping = 1.0 - 0.3 * near * near;
    let centre = now[i];
    let around = now[i - 1u] + now[i + 1u] + now[i - row] + now[i + row] - 4.0 * centre;
    next[i] = damping * (2.0 * centre - damping * old[i] + 0.25 * around);
}
