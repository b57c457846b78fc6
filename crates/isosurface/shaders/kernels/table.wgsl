// The shapes of cells as src/kernels/table.rs lays them out: for each case the number of its shape, or NONE; then for each
// shape how many triangles and interior vertices it has, and where its triangles begin.

const SHAPES = 256;

fn triangles_of(shape: u32) -> u32 {
    return (shapes_load(SHAPES + i32(shape)) >> 16u) & 0xffu;
}

fn interior_of(shape: u32) -> u32 {
    return shapes_load(SHAPES + i32(shape)) >> 24u;
}

// Three vertices, one a byte.
fn triangle_of(shape: u32, number: u32) -> u32 {
    return shapes_load(i32((shapes_load(SHAPES + i32(shape)) & 0xffffu) + number));
}
