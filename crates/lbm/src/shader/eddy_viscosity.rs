//! Viscosity of turbulence below the cell size (Smagorinsky).

use std::fmt::Write;

use super::expressions::{TENSOR_COMPONENTS, sum_over_pairs};
use crate::velocity_set::VelocitySet;

/// Declares the rates `omega_plus` and `omega_minus` with the eddy viscosity of the local stress.
/// The parameter `eddy_factor` is 18 √2 (C Δ)².
pub(super) fn declare_eddy_rates(set: VelocitySet) -> String {
    let mut text = String::new();
    for q in set.first_of_pairs() {
        _ = writeln!(text, "    let noneq{q} = sum{q} - 2.0 * eq_plus{q};");
    }
    let mut squares = Vec::new();
    for (a, b) in TENSOR_COMPONENTS {
        if let Some(sum) = sum_over_pairs(set, "noneq", |velocity| velocity[a] * velocity[b]) {
            let factor = if a == b { "1.0" } else { "2.0" };
            _ = writeln!(text, "    let stress{a}{b} = {sum};");
            squares.push(format!("{factor} * stress{a}{b} * stress{a}{b}"));
        }
    }
    _ = writeln!(text, "    let stress = sqrt({});", squares.join(" + "));
    text + "    let time = 1.0 / rate_plus;
    let omega_plus = 2.0 / (time + sqrt(time * time + eddy_factor * stress / density));
    let omega_minus = 1.0 / (0.5 + magic / (1.0 / omega_plus - 0.5));
"
}
