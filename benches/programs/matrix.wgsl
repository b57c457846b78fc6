// y = scale * matrix * x, a row in each invocation. The constant N, the number of columns, precedes
// this text.

@group(0) @binding(0) var<storage, read> matrix: array<f32>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> scale: f32;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let row = y_position(id);
    if !y_inside(row) {
        return;
    }
    var sum = 0.0;
    for (var column = 0; column < N; column++) {
        sum += matrix_load(vec2<i32>(column, row)) * x_load(column);
    }
    y_store(row, scale * sum);
}
