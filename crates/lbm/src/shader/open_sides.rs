//! Populations at open sides: regularised, from density, velocity and stress (Latt 2008).

use std::fmt::Write;

use super::collision::collide;
use super::expressions::{TENSOR_COMPONENTS, dot_velocity, literal, sum_over_pairs};
use super::kernel_form::KernelForm;
use super::moments::declare_equilibrium;
use super::outlet::{declare_open_flow, store_outlet_flow};
use super::slots::store;
use super::walls::load_inside_lattice;
use crate::velocity_set::VelocitySet;

/// Replaces all populations of an open cell, and collides them.
pub(super) fn regularise_and_collide(form: &KernelForm) -> String {
    let set = form.set;
    let mut text = load_inside_lattice(form) + &declare_open_flow(set) + "    let excess = density - 1.0;\n";
    text += &declare_equilibrium(set);
    text += &declare_stress(set);
    text += "    let trace = (stress00 + stress11 + stress22) / 3.0;\n";
    _ = writeln!(text, "    g0 = eq0 - {} * trace;", literal(4.5 * set.weight(0)));
    for q in set.first_of_pairs() {
        let (next, weight, velocity) = (q + 1, set.weight(q), set.velocity(q));
        let [stress_weight, force_weight] = [4.5 * weight, 1.5 * weight].map(literal);
        let (stress, force) = (contract_stress(velocity), dot_velocity(velocity, "force"));
        _ = writeln!(text, "    let plus{q} = eq_plus{q} + {stress_weight} * ({stress} - trace);");
        _ = writeln!(text, "    let minus{q} = eq_minus{q} - {force_weight} * ({force});");
        _ = writeln!(text, "    g{q} = plus{q} + minus{q};\n    g{next} = plus{q} - minus{q};");
    }
    text + "    {\n" + &collide(form) + "    }\n" + &store_outlet_flow(set) + &store(form)
}

/// Declares the stress of the known populations; unknown populations count like their opposites.
fn declare_stress(set: VelocitySet) -> String {
    let mut text = String::new();
    for q in set.first_of_pairs() {
        let next = q + 1;
        _ = writeln!(
            text,
            "    let noneq{q} = g{q} - eq_plus{q} - eq_minus{q};\n    let noneq{next} = g{next} - eq_plus{q} + eq_minus{q};"
        );
        _ = writeln!(
            text,
            "    let both{q} = select(noneq{q}, noneq{next}, inward{q} > 0.0) + select(noneq{next}, noneq{q}, inward{next} > 0.0);"
        );
    }
    for (a, b) in TENSOR_COMPONENTS {
        let sum = sum_over_pairs(set, "both", |velocity| velocity[a] * velocity[b]);
        _ = writeln!(text, "    let stress{a}{b} = {};", sum.unwrap_or_else(|| "0.0".into()));
    }
    text
}

/// Stress contracted twice with a velocity.
fn contract_stress(velocity: [i64; 3]) -> String {
    let mut terms = Vec::new();
    for a in 0..3 {
        for b in a..3 {
            match (velocity[a] * velocity[b], a == b) {
                (0, _) => {}
                (_, true) => terms.push(format!("+ stress{a}{b}")),
                (1, false) => terms.push(format!("+ 2.0 * stress{a}{b}")),
                _ => terms.push(format!("- 2.0 * stress{a}{b}")),
            }
        }
    }
    terms.join(" ").trim_start_matches("+ ").to_owned()
}
