//! The kernel of forces on bodies.

use std::fmt::Write;

use zippy::{KernelSource, Result};

use super::expressions::{dot_velocity, literal};
use super::kernel_form::KernelForm;
use super::kernel_text::{Access, CELL_ITSELF, ListKernel, kernel_source};
use super::slots::load;

/// Force and torque of the fluid on each surface cell of a body in a step: six numbers per cell, by
/// momentum exchange (Ladd 1994).
pub(crate) fn body_force_kernel(form: &KernelForm) -> Result<KernelSource> {
    const FORCES: &str = "@group(0) @binding(3) var<storage, read_write> forces: array<f32>;\n";
    let form = &KernelForm { has_force_field: false, ..*form };
    let mut body = load(form);
    // Links of images count for the body before the free-slip sides.
    body += "    var total_force = vec3<f32>(0.0, 0.0, 0.0);
    var total_torque = vec3<f32>(0.0, 0.0, 0.0);
    let axes = boundary_cell.mirrored_axes;
    let is_mirrored = vec3<bool>((axes & 1u) != 0u, (axes & 2u) != 0u, (axes & 4u) != 0u);
    let sign = select(vec3<f32>(1.0, 1.0, 1.0), vec3<f32>(-1.0, -1.0, -1.0), is_mirrored);
";
    for q in 1..form.set.count() {
        let [x, y, z] = form.set.velocity(q).map(|c| c as f32);
        let weight = literal(6.0 * form.set.weight(q));
        let wall = dot_velocity(form.set.velocity(q), "boundary_cell.flow");
        _ = writeln!(
            body,
            "    if (boundary_cell.links & {bit}u) != 0u {{
        let direction = sign * vec3<f32>({x:?}, {y:?}, {z:?});
        let link_force = (2.0 * g{q} - {weight} * ({wall})) * direction;
        total_force += link_force;
        total_torque += cross(boundary_cell.normal.xyz - 0.5 * direction, link_force);
    }}",
            bit = 1_u32 << q
        );
    }
    let components =
        ["total_force.x", "total_force.y", "total_force.z", "total_torque.x", "total_torque.y", "total_torque.z"];
    for (k, component) in components.iter().enumerate() {
        _ = writeln!(body, "    forces_store(vec2<i32>(index, {k}), {component});");
    }
    let kernel = ListKernel {
        populations: Access::Read,
        boundary_cells: Access::Read,
        declarations: FORCES,
        cell: CELL_ITSELF,
        body: &body,
    };
    kernel_source(form, "body_force", kernel.text(form))
}
