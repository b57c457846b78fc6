// One generation of the game of life. An invocation computes the four cells of a word.

@group(0) @binding(0) var<storage, read> now: array<u32>;
@group(0) @binding(1) var<storage, read_write> next: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let word = next_position(id);
    if !next_inside_word(word) {
        return;
    }
    var cells: vec4<u32>;
    for (var i = 0; i < 4; i++) {
        let p = word + vec2<i32>(i, 0);
        let below = now_load(p + vec2(-1, -1)) + now_load(p + vec2(0, -1)) + now_load(p + vec2(1, -1));
        let above = now_load(p + vec2(-1, 1)) + now_load(p + vec2(0, 1)) + now_load(p + vec2(1, 1));
        let around = below + above + now_load(p + vec2(-1, 0)) + now_load(p + vec2(1, 0));
        cells[i] = u32(around == 3u || (around == 2u && now_load(p) == 1u));
    }
    next_store_word(word, cells);
}
