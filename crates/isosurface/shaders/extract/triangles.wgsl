// Triangles, cell by cell; the twins are src/extract/triangles.rs and src/points/near.rs. A workgroup has an item of own
// samples.

@group(0) @binding(1) var<storage, read> shapes: array<u32>;
@group(0) @binding(2) var<storage, read> items: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> words: array<u32>;
@group(0) @binding(4) var<storage, read> starts: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> slots: array<u32>;
// The shapes of ambiguous cells, item by item and row by row.
@group(0) @binding(6) var<storage, read> ambiguous: array<u32>;
@group(0) @binding(7) var<storage, read_write> triangles: array<u32>;

struct Turn {
    first: i32, // item of this call
    mirrored: u32,
}

@group(0) @binding(8) var<uniform> turn: Turn;

const NEAR = 25u; // rows of a brick and those that follow

// The brick and the seven that follow.
var<workgroup> bricks: array<u32, 8>;
// At which samples vertices begin and the number of the first one, of each direction and row; and the number of the one
// that begins at the sample behind the row.
var<workgroup> rows: array<u32, 75>;
var<workgroup> numbers: array<u32, 75>;
var<workgroup> numbers_behind: array<u32, 75>;
// For each lane: ambiguous cells, triangles, interior vertices.
var<workgroup> sums: array<vec3<u32>, 64>;

fn word(number: u32, place: u32) -> u32 {
    return words_load(i32(number * ITEM_WORDS + place));
}

// The number that the first vertex of a row of a brick has.
fn first_of_row(number: u32, in_words: u32) -> u32 {
    return starts_load(i32(number)).x + word(number, BEFORE + in_words);
}

fn load_near(bounds: Brick, lane: u32) {
    for (var i = lane; i < 3u * NEAR; i += LANES) {
        let at = vec2<u32>(i % 5u, (i / 5u) % 5u);
        let height = vec2<u32>(bounds.own.yz);
        let next = select(vec2<u32>(0u), vec2<u32>(1u), at >= height);
        let in_brick = at - next * height;
        rows[i] = 0u;
        if any(at > height) { continue; }
        let in_words = (i / NEAR) * ROWS + in_brick.y * 4u + in_brick.x;
        let here = bricks[2u * next.x + 4u * next.y];
        if here != NONE {
            rows[i] = word(here, in_words);
            numbers[i] = first_of_row(here, in_words);
        }
        let behind = bricks[1u + 2u * next.x + 4u * next.y];
        if behind != NONE { numbers_behind[i] = first_of_row(behind, in_words); }
    }
}

// The number of the vertex on an edge of a cell.
fn vertex_on(edge: u32, cell: vec3<u32>, width: u32) -> u32 {
    let axis = edge / 4u;
    let k = edge % 4u;
    let along = select(vec3<u32>(k & 1u, k >> 1u, 0u), vec3<u32>(k & 1u, 0u, k >> 1u), axis == 1u);
    let at = cell + select(along, vec3<u32>(0u, k & 1u, k >> 1u), axis == 0u);
    let row = axis * NEAR + at.z * 5u + at.y;
    if at.x >= width { return numbers_behind[row]; }
    return numbers[row] + countOneBits(rows[row] & lowest(i32(at.x)));
}

fn crossed_case(number: u32, cell: vec3<u32>) -> u32 {
    let start = INSIDE + 5u * cell.z + cell.y;
    let four = vec4<u32>(word(number, start), word(number, start + 1u), word(number, start + 5u), word(number, start + 6u));
    let low = word(number, BEHIND + cell.z) >> cell.y;
    let high = word(number, BEHIND + cell.z + 1u) >> cell.y;
    return case_of(four, vec4<u32>(low & 1u, (low >> 1u) & 1u, high & 1u, (high >> 1u) & 1u), cell.x);
}

// The sum of what the lanes before this one have.
fn before(own: vec3<u32>, lane: u32) -> vec3<u32> {
    workgroupBarrier();
    sums[lane] = own;
    workgroupBarrier();
    var sum = vec3<u32>(0u);
    for (var other = 0u; other < lane; other++) { sum += sums[other]; }
    return sum;
}

@compute @workgroup_size(64)
fn cells(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let is_there = domain_inside(domain_position(id));
    let place = select(0, domain_workgroup(group), is_there);
    let of_item = item(items_load(place));
    let bounds = brick(of_item.brick);
    let number = u32(turn.first + place);
    if lane < 8u {
        let at = bounds.at + vec3<i32>(vec3<u32>(lane & 1u, (lane >> 1u) & 1u, lane >> 2u));
        bricks[lane] = NONE;
        if all(at < part.bricks) { bricks[lane] = slots_load(of_item.slots + brick_number(at)); }
    }
    workgroupBarrier();
    load_near(bounds, lane);
    workgroupBarrier();

    // Each lane has eight cells of a row.
    let row = vec3<u32>((lane % 4u) * 8u, (lane / 4u) % 4u, lane / 16u);
    let width = u32(bounds.own.x);
    let has_cells = is_there && row.y + 1u < u32(bounds.all.y) && row.z + 1u < u32(bounds.all.z) && row.y < u32(bounds.own.y)
        && row.z < u32(bounds.own.z);
    let end = select(0u, min(min(row.x + 8u, width), u32(bounds.all.x) - 1u), has_cells);
    var own = vec3<u32>(0u);
    for (var x = row.x; x < end; x++) {
        let shape = shapes_load(i32(crossed_case(number, vec3<u32>(x, row.yz))));
        own.x += select(0u, 1u, shape == NONE);
    }
    let first_ambiguous = starts_load(i32(number)).z + before(own, lane).x;
    var next = first_ambiguous;
    for (var x = row.x; x < end; x++) {
        var shape = shapes_load(i32(crossed_case(number, vec3<u32>(x, row.yz))));
        if shape == NONE {
            shape = ambiguous_load(i32(next));
            next += 1u;
        }
        own += vec3<u32>(0u, triangles_of(shape), interior_of(shape));
    }
    let earlier = before(own, lane);
    var triangle = starts_load(i32(number)).y + earlier.y;
    var interior = starts_load(i32(number)).w + earlier.z;
    next = first_ambiguous;
    for (var x = row.x; x < end; x++) {
        let cell = vec3<u32>(x, row.yz);
        var shape = shapes_load(i32(crossed_case(number, cell)));
        if shape == NONE {
            shape = ambiguous_load(i32(next));
            next += 1u;
        }
        for (var i = 0u; i < triangles_of(shape); i++) {
            let vertices = triangle_of(shape, i);
            for (var corner = 0u; corner < 3u; corner++) {
                // The other way around where the axes are left-handed.
                let taken = select(corner, (3u - corner) % 3u, turn.mirrored == 1u);
                let vertex = (vertices >> (8u * taken)) & 0xffu;
                var to = interior + vertex - 12u;
                if vertex < 12u { to = vertex_on(vertex, cell, width); }
                triangles_store(i32(3u * triangle + corner), to);
            }
            triangle += 1u;
        }
        interior += interior_of(shape);
    }
}
