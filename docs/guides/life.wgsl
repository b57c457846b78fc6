// One generation of Conway's game of life.

@group(0) @binding(0) var<storage, read> now: array<u32>;
@group(0) @binding(1) var<storage, read_write> next: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = next_position(id);
    if !next_inside(p) {
        return;
    }
    var around = 0u;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            around += now_load(p + vec2<i32>(x, y));
        }
    }
    let alive = now_load(p);
    around -= alive;
    next_store(p, select(0u, 1u, around == 3u || (around == 2u && alive == 1u)));
}
