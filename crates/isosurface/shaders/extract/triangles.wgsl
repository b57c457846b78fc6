// Triangles, cell by cell; one workgroup per item of own samples. Equivalent Rust code:
// src/extract/triangles.rs.

@group(0) @binding(1) var<storage, read> shapes: array<u32>;
@group(0) @binding(2) var<storage, read> items: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> slots: array<u32>;
// Shapes of ambiguous cells, by item and row.
@group(0) @binding(6) var<storage, read> ambiguous: array<u32>;
@group(0) @binding(7) var<storage, read_write> triangles: array<u32>;

struct Dispatch {
    first: i32, // item of this call
    mirrored: u32,
}

@group(0) @binding(8) var<uniform> dispatch: Dispatch;

// Per lane: ambiguous cells, triangles, interior vertices.
var<workgroup> sums: array<vec3<u32>, LANES>;

fn crossed_case(number: u32, cell: vec3<u32>) -> u32 {
    let start = INSIDE + HEIGHT_AND_NEXT * cell.z + cell.y;
    let four = vec4<u32>(word(number, start), word(number, start + 1u), word(number, start + HEIGHT_AND_NEXT),
        word(number, start + HEIGHT_AND_NEXT + 1u));
    let low = word(number, AFTER_ROWS + cell.z) >> cell.y;
    let high = word(number, AFTER_ROWS + cell.z + 1u) >> cell.y;
    return case_of(four, vec4<u32>(low & 1u, (low >> 1u) & 1u, high & 1u, (high >> 1u) & 1u), cell.x);
}

// Shape of a cell; `next` is the index of the next ambiguous cell.
fn shape_of(number: u32, cell: vec3<u32>, next: ptr<function, u32>) -> u32 {
    let shape = shapes_load(i32(crossed_case(number, cell)));
    if shape != NONE { return shape; }
    *next += 1u;
    return ambiguous_load(i32(*next - 1u));
}

// Sum over the lanes before this one.
fn before(own: vec3<u32>, lane: u32) -> vec3<u32> {
    workgroupBarrier();
    sums[lane] = own;
    workgroupBarrier();
    var sum = vec3<u32>(0u);
    for (var other = 0u; other < lane; other++) { sum += sums[other]; }
    return sum;
}

@compute @workgroup_size(LANES)
fn cells(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let is_there = domain_inside(domain_position(id));
    let index = select(0, domain_workgroup(group), is_there);
    let of_item = item(items_load(index));
    let bounds = brick(of_item.brick);
    let number = u32(dispatch.first + index);
    if lane < 8u {
        let at = bounds.at + vec3<i32>(vec3<u32>(lane & 1u, (lane >> 1u) & 1u, lane >> 2u));
        bricks[lane] = NONE;
        if all(at < part.bricks) { bricks[lane] = slots_load(of_item.slots + brick_number(at)); }
    }
    workgroupBarrier();
    load_near(bounds, lane);
    workgroupBarrier();

    let row = vec3<u32>(
        (lane % LANES_OF_ROW) * CELLS_OF_LANE,
        (lane / LANES_OF_ROW) % HEIGHT,
        lane / (LANES_OF_ROW * HEIGHT),
    );
    let width = u32(bounds.own.x);
    let has_cells = is_there && row.y + 1u < u32(bounds.all.y) && row.z + 1u < u32(bounds.all.z) && row.y < u32(bounds.own.y)
        && row.z < u32(bounds.own.z);
    let end = select(0u, min(min(row.x + CELLS_OF_LANE, width), u32(bounds.all.x) - 1u), has_cells);
    var own = vec3<u32>(0u);
    for (var x = row.x; x < end; x++) {
        let kind = crossed_case(number, vec3<u32>(x, row.yz));
        own.x += select(0u, 1u, shapes_load(i32(kind)) == NONE);
    }
    let first_ambiguous = starts_load(i32(number)).z + before(own, lane).x;
    var next = first_ambiguous;
    for (var x = row.x; x < end; x++) {
        let shape = shape_of(number, vec3<u32>(x, row.yz), &next);
        own += vec3<u32>(0u, triangles_of(shape), interior_of(shape));
    }
    let earlier = before(own, lane);
    var triangle = starts_load(i32(number)).y + earlier.y;
    var interior = starts_load(i32(number)).w + earlier.z;
    next = first_ambiguous;
    for (var x = row.x; x < end; x++) {
        let cell = vec3<u32>(x, row.yz);
        let shape = shape_of(number, cell, &next);
        for (var i = 0u; i < triangles_of(shape); i++) {
            let vertices = triangle_of(shape, i);
            for (var corner = 0u; corner < 3u; corner++) {
                // Reverse orientation for left-handed axes.
                let taken = select(corner, (3u - corner) % 3u, dispatch.mirrored == 1u);
                let vertex = (vertices >> (8u * taken)) & 0xffu;
                var to = interior + vertex - EDGE_COUNT;
                if vertex < EDGE_COUNT { to = vertex_on(vertex, cell, width); }
                triangles_store(i32(3u * triangle + corner), to);
            }
            triangle += 1u;
        }
        interior += interior_of(shape);
    }
}
