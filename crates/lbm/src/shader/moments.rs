//! Moments of populations, and the equilibrium.

use std::fmt::Write;

use super::expressions::{dot_velocity, literal, sum_over_pairs};
use crate::velocity_set::VelocitySet;

/// Declares the sum and the difference of each pair (`sum1`, `difference1`, …), the density minus 1
/// (`excess`) and the momentum (`momentum`).
pub(super) fn declare_moments(set: VelocitySet) -> String {
    let mut text = String::new();
    for q in set.first_of_pairs() {
        let next = q + 1;
        _ = writeln!(text, "    let sum{q} = g{q} + g{next};\n    let difference{q} = g{q} - g{next};");
    }
    let sums: Vec<_> = set.first_of_pairs().map(|q| format!("sum{q}")).collect();
    _ = writeln!(text, "    let excess = g0 + ({});", sums.join(" + "));
    let [x, y, z] = [0, 1, 2].map(|axis| {
        let component = sum_over_pairs(set, "difference", |velocity| velocity[axis]);
        component.unwrap_or_else(|| "Real(0.0)".into())
    });
    _ = writeln!(text, "    let momentum = RealVector({x},\n        {y},\n        {z});");
    text
}

/// Declares density and velocity from the moments; the velocity includes half of the force (Guo
/// 2002).
pub(super) const DECLARE_FLOW: &str = "    let density = 1.0 + excess;
    let u = RealVector((momentum.x + 0.5 * force.x) / density, (momentum.y + 0.5 * force.y) / density,
        (momentum.z + 0.5 * force.z) / density);
";

/// Declares the equilibrium of `density`, `excess` and `u`: `eq0`, and for each pair the symmetric
/// part `eq_plus1`, the antisymmetric part `eq_minus1`, and `cu1` = c · u.
pub(super) fn declare_equilibrium(set: VelocitySet) -> String {
    let mut text = String::from("    let base = excess - density * (1.5 * (u.x * u.x + u.y * u.y + u.z * u.z));\n");
    _ = writeln!(text, "    let eq0 = {} * base;", literal(set.weight(0)));
    for q in set.first_of_pairs() {
        let weight = set.weight(q);
        _ = writeln!(text, "    let cu{q} = {};", dot_velocity(set.velocity(q), "u"));
        _ = writeln!(text, "    let eq_plus{q} = {} * (base + (4.5 * density) * (cu{q} * cu{q}));", literal(weight));
        _ = writeln!(text, "    let eq_minus{q} = {} * (density * cu{q});", literal(3.0 * weight));
    }
    text
}
