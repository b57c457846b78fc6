// Four cells a word; a word of border at both ends of each row.
@group(0) @binding(0) var<storage, read> now: array<u32>;
@group(0) @binding(1) var<storage, read_write> next: array<u32>;
@group(0) @binding(2) var<uniform> n: u32;

fn cell(i: u32) -> u32 {
    return (now[i >> 2u] >> (8u * (i & 3u))) & 0xffu;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= n / 4u {
        return;
    }
    let row = n + 8u;
    let start = (id.y + 1u) * row + 4u * id.x + 4u;
    var cells = 0u;
    for (var k = 0u; k < 4u; k++) {
        let i = start + k;
        let below = cell(i - row - 1u) + cell(i - row) + cell(i - row + 1u);
        let above = cell(i + row - 1u) + cell(i + row) + cell(i + row + 1u);
        let around = below + above + cell(i - 1u) + cell(i + 1u);
        cells |= u32(around == 3u || (around == 2u && cell(i) == 1u)) << (8u * k);
    }
    next[start >> 2u] = cells;
}
