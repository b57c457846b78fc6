// Numbers of the vertices that the cells of a brick use. Equivalent Rust code:
// src/points/brick_points.rs.

@group(0) @binding(3) var<storage, read> words: array<u32>;
@group(0) @binding(4) var<storage, read> starts: array<vec4<u32>>;

// The brick and its seven successors.
var<workgroup> bricks: array<u32, 8>;
// Per direction and row: bits of the samples with vertices, number of the first vertex, and number
// of the vertex at the sample after the row.
var<workgroup> rows: array<u32, 3u * ROWS_AND_NEXT>;
var<workgroup> numbers: array<u32, 3u * ROWS_AND_NEXT>;
var<workgroup> numbers_after_row: array<u32, 3u * ROWS_AND_NEXT>;

fn word(number: u32, offset: u32) -> u32 {
    return words_load(i32(number * ITEM_WORDS + offset));
}

fn first_of_row(number: u32, in_words: u32) -> u32 {
    return starts_load(i32(number)).x + word(number, BEFORE + in_words);
}

fn load_near(bounds: Brick, lane: u32) {
    for (var i = lane; i < 3u * ROWS_AND_NEXT; i += LANES) {
        let at = vec2<u32>(i % HEIGHT_AND_NEXT, (i / HEIGHT_AND_NEXT) % HEIGHT_AND_NEXT);
        let height = vec2<u32>(bounds.own.yz);
        let next = select(vec2<u32>(0u), vec2<u32>(1u), at >= height);
        let in_brick = at - next * height;
        rows[i] = 0u;
        if any(at > height) { continue; }
        let in_words = (i / ROWS_AND_NEXT) * ROWS + in_brick.y * HEIGHT + in_brick.x;
        let brick_index = bricks[2u * next.x + 4u * next.y];
        if brick_index != NONE {
            rows[i] = word(brick_index, in_words);
            numbers[i] = first_of_row(brick_index, in_words);
        }
        let next_index = bricks[1u + 2u * next.x + 4u * next.y];
        if next_index != NONE { numbers_after_row[i] = first_of_row(next_index, in_words); }
    }
}

fn vertex_on(edge: u32, cell: vec3<u32>, width: u32) -> u32 {
    let axis = edge / 4u;
    let k = edge % 4u;
    let along = select(vec3<u32>(k & 1u, k >> 1u, 0u), vec3<u32>(k & 1u, 0u, k >> 1u), axis == 1u);
    let at = cell + select(along, vec3<u32>(0u, k & 1u, k >> 1u), axis == 0u);
    let row = axis * ROWS_AND_NEXT + at.z * HEIGHT_AND_NEXT + at.y;
    if at.x >= width { return numbers_after_row[row]; }
    return numbers[row] + countOneBits(rows[row] & lowest(i32(at.x)));
}
