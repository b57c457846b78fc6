// One day of an epidemic: 0 is susceptible, 1 is ill, 2 has recovered. `around` has the states of
// the eight neighbours of each person.

@group(0) @binding(0) var<storage, read> now: array<u32>;
@group(0) @binding(1) var<storage, read> around: array<u32>;
@group(0) @binding(2) var<storage, read_write> next: array<u32>;
@group(0) @binding(3) var<uniform> day: u32;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = next_position(id);
    if !next_inside(p) {
        return;
    }
    var ill = 0u;
    for (var k = 0; k < 8; k++) {
        ill += u32(around_load(8 * p + k) == 1u);
    }
    let state = now_load(p);
    let roll = (u32(next_global(p)) * 2654435761u + day * 40503u) >> 24u;
    let caught = u32(ill * 32u > roll);
    next_store(p, select(2u, caught, state == 0u));
}
