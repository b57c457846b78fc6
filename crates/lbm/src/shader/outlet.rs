//! Density and velocity at open sides.
//!
//! **Outlets** are characteristic (after Izquierdo and Fueyo 2008). Invariants separate sound waves
//! from the flow. The incoming invariant, the velocity of the inner neighbour without the outgoing
//! sound wave, is advected with the flow: each step moves it towards the value of the inner
//! neighbour. The cell stores it in the otherwise unused slots towards the wall beyond the outlet,
//! and reads it back two steps later. Fluid leaves faster than the invariant by the velocity of an
//! outgoing sound wave with the density of the cell, so waves are not reflected. A slow term
//! restores the density of the side.

use std::fmt::Write;

use super::expressions::{dot_velocity, literal};
use crate::velocity_set::VelocitySet;

/// Declares `density`, `u` and `mean` (the mean normal velocity of an outlet) of an open cell, and
/// for each population the component `inward1` of its velocity along the normal. Velocity or
/// density is given; the other follows from the populations that leave or move along the side.
pub(super) fn declare_open_flow(set: VelocitySet) -> String {
    let mut text = String::from("    var known = g0;\n");
    for q in 1..set.count() {
        _ = writeln!(text, "    let inward{q} = {};", dot_velocity(set.velocity(q), "boundary_cell.normal"));
        _ = writeln!(text, "    known += select(select(0.0, 2.0 * g{q}, inward{q} < 0.0), g{q}, inward{q} == 0.0);");
    }
    text += "    known -= 0.5 * dot(force, boundary_cell.normal.xyz);
    var u = boundary_cell.flow.xyz;
    var density = boundary_cell.flow.w;
    var mean = 0.0;
    if kind == OPEN_OUTLET {
";
    text += &advect_outlet_flow(set);
    text + "    }
    if kind == OPEN_PRESSURE || kind == OPEN_OUTLET {
        u += ((density - 1.0 - known) / density - dot(u, boundary_cell.normal.xyz)) * boundary_cell.normal.xyz;
    } else {
        density = (1.0 + known) / (1.0 - dot(u, boundary_cell.normal.xyz));
    }
"
}

fn advect_outlet_flow(set: VelocitySet) -> String {
    let mut text =
        String::from("        var stored_sum = 0.0;\n        var stored_moment = vec3<f32>(0.0, 0.0, 0.0);\n");
    for q in 1..set.count() {
        let [x, y, z] = set.velocity(q).map(|c| c as f32);
        _ = writeln!(text, "        let stored{q} = select(0.0, g{q}, inward{q} > 0.0);");
        _ = writeln!(
            text,
            "        stored_sum += stored{q};\n        stored_moment += stored{q} * vec3<f32>({x:?}, {y:?}, {z:?});"
        );
    }
    // The slots of a side across x stand for all sides.
    let stored: Vec<usize> = (1..set.count()).filter(|&q| set.velocity(q)[0] > 0).collect();
    let count = stored.len();
    let square: i64 = stored.iter().map(|&q| set.velocity(q)[1].pow(2)).sum();
    let sound = literal(1.0 / 3.0_f64.sqrt());
    _ = writeln!(
        text,
        "        let normal = boundary_cell.normal.xyz;
        let wanted_density = boundary_cell.normal.w;
        let is_starting = parameters.is_starting == 1;
        let speed = 2.0 * clamp(-dot(u, normal), 0.0, 1.0);
        let stored_flow = (stored_sum / {count}.0) * normal + (stored_moment - dot(stored_moment, normal) * normal) / {square}.0;
        let previous = select(stored_flow, u, is_starting);
        let sound = {sound};
        let wave = select(sound * (density - wanted_density), 0.0, is_starting);
        u = (previous + speed * (u + wave * normal)) / (1.0 + speed) - parameters.restoring_factor * wave * normal;
        mean = dot(u, normal);
        let half = 0.5 * (1.0 - mean - sound * wanted_density);
        density = (sqrt(half * half + sound * (1.0 + known)) - half) / sound;"
    );
    text
}

/// Replaces the populations towards the wall beyond an outlet by the invariant of the next steps.
pub(super) fn store_outlet_flow(set: VelocitySet) -> String {
    let mut text =
        String::from("    if kind == OPEN_OUTLET {\n        let through = dot(u, boundary_cell.normal.xyz);\n");
    for q in 1..set.count() {
        let dot = dot_velocity(set.velocity(q), "u");
        _ = writeln!(text, "        g{q} = select(g{q}, mean - ({dot}) - through, inward{q} < 0.0);");
    }
    text + "    }\n"
}
