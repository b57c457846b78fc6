// One step of lattice Boltzmann, D2Q9: populations arrive from the neighbours and relax.

@group(0) @binding(0) var<storage, read> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> next: array<f32>;

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
    let p = domain_position(id);
    if !domain_inside(p) {
        return;
    }
    var arrived: array<f32, 9>;
    var density = 0.0;
    var flow = vec2<f32>(0.0);
    for (var q = 0; q < 9; q++) {
        arrived[q] = now_load(vec3<i32>(p - VELOCITIES[q], q));
        density += arrived[q];
        flow += arrived[q] * vec2<f32>(VELOCITIES[q]);
    }
    let u = flow / density;
    for (var q = 0; q < 9; q++) {
        let along = dot(vec2<f32>(VELOCITIES[q]), u);
        let rest = WEIGHTS[q] * density * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * dot(u, u));
        next_store(vec3<i32>(p, q), arrived[q] + 1.2 * (rest - arrived[q]));
    }
}
