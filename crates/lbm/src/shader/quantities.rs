//! Kernels that find density, velocity and mass of cells from their populations.

use std::fmt::Write;

use zippy::KernelSource;

use super::text::{FLOW, load, moments};
use super::{CELL, Form, border, cells, list, source};
use crate::cell::{FLUID, MOVING, SOLID};

/// Density beyond 1 and velocity of every cell of fluid but those at open sides; elsewhere zero.
pub fn fields(form: &Form) -> KernelSource {
    let body = format!(
        "{}{}{FLOW}    let fluid = cells_load(p) == 0u;
    excess_store(p, select(0.0, excess, fluid));
    velocity_store(vec4<i32>(p, 0), select(0.0, u.x, fluid));
    velocity_store(vec4<i32>(p, 1), select(0.0, u.y, fluid));
    velocity_store(vec4<i32>(p, 2), select(0.0, u.z, fluid));
",
        load(form),
        moments(form.set)
    );
    let fields = "@group(0) @binding(2) var<storage, read> cells: array<u32>;
@group(0) @binding(3) var<storage, read_write> excess: array<f32>;
@group(0) @binding(4) var<storage, read_write> velocity: array<f32>;
";
    source(form, "fields", cells(form, "excess", "read", fields, &body))
}

/// Density and velocity of cells at open sides, where not all populations are known.
pub fn open_fields(form: &Form) -> KernelSource {
    let fields = "@group(0) @binding(3) var<storage, read_write> excess: array<f32>;
@group(0) @binding(4) var<storage, read_write> velocity: array<f32>;
";
    let body = format!(
        "{}{}    excess_store(p, density - 1.0);
    velocity_store(vec4<i32>(p, 0), u.x);
    velocity_store(vec4<i32>(p, 1), u.y);
    velocity_store(vec4<i32>(p, 2), u.z);
",
        load(form),
        border::open_flow(form.set)
    );
    source(form, "open_fields", list(form, "read", "read", fields, CELL, &body))
}

/// Density beyond 1 of each cell of fluid except those at open sides, and of the populations that
/// solid cells have from these and give back. `start` is the chunk's first cell in the lattice,
/// which ends at `bounds`.
pub fn mass(form: &Form) -> KernelSource {
    let form = &Form { forced: false, ..*form };
    let mut body = load(form) + &moments(form.set) + "    var held = 0.0;\n";
    for q in 1..form.set.count() {
        let [x, y, z] = form.set.velocity(q);
        _ = writeln!(body, "    held += select(0.0, g{q}, is_fluid(p - vec3<i32>({x}, {y}, {z})));");
    }
    _ = writeln!(
        body,
        "    let kind = cells_load(p);
    let is_solid = kind == {SOLID}u || kind == {MOVING}u;
    values_store(p, select(select(0.0, held, is_solid), excess, kind == {FLUID}u));"
    );
    let fields = format!(
        "@group(0) @binding(2) var<storage, read> cells: array<u32>;
@group(0) @binding(3) var<storage, read_write> values: array<f32>;
@group(0) @binding(4) var<uniform> start: vec3<i32>;
@group(0) @binding(5) var<uniform> bounds: vec3<i32>;
fn is_fluid(p: vec3<i32>) -> bool {{
    let at = p + start;
    return all(at >= vec3<i32>(0, 0, 0)) && all(at < bounds) && cells_load(p) == {FLUID}u;
}}\n"
    );
    source(form, "mass", cells(form, "values", "read", &fields, &body))
}

/// Density beyond 1 of cells at open sides.
pub fn open_mass(form: &Form) -> KernelSource {
    let values = "@group(0) @binding(3) var<storage, read_write> values: array<f32>;\n";
    let body = load(form) + &border::open_flow(form.set) + "    values_store(p, density - 1.0);\n";
    source(form, "open_mass", list(form, "read", "read", values, CELL, &body))
}
