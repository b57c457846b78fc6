//! The kernels that find the fastest cell of a flow.

use zippy::KernelSource;

use super::text::{AXES, FLOW, load, moments};
use super::{Form, force, head, source};

/// Cells along the last axis that one invocation reads.
pub const RUN: i64 = 16;

/// Key of a cell without a finite density near 1, above the keys of all speeds.
pub const LOST: u32 = u32::MAX;

/// The fastest fluid cell of each run of [`RUN`] cells: the key of its speed and its index in the
/// chunk.
///
/// The key is the bits of the squared speed: they have the order of the numbers, and a NaN comes
/// after all of them. The largest key of all runs goes to the word `slot` of `looks`.
pub fn runs(form: &Form) -> KernelSource {
    let (binding, force) = force(form);
    let axis = AXES[form.set.axes() - 1];
    let text = head(form, "read", false)
        + "@group(0) @binding(2) var<storage, read> cells: array<u32>;
@group(0) @binding(3) var<storage, read_write> best: array<u32>;
@group(0) @binding(4) var<storage, read_write> looks: array<atomic<u32>>;
" + binding
        + "@group(0) @binding(6) var<uniform> slot: u32;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let run = domain_position(id);
    if !domain_inside(run) { return; }
    let odd = parameters.odd;
    let extent = cells_extent();
    var p = run;
    var largest = 0u;
    var index = 0u;
" + &format!(
        "    for (var k = 0; k < {RUN}; k++) {{\n    p.{axis} = run.{axis} * {RUN} + k;
    if !cells_inside(p) || cells_load(p) != 0u {{ continue; }}\n"
    ) + force
        + &load(form)
        + &moments(form.set)
        + FLOW
        + &format!(
            "    let speed = bitcast<u32>(u.x * u.x + u.y * u.y + u.z * u.z) & 0x7fffffffu;
    // Bits, as comparisons of NaNs may be compiled to anything.
    let lost = (bitcast<u32>(excess) & 0x7fffffffu) >= 0x3f800000u;
    let key = select(speed, {LOST}u, lost);
    if key > largest {{
        largest = key;
        index = u32(p.x + extent.x * (p.y + extent.y * p.z));
    }}
    }}
    best_store(vec4<i32>(run, 0), largest);
    best_store(vec4<i32>(run, 1), index);
    let word = looks_index(i32(slot));
    if largest > atomicLoad(&looks[word]) {{ atomicMax(&looks[word], largest); }}
}}
"
        );
    source(form, "runs", text)
}

/// The least index of the cells with the largest key, in the word after `slot` of `looks`.
pub const PLACE: &str = "@group(0) @binding(0) var<storage, read> best: array<u32>;
@group(0) @binding(1) var<storage, read_write> looks: array<atomic<u32>>;
@group(0) @binding(2) var<uniform> slot: u32;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let run = domain_position(id);
    if !domain_inside(run) { return; }
    let key = best_load(vec4<i32>(run, 0));
    let word = looks_index(i32(slot));
    if key > 0u && key == atomicLoad(&looks[word]) {
        atomicMin(&looks[word + 1u], best_load(vec4<i32>(run, 1)));
    }
}
";
