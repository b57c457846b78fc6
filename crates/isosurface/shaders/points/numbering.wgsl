// Points on crossed edges and their numbers; one workgroup per item, two rows of edges per lane.
// Equivalent Rust code: src/points/numbering.rs.

@group(0) @binding(2) var<storage, read> items: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> words: array<u32>;
// Per item, the numbers of its first vertex, triangle, ambiguous cell and interior vertex.
@group(0) @binding(4) var<storage, read> starts: array<vec4<u32>>;
@group(0) @binding(5) var<uniform> first_item: i32; // of this call

struct Point {
    is_there: bool,
    number: i32,
    at: vec3<i32>, // the sample at which its edge begins
    end: vec3<i32>,
}

fn point(index: i32, step: u32, lane: u32) -> Point {
    let word = 2u * step + lane / ROW_SAMPLES;
    let x = lane % ROW_SAMPLES;
    let begin = (first_item + index) * i32(ITEM_WORDS) + i32(word);
    let bits = words_load(begin);
    var result = Point(((bits >> x) & 1u) == 1u, 0, vec3<i32>(0), vec3<i32>(0));
    if result.is_there {
        let before = words_load(begin + i32(BEFORE)) + countOneBits(bits & lowest(i32(x)));
        result.number = i32(starts_load(first_item + index).x + before);
        let in_rows = word % ROWS;
        let start = brick(item(items_load(index)).brick).start;
        result.at = start + vec3<i32>(vec3<u32>(x, in_rows % HEIGHT, in_rows / HEIGHT));
        result.end = result.at;
        result.end[word / ROWS] += 1;
    }
    return result;
}

// Index of this workgroup's item in the call; -1 for none.
fn item_index(id: vec3<u32>, group: vec3<u32>) -> i32 {
    return select(-1, domain_workgroup(group), domain_inside(domain_position(id)));
}
