// One pass of a Gaussian blur along one axis.

@group(0) @binding(0) var<storage, read> image: array<f32>;
@group(0) @binding(1) var<storage, read_write> blurred: array<f32>;
@group(0) @binding(2) var<uniform> along: vec2<i32>;

const WEIGHTS = array<f32, 11>(
    0.00878739, 0.02706706, 0.06493049, 0.12130613, 0.17649938, 0.2,
    0.17649938, 0.12130613, 0.06493049, 0.02706706, 0.00878739,
);

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = blurred_position(id);
    if !blurred_inside(p) {
        return;
    }
    var sum = 0.0;
    for (var k = -5; k <= 5; k++) {
        sum += WEIGHTS[k + 5] * image_load(p + k * along);
    }
    blurred_store(p, sum);
}
