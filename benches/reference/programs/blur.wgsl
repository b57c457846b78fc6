@group(0) @binding(0) var<storage, read> image: array<f32>;
@group(0) @binding(1) var<storage, read_write> blurred: array<f32>;
@group(0) @binding(2) var<uniform> n: u32;
// 1 along rows, n + 10 across them.
@group(0) @binding(3) var<uniform> stride: u32;

const WEIGHTS = array<f32, 11>(
    0.00878739, 0.02706706, 0.06493049, 0.12130613, 0.17649938, 0.2,
    0.17649938, 0.12130613, 0.06493049, 0.02706706, 0.00878739,
);

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= n {
        return;
    }
    let i = (id.y + 5u) * (n + 10u) + id.x + 5u;
    var sum = 0.0;
    for (var k = 0u; k < 11u; k++) {
        sum += WEIGHTS[k] * image[i + k * stride - 5u * stride];
    }
    blurred[i] = sum;
}
