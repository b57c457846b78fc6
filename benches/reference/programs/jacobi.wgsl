@group(0) @binding(0) var<storage, read> b: array<f32>;
@group(0) @binding(1) var<storage, read> now: array<f32>;
@group(0) @binding(2) var<storage, read_write> next: array<f32>;
@group(0) @binding(3) var<storage, read_write> residual: array<f32>;
@group(0) @binding(4) var<uniform> n: u32;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= n {
        return;
    }
    let row = n + 2u;
    let layer = row * row;
    let i = (id.z + 1u) * layer + (id.y + 1u) * row + id.x + 1u;
    let centre = now[i];
    let around = now[i - 1u] + now[i + 1u] + now[i - row] + now[i + row] + now[i - layer] + now[i + layer];
    let r = b[i] + around - 6.0 * centre;
    next[i] = centre + r / 6.0;
    residual[i] = r;
}
