// Bricks of a chunk. Positions count from the chunk's first own sample. Equivalent Rust code:
// src/field/bricked_chunk.rs.
//
// src/kernels/source.rs declares BRICK, the samples of a brick along each axis, and the other
// constants of the kernels.

struct Part {
    start: vec3<i32>, // position of the first own sample in the field
    own: vec3<i32>, // own samples along each axis
    reach: vec3<i32>, // own and next samples
    own_bricks: vec3<i32>,
    bricks: vec3<i32>, // including those after the chunk
    first: vec3<i32>, // first sample of the field
    last: vec3<i32>, // last sample of the field
}

@group(0) @binding(0) var<uniform> part: Part;

struct Brick {
    at: vec3<i32>,
    start: vec3<i32>, // first sample
    own: vec3<i32>, // own samples along each axis
    all: vec3<i32>, // own and next samples
    is_own: bool,
}

fn brick(number: i32) -> Brick {
    let rest = number / part.bricks.x;
    let at = vec3<i32>(number % part.bricks.x, rest % part.bricks.y, rest / part.bricks.y);
    let start = min(at * BRICK, part.own);
    let limit = select(part.reach, part.own, start < part.own);
    let end = min(start + BRICK, limit);
    let next = min(end + 1, part.reach);
    return Brick(at, start, end - start, next - start, all(at < part.own_bricks));
}

fn brick_number(at: vec3<i32>) -> i32 {
    return at.x + part.bricks.x * (at.y + part.bricks.y * at.z);
}

// Bits of the first `count` samples of a row.
fn lowest(count: i32) -> u32 {
    return select((1u << u32(count)) - 1u, 0xffffffffu, count >= 32);
}
