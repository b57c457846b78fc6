// The constant N, the number of columns, precedes this text.
@group(0) @binding(0) var<storage, read> matrix: array<f32>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= N {
        return;
    }
    var sum = 0.0;
    for (var column = 0u; column < N; column++) {
        sum += matrix[id.x * N + column] * x[column];
    }
    y[id.x] = 2.0 / f32(N) * sum;
}
