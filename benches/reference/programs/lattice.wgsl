@group(0) @binding(0) var<storage, read> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> next: array<f32>;
@group(0) @binding(2) var<uniform> n: u32;

const VELOCITIES = array<vec2<i32>, 9>(
    vec2(0, 0), vec2(1, 0), vec2(0, 1), vec2(-1, 0), vec2(0, -1),
    vec2(1, 1), vec2(-1, 1), vec2(-1, -1), vec2(1, -1),
);
const WEIGHTS = array<f32, 9>(
    4.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0,
    1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0,
);

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= n {
        return;
    }
    let row = i32(n) + 2;
    let plane = row * row;
    let i = (i32(id.y) + 1) * row + i32(id.x) + 1;
    var arrived: array<f32, 9>;
    var density = 0.0;
    var flow = vec2<f32>(0.0);
    for (var q = 0; q < 9; q++) {
        arrived[q] = now[i - VELOCITIES[q].x - VELOCITIES[q].y * row + q * plane];
        density += arrived[q];
        flow += arrived[q] * vec2<f32>(VELOCITIES[q]);
    }
    let u = flow / density;
    for (var q = 0; q < 9; q++) {
        let along = dot(vec2<f32>(VELOCITIES[q]), u);
        let rest = WEIGHTS[q] * density * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * dot(u, u));
        next[i + q * plane] = arrived[q] + 1.2 * (rest - arrived[q]);
    }
}
