// Moves particles through a periodic square and computes the rank that owns the row of each.

// Positions in x and y, velocities in z and w.
@group(0) @binding(0) var<storage, read_write> particles: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> to: array<u32>;

struct Params {
    side: f32,
    rows_of_a_rank: f32,
    last_rank: f32,
}
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = particles_position(id);
    if !particles_inside(p) {
        return;
    }
    let particle = particles_load(p);
    var at = particle.xy + 0.5 * particle.zw;
    at -= floor(at / params.side) * params.side;
    particles_store(p, vec4<f32>(at, particle.zw));
    to_store(p, u32(min(floor(at.y / params.rows_of_a_rank), params.last_rank)));
}
