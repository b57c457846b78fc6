//! Kernels of a step, and of the initial flow.

use std::fmt::Write;

use zippy::{KernelSource, Result};

use super::collision::collide;
use super::expressions::{dot_velocity, literal};
use super::kernel_form::KernelForm;
use super::kernel_text::{
    Access, ArrayKernel, CELL_ALONG_NORMAL, CELL_ITSELF, CellsPerInvocation, ListKernel, declare_common,
    declare_force_fields_of_word, declare_forces_of_word, declare_parameters, frame_entry_point, kernel_source,
};
use super::moments::{DECLARE_FLOW, declare_equilibrium, declare_moments};
use super::open_sides::regularise_and_collide;
use super::slots::{load, load_words, store, store_arrived, store_words};
use super::walls::{reflect_at_free_slip, reflect_at_moving_wall};

const KINDS: &str = "@group(0) @binding(2) var<storage, read> kinds: array<u32>;\n";

/// A step of all cells with fluid that are not at open sides.
pub(crate) fn step_kernel(form: &KernelForm) -> Result<KernelSource> {
    let text = if form.fold_axis.is_some() { step_of_words(form) } else { step_of_cells(form) };
    kernel_source(form, "step", text)
}

fn step_of_cells(form: &KernelForm) -> String {
    let body = "    if kinds_load(p) != FLUID { return; }\n".to_owned() + &load(form) + &collide(form) + &store(form);
    let kernel = ArrayKernel { array: "kinds", populations: Access::ReadWrite, declarations: KINDS, body: &body };
    kernel.text(form)
}

fn step_of_words(form: &KernelForm) -> String {
    const OTHER_KINDS: &str = "@group(0) @binding(3) var<storage, read> other_kinds: array<u32>;\n";
    const MASK: &str = "    let mask = select(0u, 0x0000ffffu, kinds_load(p) == FLUID)
        | select(0u, 0xffff0000u, other_kinds_load(p) == FLUID);
    if mask == 0u { return; }
";
    let cells = CellsPerInvocation::Two;
    let declarations =
        [&declare_common(form, Access::ReadWrite, cells), KINDS, OTHER_KINDS, declare_force_fields_of_word(form)]
            .concat();
    let body = [
        MASK,
        &declare_parameters(form, cells),
        &declare_forces_of_word(form),
        &load_words(form),
        &collide(form),
        &store_words(form),
    ]
    .concat();
    frame_entry_point(form, "kinds", &declarations, &body)
}

fn list_step(cell: &'static str, body: &str, form: &KernelForm) -> String {
    let (populations, boundary_cells) = (Access::ReadWrite, Access::Read);
    ListKernel { populations, boundary_cells, declarations: "", cell, body }.text(form)
}

/// A step of moving walls.
pub(crate) fn moving_wall_kernel(form: &KernelForm) -> Result<KernelSource> {
    kernel_source(form, "moving_wall", list_step(CELL_ITSELF, &reflect_at_moving_wall(form), form))
}

/// A step of images beyond free-slip sides.
pub(crate) fn mirror_kernel(form: &KernelForm) -> Result<KernelSource> {
    kernel_source(form, "mirror", list_step(CELL_ALONG_NORMAL, &reflect_at_free_slip(form), form))
}

/// A step of cells at open sides.
pub(crate) fn open_side_kernel(form: &KernelForm) -> Result<KernelSource> {
    kernel_source(form, "open_side", list_step(CELL_ITSELF, &regularise_and_collide(form), form))
}

/// Copies density and velocity of the inner neighbours of outlets into the list, before the step.
pub(crate) fn outlet_input_kernel(form: &KernelForm) -> Result<KernelSource> {
    let body = load(form)
        + &declare_moments(form.set)
        + DECLARE_FLOW
        + "    var updated = boundary_cell;
    updated.flow = vec4<f32>(u.x, u.y, u.z, density);
    boundary_cells_store(index, updated);
";
    let kernel = ListKernel {
        populations: Access::Read,
        boundary_cells: Access::ReadWrite,
        declarations: "",
        cell: CELL_ALONG_NORMAL,
        body: &body,
    };
    kernel_source(form, "outlet_input", kernel.text(form))
}

/// Populations in equilibrium with density and velocity.
pub(crate) fn initial_kernel(form: &KernelForm) -> Result<KernelSource> {
    const FIELDS: &str = "@group(0) @binding(2) var<storage, read> excess: array<f32>;
@group(0) @binding(3) var<storage, read> velocity: array<f32>;
";
    let mut body = String::from(
        "    let excess = excess_load(p);
    let density = 1.0 + excess;
    let u = vec3<f32>(velocity_load(vec4<i32>(p, 0)), velocity_load(vec4<i32>(p, 1)), velocity_load(vec4<i32>(p, 2)));
",
    );
    body += &declare_equilibrium(form.set);
    body += "    let g0 = eq0;\n";
    for q in form.set.first_of_pairs() {
        let (next, weight) = (q + 1, literal(1.5 * form.set.weight(q)));
        let force = dot_velocity(form.set.velocity(q), "force");
        _ = writeln!(body, "    let minus{q} = eq_minus{q} - {weight} * ({force});");
        _ = writeln!(body, "    let g{q} = eq_plus{q} + minus{q};\n    let g{next} = eq_plus{q} - minus{q};");
    }
    body += &store_arrived(form);
    let kernel = ArrayKernel { array: "excess", populations: Access::ReadWrite, declarations: FIELDS, body: &body };
    kernel_source(form, "initial_flow", kernel.text(form))
}
