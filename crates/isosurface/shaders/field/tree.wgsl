// Least and greatest values of bricks, as keys. Equivalent Rust code: src/field/tree.rs.

@group(0) @binding(2) var<storage, read_write> extremes: array<u32>;

const LEAST_OF_ALL = 0x007fffffu; // minus infinity

var<workgroup> least: atomic<u32>;
var<workgroup> largest: atomic<u32>;

@compute @workgroup_size(LANES)
fn bricks(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let is_there = domain_inside(domain_position(id));
    let number = select(0, domain_workgroup(group), is_there);
    let found = brick(number);
    if lane == 0u {
        atomicStore(&least, 0xffffffffu);
        atomicStore(&largest, 0u);
    }
    workgroupBarrier();
    let columns = u32(found.all.x);
    let rows = u32(found.all.y);
    let count = columns * rows * u32(found.all.z);
    var low = 0xffffffffu;
    var high = 0u;
    for (var i = lane; i < count; i += LANES) {
        let row = i / columns;
        let bits = bitcast<u32>(value(found.start + vec3<i32>(vec3<u32>(i % columns, row % rows, row / rows))));
        if is_nan(bits) {
            low = LEAST_OF_ALL;
        } else {
            low = min(low, key(bits));
            high = max(high, key(bits));
        }
    }
    atomicMin(&least, low);
    atomicMax(&largest, high);
    workgroupBarrier();
    if is_there && lane == 0u {
        extremes_store(2 * number, atomicLoad(&least));
        extremes_store(2 * number + 1, atomicLoad(&largest));
    }
}
