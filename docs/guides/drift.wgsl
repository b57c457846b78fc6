// Moves particles through a periodic box.

struct Particle {
    position: vec2<f32>,
    number: u32,
    steps: u32,
}

@group(0) @binding(0) var<storage, read_write> particles: array<Particle>;
@group(0) @binding(1) var<uniform> side: f32;

// Velocity of the flow: four vortices.
fn velocity(position: vec2<f32>) -> vec2<f32> {
    let turn = 6.2831855 * position / side;
    return vec2<f32>(sin(turn.x) * cos(turn.y), -cos(turn.x) * sin(turn.y));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = particles_position(id);
    if !particles_inside(i) {
        return;
    }
    var particle = particles_load(i);
    // The midpoint rule, with a step of 1.
    let halfway = particle.position + 0.5 * velocity(particle.position);
    let position = particle.position + velocity(halfway);
    particle.position = position - side * floor(position / side);
    particle.steps += 1u;
    particles_store(i, particle);
}
