//! Collision operators in WGSL.

use std::fmt::Write;

use super::cumulant::collide_cumulants;
use super::eddy_viscosity::declare_eddy_rates;
use super::expressions::{dot_velocity, literal};
use super::kernel_form::KernelForm;
use super::moments::{DECLARE_FLOW, declare_equilibrium, declare_moments};
use crate::collision::Collision;
use crate::velocity_set::VelocitySet;

/// Replaces the arrived populations `g0`, `g1`, … by the populations after the collision.
pub(super) fn collide(form: &KernelForm) -> String {
    match form.collision {
        Collision::Bgk | Collision::Trt { .. } => collide_two_rates(form.set, form.has_eddies),
        Collision::Cumulant => collide_cumulants(form.has_eddies),
    }
}

/// Collision with two relaxation rates (Ginzburg 2008) and Guo's force: `omega_plus` for the
/// symmetric part of each pair, `omega_minus` for the antisymmetric part. Equal rates are BGK.
fn collide_two_rates(set: VelocitySet, has_eddies: bool) -> String {
    let mut text = declare_moments(set) + DECLARE_FLOW + &declare_equilibrium(set);
    if has_eddies {
        text += &declare_eddy_rates(set);
    } else {
        text += "    let omega_plus = rate_plus;\n    let omega_minus = rate_minus;\n";
    }
    text += "    let force_u = 3.0 * (u.x * force.x + u.y * force.y + u.z * force.z);
    let force_factor_plus = 1.0 - 0.5 * omega_plus;
    let force_factor_minus = 1.0 - 0.5 * omega_minus;
";
    let rest_weight = literal(set.weight(0));
    _ = writeln!(text, "    g0 -= omega_plus * (g0 - eq0) + force_factor_plus * ({rest_weight} * force_u);");
    for q in set.first_of_pairs() {
        let weight = set.weight(q);
        let [plus_weight, minus_weight] = [weight, 3.0 * weight].map(literal);
        _ = writeln!(text, "    let cf{q} = {};", dot_velocity(set.velocity(q), "force"));
        _ = writeln!(
            text,
            "    let change_plus{q} = omega_plus * (0.5 * sum{q} - eq_plus{q}) - force_factor_plus * ({plus_weight} * (9.0 * cu{q} * cf{q} - force_u));"
        );
        _ = writeln!(
            text,
            "    let change_minus{q} = omega_minus * (0.5 * difference{q} - eq_minus{q}) - force_factor_minus * ({minus_weight} * cf{q});"
        );
        let next = q + 1;
        _ = writeln!(
            text,
            "    g{q} -= change_plus{q} + change_minus{q};\n    g{next} -= change_plus{q} - change_minus{q};"
        );
    }
    text
}
