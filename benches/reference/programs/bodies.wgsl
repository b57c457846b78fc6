// The constant N, the number of bodies, precedes this text.
@group(0) @binding(0) var<storage, read> now: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> next: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> velocities: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= N {
        return;
    }
    let own = now[id.x];
    var pull = vec3<f32>(0.0);
    for (var i = 0u; i < N; i++) {
        let other = now[i];
        let away = other.xyz - own.xyz;
        let inverse = inverseSqrt(dot(away, away) + 0.01);
        pull += other.w * inverse * inverse * inverse * away;
    }
    let velocity = velocities[id.x].xyz + 0.001 * pull;
    velocities[id.x] = vec4<f32>(velocity, 0.0);
    next[id.x] = vec4<f32>(own.xyz + 0.001 * velocity, own.w);
}
