// Data of each item: bits from src/points/inside.rs, and numbers. An item is a brick that a surface
// may cross, for one isovalue. src/kernels/items.rs defines the layout of the words.

// Lanes that share the cells of a row, and cells of a lane.
const LANES_OF_ROW = LANES / ROWS;
const CELLS_OF_LANE = ROW_SAMPLES / LANES_OF_ROW;

struct Item {
    brick: i32,
    isovalue: f32,
    border: u32, // index among the border items
    slots: i32, // first slot of the surface's bricks
}

fn item(entry: vec4<u32>) -> Item {
    return Item(i32(entry.x), bitcast<f32>(entry.y), entry.z, i32(entry.w));
}

// Case of the cell at x, from the four rows of its edges along x and the samples after these rows.
fn case_of(rows: vec4<u32>, after_rows: vec4<u32>, x: u32) -> u32 {
    let first = (rows >> vec4<u32>(x)) & vec4<u32>(1u);
    let second = select((rows >> vec4<u32>(min(x + 1u, 31u))) & vec4<u32>(1u), after_rows, x == 31u);
    let both = first | (second << vec4<u32>(1u));
    return both.x | (both.y << 2u) | (both.z << 4u) | (both.w << 6u);
}
