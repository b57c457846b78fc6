// Inside samples of bricks, crossed edges and cells, and their numbers; one workgroup per item.
// Equivalent Rust code: src/points/inside.rs.

@group(0) @binding(2) var<storage, read> items: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> shapes: array<u32>;
@group(0) @binding(4) var<storage, read_write> words: array<u32>;
@group(0) @binding(5) var<storage, read_write> slots: array<u32>;
// Number of ambiguous cells; three counts per item; words of borders; ambiguous cells.
@group(0) @binding(6) var<storage, read_write> found: array<atomic<u32>>;

struct Dispatch {
    first: i32, // item of this call
    counts: i32, // start of the counts in `found`
    borders: i32,
    cells: i32,
    most: u32, // capacity for ambiguous cells
}

@group(0) @binding(7) var<uniform> dispatch: Dispatch;

// Samples of a row and the next one.
const ROW_AND_NEXT = ROW_SAMPLES + 1u;

var<workgroup> edges: array<u32, EDGE_WORDS>;
// Triangles of plain cells and number of ambiguous cells: per lane, then of all lanes before it.
var<workgroup> sums: array<vec2<u32>, LANES>;
var<workgroup> base: u32;

fn cell_case(y: u32, z: u32, x: u32) -> u32 {
    return case_of(four_rows(y, z), after_four_rows(y, z), x);
}

@compute @workgroup_size(LANES)
fn inside(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let is_there = domain_inside(domain_position(id));
    let index = select(0, domain_workgroup(group), is_there);
    let of_item = item(items_load(index));
    let bounds = brick(of_item.brick);
    let number = dispatch.first + index;
    if lane < ROWS_AND_NEXT { atomicStore(&rows[lane], 0u); }
    if lane < HEIGHT_AND_NEXT { atomicStore(&after_rows[lane], 0u); }
    workgroupBarrier();
    for (var i = lane; i < ROW_AND_NEXT * ROWS_AND_NEXT; i += LANES) {
        let x = i % ROW_AND_NEXT;
        let y = (i / ROW_AND_NEXT) % HEIGHT_AND_NEXT;
        let z = i / (ROW_AND_NEXT * HEIGHT_AND_NEXT);
        let at = vec3<i32>(i32(x), i32(y), i32(z));
        if all(at < bounds.all) && is_inside(value(bounds.start + at), of_item.isovalue) {
            if x < ROW_SAMPLES { atomicOr(&rows[y + HEIGHT_AND_NEXT * z], 1u << x); } else { atomicOr(&after_rows[z], 1u << y); }
        }
    }
    workgroupBarrier();

    let first_word = number * i32(ITEM_WORDS);
    if lane < EDGE_WORDS {
        let in_rows = lane % ROWS;
        edges[lane] = crossed(bounds, lane / ROWS, in_rows % HEIGHT, in_rows / HEIGHT);
    }
    workgroupBarrier();
    var before = 0u;
    for (var word = 0u; word < min(lane, EDGE_WORDS); word++) { before += countOneBits(edges[word]); }
    if is_there && lane < EDGE_WORDS {
        words_store(first_word + i32(lane), edges[lane]);
        words_store(first_word + i32(BEFORE + lane), before);
        if of_item.border != NONE {
            found_store(dispatch.borders + i32(of_item.border * EDGE_WORDS + lane), edges[lane]);
        }
    }
    if is_there && lane < ROWS_AND_NEXT { words_store(first_word + i32(INSIDE + lane), atomicLoad(&rows[lane])); }
    if is_there && lane < HEIGHT_AND_NEXT { words_store(first_word + i32(AFTER_ROWS + lane), atomicLoad(&after_rows[lane])); }

    let y = (lane / LANES_OF_ROW) % HEIGHT;
    let z = lane / (LANES_OF_ROW * HEIGHT);
    let start = (lane % LANES_OF_ROW) * CELLS_OF_LANE;
    let cells = crossed_cells(bounds, y, z) & (((1u << CELLS_OF_LANE) - 1u) << start);
    var own = vec2<u32>(0u);
    for (var remaining = cells; remaining != 0u; remaining &= remaining - 1u) {
        let shape = shapes_load(i32(cell_case(y, z, countTrailingZeros(remaining))));
        if shape == NONE { own.y += 1u; } else { own.x += triangles_of(shape); }
    }
    sums[lane] = own;
    workgroupBarrier();
    var all = vec2<u32>(0u);
    var earlier = vec2<u32>(0u);
    for (var other = 0u; other < LANES; other++) {
        if other == lane { earlier = all; }
        all += sums[other];
    }
    if is_there && lane == 0u {
        base = 0u;
        if all.y > 0u { base = atomicAdd(&found[found_index(0)], all.y); }
        slots_store(of_item.slots + of_item.brick, u32(number));
    }
    if is_there && lane == EDGE_WORDS { found_store(dispatch.counts + 3 * number, before); }
    if is_there && lane == 1u { found_store(dispatch.counts + 3 * number + 1, all.x); }
    if is_there && lane == 2u { found_store(dispatch.counts + 3 * number + 2, all.y); }
    workgroupBarrier();
    var to = base + earlier.y;
    for (var remaining = cells; remaining != 0u && is_there; remaining &= remaining - 1u) {
        let x = countTrailingZeros(remaining);
        if shapes_load(i32(cell_case(y, z, x))) != NONE { continue; }
        if to < dispatch.most {
            let first = dispatch.cells + i32(to * CELL_WORDS);
            found_store(first, u32(number));
            found_store(first + 1, x | (y << 5u) | (z << 7u));
            for (var corner = 0u; corner < 8u; corner++) {
                let at = vec3<u32>(x, y, z) + (vec3<u32>(corner) >> vec3<u32>(0u, 1u, 2u)) % 2u;
                found_store(first + 2 + i32(corner), bitcast<u32>(value(bounds.start + vec3<i32>(at))));
            }
        }
        to += 1u;
    }
}
