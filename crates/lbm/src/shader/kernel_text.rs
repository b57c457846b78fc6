//! Frames of kernels: declarations, entry points and common variables.

use zippy::device::has_wide_vectors;
use zippy::kernel::WgslComposer;
use zippy::{KernelSource, Result};

use super::expressions::AXES;
use super::half_words::HALF_WORDS;
use super::kernel_form::KernelForm;
use crate::boundary_cell::BOUNDARY_CELL_WGSL;
use crate::cell_kind::CellKind;
use crate::collision::Collision;
use crate::sponge::LayerExpression;

/// Access of a kernel to an array.
#[derive(Clone, Copy)]
pub(super) enum Access {
    Read,
    ReadWrite,
}

impl Access {
    fn wgsl(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::ReadWrite => "read_write",
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum CellsPerInvocation {
    One,
    Two,
}

/// Kernel with one invocation for each cell of an array.
pub(super) struct ArrayKernel<'t> {
    pub array: &'t str,
    pub populations: Access,
    /// Declarations of bindings from 2 on.
    pub declarations: &'t str,
    /// Statements; `p` is the index of the cell.
    pub body: &'t str,
}

/// Kernel with one invocation for each boundary cell of a list.
pub(super) struct ListKernel<'t> {
    pub populations: Access,
    pub boundary_cells: Access,
    /// Declarations of bindings from 3 on.
    pub declarations: &'t str,
    /// Cell `p` whose populations the kernel reads: [`CELL_ITSELF`] or [`CELL_ALONG_NORMAL`].
    pub cell: &'t str,
    /// Statements; `index` is the index in the list, `boundary_cell` the record, `kind` its kind.
    pub body: &'t str,
}

pub(super) const CELL_ITSELF: &str = "boundary_cell.cell.xyz";
/// Inner neighbour of an outlet, or the fluid cell of an image.
pub(super) const CELL_ALONG_NORMAL: &str = "boundary_cell.cell.xyz + vec3<i32>(boundary_cell.normal.xyz)";

/// Declarations of all kernels with populations; `Real` is one number for each cell of an
/// invocation.
pub(super) fn declare_common(form: &KernelForm, populations: Access, cells: CellsPerInvocation) -> String {
    let is_half = form.fold_axis.is_some();
    let word = if is_half { "u32" } else { "f32" };
    let real = if cells == CellsPerInvocation::Two { "vec2<f32>" } else { "f32" };
    let access = populations.wgsl();
    format!(
        "@group(0) @binding(0) var<storage, {access}> f: array<{word}>;
struct Parameters {{ parity: i32, is_starting: i32, rate_plus: f32, rate_minus: f32, eddy_factor: f32, magic: f32,
    lane: i32, first_word: i32, last_word: i32, step: i32, first_layer: i32, restoring_factor: f32,
    origin: vec3<i32>, force: vec3<f32> }}
@group(0) @binding(1) var<uniform> parameters: Parameters;
alias Real = {real};
struct RealVector {{ x: Real, y: Real, z: Real }}
"
    )
}

pub(super) fn declare_force_field(form: &KernelForm) -> &'static str {
    if form.has_force_field { "@group(0) @binding(5) var<storage, read> force_field: array<f32>;\n" } else { "" }
}

pub(super) fn declare_force(form: &KernelForm) -> &'static str {
    if !form.has_force_field {
        return "    let force = parameters.force;\n";
    }
    "    let force = parameters.force + vec3<f32>(force_field_load(vec4<i32>(p, 0)),
        force_field_load(vec4<i32>(p, 1)), force_field_load(vec4<i32>(p, 2)));
"
}

pub(super) fn declare_force_fields_of_word(form: &KernelForm) -> &'static str {
    if !form.has_force_field {
        return "";
    }
    "@group(0) @binding(5) var<storage, read> force_field: array<f32>;
@group(0) @binding(6) var<storage, read> other_force_field: array<f32>;
"
}

