@group(0) @binding(0) var<storage, read> b: array<f32>;
@group(0) @binding(1) var<storage, read_write> u: array<f32>;
@group(0) @binding(2) var<uniform> n: u32;
@group(0) @binding(3) var<uniform> colour: u32;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= n || ((id.x + id.y) & 1u) != colour {
        return;
    }
    let row = n + 2u;
    let i = (id.y + 1u) * row + id.x + 1u;
    u[i] = 0.25 * (b[i] + u[i - 1u] + u[i + 1u] + u[i - row] + u[i + row]);
}
