// Kernels on the flags of a compaction. CPU versions: src/select/mod.rs.

@group(0) @binding(0) var<storage, read> flags: array<u32>;
@group(0) @binding(1) var<storage, read_write> marks: array<u32>;
@group(0) @binding(2) var<storage, read_write> places: array<u32>;
// `counted` is the number of cells before this part, of selected cells, and of all cells.
@group(0) @binding(3) var<uniform> counted: vec4<u32>;

// Marks cells with a flag other than 0.
@compute @workgroup_size(256)
fn mark(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = domain_position(id);
    if domain_inside(p) { marks_store(p, select(0u, 1u, flags_load(p) != 0u)); }
}

// Converts the number of selected cells before a cell to the cell's destination: selected cells
// first, then the others.
@compute @workgroup_size(256)
fn place_all(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = domain_position(id);
    if !domain_inside(p) || flags_load(p) != 0u { return; }
    places_store(p, counted.y + (counted.x + u32(p)) - places_load(p));
}

// As `place_all`, without a destination (0xffffffff) for cells that are not selected.
@compute @workgroup_size(256)
fn place_selected(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = domain_position(id);
    if domain_inside(p) && flags_load(p) == 0u { places_store(p, 0xffffffffu); }
}

// Marks cells before a head, and the last of all cells.
@compute @workgroup_size(256)
fn tail(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = domain_position(id);
    if domain_inside(p) {
        let last = counted.x + u32(p) + 1u == counted.z;
        marks_store(p, select(select(0u, 1u, flags_load(p + 1) != 0u), 1u, last));
    }
}
