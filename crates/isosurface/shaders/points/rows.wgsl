// Inside samples of a brick and of those after it: five by five rows, and the sample after each
// row. Part of the equivalent of src/points/inside.rs.

var<workgroup> rows: array<atomic<u32>, ROWS_AND_NEXT>;
var<workgroup> after_rows: array<atomic<u32>, HEIGHT_AND_NEXT>;

// Words of missing rows are 0.
fn row(y: u32, z: u32) -> u32 {
    return atomicLoad(&rows[y + HEIGHT_AND_NEXT * z]);
}

fn after_row(y: u32, z: u32) -> u32 {
    return (atomicLoad(&after_rows[z]) >> y) & 1u;
}

fn four_rows(y: u32, z: u32) -> vec4<u32> {
    return vec4<u32>(row(y, z), row(y + 1u, z), row(y, z + 1u), row(y + 1u, z + 1u));
}

fn after_four_rows(y: u32, z: u32) -> vec4<u32> {
    return vec4<u32>(after_row(y, z), after_row(y + 1u, z), after_row(y, z + 1u), after_row(y + 1u, z + 1u));
}

fn crossed(bounds: Brick, direction: u32, y: u32, z: u32) -> u32 {
    let further = vec3<u32>(vec3<bool>(direction == 0u, direction == 1u, direction == 2u));
    let at = vec3<u32>(0u, y, z);
    if any(at >= vec3<u32>(bounds.own)) || any(at + further >= vec3<u32>(bounds.all)) { return 0u; }
    let bits = row(y, z);
    var other = row(y + further.y, z + further.z);
    if direction == 0u { other = (bits >> 1u) | (after_row(y, z) << 31u); }
    return (bits ^ other) & lowest(bounds.all.x - i32(further.x)) & lowest(bounds.own.x);
}

fn crossed_cells(bounds: Brick, y: u32, z: u32) -> u32 {
    let at = vec3<u32>(0u, y, z);
    if !bounds.is_own || any(at >= vec3<u32>(bounds.own)) || any(at + 1u >= vec3<u32>(bounds.all)) { return 0u; }
    let four = four_rows(y, z);
    let next = (four >> vec4<u32>(1u)) | (after_four_rows(y, z) << vec4<u32>(31u));
    let some = four | next;
    let every = four & next;
    let crossed = (some.x | some.y | some.z | some.w) & ~(every.x & every.y & every.z & every.w);
    return crossed & lowest(bounds.all.x - 1) & lowest(bounds.own.x);
}
