// One step of bodies that attract each other. The constant N, the number of all bodies, precedes
// this text.

// Positions, and masses in w.
@group(0) @binding(0) var<storage, read> others: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> bodies: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> velocities: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> dt: f32;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = bodies_position(id);
    if !bodies_inside(p) {
        return;
    }
    let own = bodies_load(p);
    var pull = vec3<f32>(0.0);
    for (var i = 0; i < N; i++) {
        let other = others_load(i);
        let away = other.xyz - own.xyz;
        let inverse = inverseSqrt(dot(away, away) + 0.01);
        pull += other.w * inverse * inverse * inverse * away;
    }
    let velocity = velocities_load(p).xyz + dt * pull;
    velocities_store(p, vec4<f32>(velocity, 0.0));
    bodies_store(p, vec4<f32>(own.xyz + dt * velocity, own.w));
}
