//! Cumulant collision of D3Q27 (Geier, Schönherr, Pasquali, Krafczyk 2015).
//!
//! * The second cumulants relax. A correction replaces the third moments that 27 velocities lack.
//! * All higher cumulants and the bulk viscosity above its minimum vanish in a collision.
//! * Populations that leave a cell have the moments of a Gaussian, and follow from them axis by
//!   axis.

use std::fmt::Write;

use super::eddy_viscosity::declare_eddy_rates;
use super::expressions::{AXES, TENSOR_COMPONENTS, literal, sum_over_pairs};
use super::moments::{DECLARE_FLOW, declare_equilibrium, declare_moments};
use crate::velocity_set::VelocitySet;

const SET: VelocitySet = VelocitySet::D3Q27;

/// Moments after the collision, from second central moments `k00`, `k01`, … before it.
const RELAX_MOMENTS: &str = "    let bulk = k00 + k11 + k22;
    let xy = k00 - k11;
    let xz = k00 - k22;
    let slope_x = (-0.5 / density) * (omega_plus * (xy + xz) + bulk);
    let slope_y = slope_x + (1.5 / density) * (omega_plus * xy);
    let slope_z = slope_x + (1.5 / density) * (omega_plus * xz);
    let stretch = RealVector(u.x * u.x * slope_x, u.y * u.y * slope_y, u.z * u.z * slope_z);
    let correction = (3.0 * density) * (1.0 - 0.5 * omega_plus);
    let after_xy = (1.0 - omega_plus) * xy - correction * (stretch.x - stretch.y);
    let after_xz = (1.0 - omega_plus) * xz - correction * (stretch.x - stretch.z);
    let after_bulk = (-1.5 * density) * (stretch.x + stretch.y + stretch.z);
    let third = 1.0 / 3.0;
    let inverse_density = 1.0 / density;
    let k200 = third + inverse_density * third * (after_bulk + after_xy + after_xz);
    let k020 = k200 - inverse_density * after_xy;
    let k002 = k200 - inverse_density * after_xz;
    let off_diagonal = inverse_density * (1.0 - omega_plus);
    let k110 = off_diagonal * k01;
    let k101 = off_diagonal * k02;
    let k011 = off_diagonal * k12;
    let k220 = k200 * k020 + 2.0 * k110 * k110;
    let k202 = k200 * k002 + 2.0 * k101 * k101;
    let k022 = k020 * k002 + 2.0 * k011 * k011;
    let k211 = k200 * k011 + 2.0 * k110 * k101;
    let k121 = k020 * k101 + 2.0 * k110 * k011;
    let k112 = k002 * k110 + 2.0 * k101 * k011;
    let k222 = k200 * k020 * k002 + 2.0 * (k200 * k011 * k011 + k020 * k101 * k101 + k002 * k110 * k110)
        + 8.0 * k110 * k101 * k011;
    let force_share = 0.5 * inverse_density;
    let mean = RealVector(u.x + force_share * force.x, u.y + force_share * force.y, u.z + force_share * force.z);
";

pub(super) fn collide_cumulants(has_eddies: bool) -> String {
    let mut text = declare_moments(SET) + DECLARE_FLOW;
    if has_eddies {
        text += &(declare_equilibrium(SET) + &declare_eddy_rates(SET));
    } else {
        text += "    let omega_plus = rate_plus;\n";
    }
    text += &declare_second_moments();
    text += RELAX_MOMENTS;
    text += &declare_populations();
    for q in 0..SET.count() {
        let [x, y, z] = SET.velocity(q).map(|c| c + 1);
        _ = writeln!(text, "    g{q} = density * x{x}{y}{z} - {};", literal(SET.weight(q)));
    }
    text
}

/// Declares the second central moments; on the diagonal, their excess over the fluid at rest.
fn declare_second_moments() -> String {
    let mut text = String::new();
    for (a, b) in TENSOR_COMPONENTS {
        let sum = sum_over_pairs(SET, "sum", |velocity| velocity[a] * velocity[b]).unwrap_or_default();
        let rest = if a == b { " - excess / 3.0" } else { "" };
        let [x, y] = [AXES[a], AXES[b]];
        _ = writeln!(
            text,
            "    let k{a}{b} = ({sum}){rest} - density * (u.{x} * u.{y}) + 0.5 * (u.{x} * force.{y} + u.{y} * force.{x});"
        );
    }
    text
}

/// Converts the central moments along z, then y, then x: `z…`, `y…`, and populations per density
/// `x…`.
fn declare_populations() -> String {
    let mut text = String::new();
    for a in 0..3 {
        for b in 0..3 {
            let names = [0, 1, 2].map(|c| format!("z{a}{b}{c}"));
            text += &convert_line('z', &names, [0, 1, 2].map(|c| gaussian_moment([a, b, c])));
        }
    }
    for a in 0..3 {
        for c in 0..3 {
            let names = [0, 1, 2].map(|b| format!("y{a}{b}{c}"));
            text += &convert_line('y', &names, [0, 1, 2].map(|b| Some(format!("z{a}{b}{c}"))));
        }
    }
    for b in 0..3 {
        for c in 0..3 {
            let names = [0, 1, 2].map(|a| format!("x{a}{b}{c}"));
            text += &convert_line('x', &names, [0, 1, 2].map(|a| Some(format!("y{a}{b}{c}"))));
        }
    }
    text
}

/// Central moment of the Gaussian; `None` for odd orders, which are zero.
fn gaussian_moment(orders: [usize; 3]) -> Option<String> {
    let [a, b, c] = orders;
    match a + b + c {
        0 => Some("1.0".into()),
        order if order % 2 == 0 => Some(format!("k{a}{b}{c}")),
        _ => None,
    }
}

/// Declares the populations of the velocities -1, 0 and 1 along an axis, from central moments of
/// the orders 0, 1 and 2.
fn convert_line(axis: char, names: &[String; 3], [zero, one, two]: [Option<String>; 3]) -> String {
    let ([low, rest, high], mean) = (names, format!("mean.{axis}"));
    let sum = |terms: Vec<Option<String>>| {
        let terms: Vec<String> = terms.into_iter().flatten().collect();
        if terms.is_empty() { "0.0".to_owned() } else { terms.join(" + ") }
    };
    let zeroth = zero.clone().unwrap_or("0.0".into());
    let first = sum(vec![one.clone(), zero.clone().map(|k| format!("{mean} * {k}"))]);
    let second =
        sum(vec![two, one.map(|k| format!("2.0 * {mean} * {k}")), zero.map(|k| format!("{mean} * {mean} * {k}"))]);
    format!(
        "    let first_{low} = {first};
    let second_{low} = {second};
    let {low} = 0.5 * (second_{low} - first_{low});
    let {rest} = {zeroth} - second_{low};
    let {high} = 0.5 * (second_{low} + first_{low});
"
    )
}
