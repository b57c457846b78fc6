// Adds 1 to the cell of each particle whose cell belongs to this chunk.

struct Particle {
    position: vec2<f32>,
    number: u32,
    steps: u32,
}

@group(0) @binding(0) var<storage, read> particles: array<Particle>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = particles_position(id);
    if !particles_inside(i) {
        return;
    }
    // Positions of a section count from its start.
    let first = counts_global(vec2<i32>(0, 0));
    let cell = vec2<i32>(particles_load(i).position) - first;
    if counts_owned(cell) {
        atomicAdd(&counts[counts_index(cell)], 1u);
    }
}
