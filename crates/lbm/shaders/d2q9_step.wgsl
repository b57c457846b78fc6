// One BGK step of D2Q9 with two copies of the populations, in a box with walls. The upper wall is a
// lid that moves.
@group(0) @binding(0) var<storage, read> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> speed: array<f32>;
@group(0) @binding(2) var<storage, read_write> next: array<f32>;
@group(0) @binding(3) var<uniform> omega: f32;
@group(0) @binding(4) var<uniform> lid: f32;

// Populations have the order of a block of 3 x 3 cells: 4 is at rest, 8 - q is the opposite of q.
fn velocity(q: i32) -> vec2<i32> {
    return vec2<i32>(q % 3 - 1, q / 3 - 1);
}

fn weight(c: vec2<i32>) -> f32 {
    return 4.0 / 9.0 * select(1.0, 0.25, c.x != 0) * select(1.0, 0.25, c.y != 0);
}

fn arrived(p: vec2<i32>, q: i32) -> f32 {
    let c = velocity(q);
    let source = speed_global(p) - c;
    if all(source >= vec2<i32>(0)) && all(source < speed_shape()) {
        return now_load(vec3<i32>(p - c, q));
    }
    // Half-way bounce-back, with the momentum of the lid.
    let push = select(0.0, 6.0 * weight(c) * f32(c.x) * lid, source.y >= speed_shape().y);
    return now_load(vec3<i32>(p, 8 - q)) + push;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = speed_position(id);
    if !speed_inside(p) { return; }
    var density = 0.0;
    var momentum = vec2<f32>(0.0);
    for (var q = 0; q < 9; q++) {
        let f = arrived(p, q);
        density += f;
        momentum += f * vec2<f32>(velocity(q));
    }
    let u = momentum / density;
    for (var q = 0; q < 9; q++) {
        let c = velocity(q);
        let cu = dot(vec2<f32>(c), u);
        let equilibrium = weight(c) * density * (1.0 + 3.0 * cu + 4.5 * cu * cu - 1.5 * dot(u, u));
        let f = arrived(p, q);
        next_store(vec3<i32>(p, q), f - omega * (f - equilibrium));
    }
    speed_store(p, length(u));
}
