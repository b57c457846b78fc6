// Shapes of cells, as laid out by src/kernels/table.rs: per case its shape number or NONE; per
// shape its numbers of triangles and interior vertices, and the offset of its triangles.

fn triangles_of(shape: u32) -> u32 {
    return (shapes_load(i32(CASES + shape)) >> 16u) & 0xffu;
}

fn interior_of(shape: u32) -> u32 {
    return shapes_load(i32(CASES + shape)) >> 24u;
}

// Three vertices, one per byte.
fn triangle_of(shape: u32, number: u32) -> u32 {
    return shapes_load(i32((shapes_load(i32(CASES + shape)) & 0xffffu) + number));
}
