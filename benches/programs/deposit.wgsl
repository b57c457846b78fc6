// Counts the particles in each cell.

@group(0) @binding(0) var<storage, read> particles: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> density: array<atomic<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = domain_position(id);
    if !domain_inside(p) {
        return;
    }
    let start = density_global(vec2<i32>(0, 0));
    let cell = min(vec2<i32>(particles_load(p).xy), density_shape() - 1) - start;
    atomicAdd(&density[density_index(cell)], 1u);
}
