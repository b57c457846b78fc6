//! Kernels of density, velocity and mass.

use std::fmt::Write;

use zippy::{KernelSource, Result};

use super::kernel_form::KernelForm;
use super::kernel_text::{Access, ArrayKernel, CELL_ITSELF, ListKernel, kernel_source};
use super::moments::{DECLARE_FLOW, declare_moments};
use super::outlet::declare_open_flow;
use super::slots::load;

/// Density minus 1 and velocity of fluid cells that are not at open sides; zero elsewhere.
pub(crate) fn fields_kernel(form: &KernelForm) -> Result<KernelSource> {
    const FIELDS: &str = "@group(0) @binding(2) var<storage, read> kinds: array<u32>;
@group(0) @binding(3) var<storage, read_write> excess: array<f32>;
@group(0) @binding(4) var<storage, read_write> velocity: array<f32>;
";
    let body = load(form)
        + &declare_moments(form.set)
        + DECLARE_FLOW
        + "    let is_fluid = kinds_load(p) == FLUID;
    excess_store(p, select(0.0, excess, is_fluid));
    velocity_store(vec4<i32>(p, 0), select(0.0, u.x, is_fluid));
    velocity_store(vec4<i32>(p, 1), select(0.0, u.y, is_fluid));
    velocity_store(vec4<i32>(p, 2), select(0.0, u.z, is_fluid));
";
    let kernel = ArrayKernel { array: "excess", populations: Access::Read, declarations: FIELDS, body: &body };
    kernel_source(form, "fields", kernel.text(form))
}

fn list_reader(declarations: &str, body: &str, form: &KernelForm) -> String {
    let kernel =
        ListKernel { populations: Access::Read, boundary_cells: Access::Read, declarations, cell: CELL_ITSELF, body };
    kernel.text(form)
}

/// Density minus 1 and velocity of cells at open sides, where some populations are unknown.
pub(crate) fn open_fields_kernel(form: &KernelForm) -> Result<KernelSource> {
    const FIELDS: &str = "@group(0) @binding(3) var<storage, read_write> excess: array<f32>;
@group(0) @binding(4) var<storage, read_write> velocity: array<f32>;
";
    let body = load(form)
        + &declare_open_flow(form.set)
        + "    excess_store(p, density - 1.0);
    velocity_store(vec4<i32>(p, 0), u.x);
    velocity_store(vec4<i32>(p, 1), u.y);
    velocity_store(vec4<i32>(p, 2), u.z);
";
    kernel_source(form, "open_fields", list_reader(FIELDS, &body, form))
}

/// Kernel of the density minus 1 of fluid cells that are not at open sides, and the sum of their
/// populations in solid cells. `start` is the lattice index of the chunk's first cell, `bounds` the
/// end of the lattice.
pub(crate) fn mass_kernel(form: &KernelForm) -> Result<KernelSource> {
    const DECLARATIONS: &str = "@group(0) @binding(2) var<storage, read> kinds: array<u32>;
@group(0) @binding(3) var<storage, read_write> values: array<f32>;
@group(0) @binding(4) var<uniform> start: vec3<i32>;
@group(0) @binding(5) var<uniform> bounds: vec3<i32>;
fn is_fluid(p: vec3<i32>) -> bool {
    let at = p + start;
    return all(at >= vec3<i32>(0, 0, 0)) && all(at < bounds) && kinds_load(p) == FLUID;
}
";
    let form = &KernelForm { has_force_field: false, ..*form };
    let mut body = load(form) + &declare_moments(form.set) + "    var held = 0.0;\n";
    for q in 1..form.set.count() {
        let [x, y, z] = form.set.velocity(q);
        _ = writeln!(body, "    held += select(0.0, g{q}, is_fluid(p - vec3<i32>({x}, {y}, {z})));");
    }
    body += "    let kind = kinds_load(p);
    let is_solid = kind == SOLID || kind == MOVING_SOLID;
    values_store(p, select(select(0.0, held, is_solid), excess, kind == FLUID));
";
    let kernel = ArrayKernel { array: "values", populations: Access::Read, declarations: DECLARATIONS, body: &body };
    kernel_source(form, "mass", kernel.text(form))
}

/// Density minus 1 of cells at open sides.
pub(crate) fn open_mass_kernel(form: &KernelForm) -> Result<KernelSource> {
    const VALUES: &str = "@group(0) @binding(3) var<storage, read_write> values: array<f32>;\n";
    let body = load(form) + &declare_open_flow(form.set) + "    values_store(p, density - 1.0);\n";
    kernel_source(form, "open_mass", list_reader(VALUES, &body, form))
}
