//! Kernels that find the fastest cell of a flow.
//!
//! The key of a cell is the bits of its squared speed. Keys have the order of the speeds, and NaN
//! is above all numbers. For each check and chunk, the array `fastest` has two words: the largest
//! key, and the least index of a cell with this key.

use zippy::kernel::WgslComposer;
use zippy::{KernelSource, Result, wgsl_module};

use super::expressions::AXES;
use super::kernel_form::KernelForm;
use super::kernel_text::{
    Access, CellsPerInvocation, declare_common, declare_force, declare_force_field, kernel_source,
};
use super::moments::{DECLARE_FLOW, declare_moments};
use super::slots::load;

/// Length of a *run*: the cells along the last axis that one invocation reads.
pub(crate) const RUN_CELLS: i64 = 16;

/// Key of a cell without a finite density near 1, above the keys of all speeds.
pub(crate) const UNSTABLE_KEY: u32 = u32::MAX;

/// Writes key and index of the fastest cell of each run of [`RUN_CELLS`] cells to `run_fastest`,
/// and the largest key of all runs to the word `slot` of `fastest`.
pub(crate) fn run_fastest_kernel(form: &KernelForm) -> Result<KernelSource> {
    let axis = AXES[form.set.axes() - 1];
    let text = [
        &declare_common(form, Access::Read, CellsPerInvocation::One),
        "@group(0) @binding(2) var<storage, read> kinds: array<u32>;
@group(0) @binding(3) var<storage, read_write> run_fastest: array<u32>;
@group(0) @binding(4) var<storage, read_write> fastest: array<atomic<u32>>;
",
        declare_force_field(form),
        &format!(
            "@group(0) @binding(6) var<uniform> slot: u32;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let run = domain_position(id);
    if !domain_inside(run) {{ return; }}
    let parity = parameters.parity;
    let extent = kinds_extent();
    var p = run;
    var largest = 0u;
    var index = 0u;
    for (var k = 0; k < {RUN_CELLS}; k++) {{
    p.{axis} = run.{axis} * {RUN_CELLS} + k;
    if !kinds_inside(p) || kinds_load(p) != FLUID {{ continue; }}
"
        ),
        declare_force(form),
        &load(form),
        &declare_moments(form.set),
        DECLARE_FLOW,
        &format!(
            "    let speed_key = bitcast<u32>(u.x * u.x + u.y * u.y + u.z * u.z) & 0x7fffffffu;
    // Integers, because compilers may assume that floats are not NaN.
    let is_unstable = (bitcast<u32>(excess) & 0x7fffffffu) >= 0x3f800000u;
    let key = select(speed_key, {UNSTABLE_KEY}u, is_unstable);
    if key > largest {{
        largest = key;
        index = u32(p.x + extent.x * (p.y + extent.y * p.z));
    }}
    }}
    run_fastest_store(vec4<i32>(run, 0), largest);
    run_fastest_store(vec4<i32>(run, 1), index);
    let word = fastest_index(i32(slot));
    if largest > atomicLoad(&fastest[word]) {{ atomicMax(&fastest[word], largest); }}
}}
"
        ),
    ]
    .concat();
    kernel_source(form, "run_fastest", text)
}

/// Writes the least index of the runs with the largest key to the word after `slot` of `fastest`.
pub(crate) fn run_index_kernel() -> Result<KernelSource> {
    let composer = WgslComposer::new().module(wgsl_module!("../../shaders/run_index.wgsl"));
    Ok(KernelSource::text("run_index.wgsl", composer.compose()?))
}