pub(super) fn declare_forces_of_word(form: &KernelForm) -> String {
    if !form.has_force_field {
        return "    let force = parameters.force;\n".into();
    }
    let [x, y, z] = [0, 1, 2].map(|axis| {
        let load = |name: &str| format!("{name}_load(vec4<i32>(p, {axis}))");
        let (own, other) = (load("force_field"), load("other_force_field"));
        format!("parameters.force.{} + vec2<f32>({own},\n        {other})", AXES[axis])
    });
    format!("    let force = RealVector({x}, {y}, {z});\n")
}

pub(super) fn declare_parameters(form: &KernelForm, cells: CellsPerInvocation) -> String {
    let rates = match form.sponge {
        None => "    let rate_plus = parameters.rate_plus;
    let rate_minus = parameters.rate_minus;
    let magic = parameters.magic;
"
        .to_owned(),
        Some(sponge) => {
            let layer = format!("p.{} + parameters.first_layer", AXES[sponge.axis]);
            let is_folded = form.fold_axis == Some(sponge.axis) && cells == CellsPerInvocation::Two;
            let expression = if is_folded {
                // The second cell of a word is half the lattice further.
                let layer = format!("vec2<i32>({layer}, {layer} + {})", form.fold_words);
                LayerExpression { layer, int: "vec2<i32>", float: "vec2<f32>" }
            } else {
                LayerExpression { layer, int: "i32", float: "f32" }
            };
            sponge.wgsl_rates(&expression, form.collision == Collision::Bgk)
        }
    };
    "    let parity = parameters.parity;\n    let eddy_factor = parameters.eddy_factor;\n".to_owned() + &rates
}

/// Entry point with one invocation for each cell of an array.
pub(super) fn frame_entry_point(form: &KernelForm, array: &str, declarations: &str, body: &str) -> String {
    let [x, y] = form.workgroup;
    format!(
        "{declarations}@compute @workgroup_size({x}, {y})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let p = {array}_position(id);
    if !{array}_inside(p) {{ return; }}
{body}}}
"
    )
}

impl ArrayKernel<'_> {
    pub(super) fn text(&self, form: &KernelForm) -> String {
        let cells = CellsPerInvocation::One;
        let declarations =
            declare_common(form, self.populations, cells) + self.declarations + declare_force_field(form);
        let body = declare_parameters(form, cells) + declare_force(form) + self.body;
        frame_entry_point(form, self.array, &declarations, &body)
    }
}

impl ListKernel<'_> {
    pub(super) fn text(&self, form: &KernelForm) -> String {
        let common = declare_common(form, self.populations, CellsPerInvocation::One);
        let parameters = declare_parameters(form, CellsPerInvocation::One);
        format!(
            "{common}{BOUNDARY_CELL_WGSL}@group(0) @binding(2) var<storage, {access}> boundary_cells: array<BoundaryCell>;
{declarations}{force_field}@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let index = boundary_cells_position(id);
    if !boundary_cells_inside(index) {{ return; }}
    let boundary_cell = boundary_cells_load(index);
    let p = {cell};
    let kind = u32(boundary_cell.cell.w);
{parameters}{force}{body}}}
",
            access = self.boundary_cells.wgsl(),
            declarations = self.declarations,
            force_field = declare_force_field(form),
            cell = self.cell,
            force = declare_force(form),
            body = self.body,
        )
    }
}

/// A kernel source with the velocity set and the precision in its name, from a text that begins
/// with [`declare_common`].
pub(super) fn kernel_source(form: &KernelForm, name: &str, text: String) -> Result<KernelSource> {
    let is_half = form.fold_axis.is_some();
    let composer = WgslComposer::new().generated(text).used_constants(CellKind::wgsl_constants());
    let (composer, suffix) = if is_half { (composer.module(HALF_WORDS), ".half") } else { (composer, "") };
    let name = format!("{name}.{}{suffix}.wgsl", form.set.name().to_lowercase());
    // Native kernels lack the instructions that convert halves.
    let prefers_driver = is_half || form.set.axes() == 3 && has_wide_vectors();
    Ok(KernelSource::text(name, composer.compose()?).prefer_driver(prefers_driver))
}
