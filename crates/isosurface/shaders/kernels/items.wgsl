// Data of each item: bits from src/points/inside.rs, and numbers. An item is a brick that a surface
// may cross, for one isovalue.

const EDGE_WORDS = 48u; // at which samples crossed edges begin: three directions, row by row
const BEFORE = 48u; // numbers of the brick's edges before each word
const INSIDE = 96u; // which samples are inside: five by five rows
const BEHIND = 121u; // the samples behind rows, five to a word
const ITEM_WORDS = 126u;

const NONE = 0xffffffffu;

struct Item {
    brick: i32,
    isovalue: f32,
    border: u32, // its place among the bricks whose words the host wants
    slots: i32, // first slot of its surface's bricks
}

fn item(entry: vec4<u32>) -> Item {
    return Item(i32(entry.x), bitcast<f32>(entry.y), entry.z, i32(entry.w));
}

// Case of the cell at x, from the four rows of its edges along x and the samples after these rows.
fn case_of(rows: vec4<u32>, behind: vec4<u32>, x: u32) -> u32 {
    let first = (rows >> vec4<u32>(x)) & vec4<u32>(1u);
    let second = select((rows >> vec4<u32>(min(x + 1u, 31u))) & vec4<u32>(1u), behind, x == 31u);
    let both = first | (second << vec4<u32>(1u));
    return both.x | (both.y << 2u) | (both.z << 4u) | (both.w << 6u);
}
