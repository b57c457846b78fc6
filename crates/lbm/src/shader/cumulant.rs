//! The cumulant collision of D3Q27 (Geier, Schönherr, Pasquali, Krafczyk 2015).
//!
//! The second cumulants relax, with the terms that make up for the third moments that 27 velocities do not have; all higher
//! ones are gone after a collision, and so is what bulk viscosity there is beyond the least. What leaves a cell then has the
//! moments of a Gaussian, from which its populations follow axis by axis.

use std::fmt::Write;

use super::collide::strain;
use super::text::{AXES, FLOW, equilibrium, moments, number};
use crate::velocities::VelocitySet;

const SET: VelocitySet = VelocitySet::D3Q27;

/// A collision with the viscosity of the rate `plus`; with `eddies`, Smagorinsky's too.
pub fn cumulant(eddies: bool) -> String {
    let mut text = moments(SET) + FLOW;
    text += &match eddies {
        true => equilibrium(SET) + &strain(SET),
        false => "    let fast = plus;\n".into(),
    };
    // Second moments about the velocity, of the diagonal ones what they are beyond those at rest.
    for (a, b) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)] {
        let terms = SET.firsts().map(|q| (SET.velocity(q)[a] * SET.velocity(q)[b], q)).filter(|&(c, _)| c != 0);
        let terms: Vec<_> = terms.map(|(c, q)| format!("{}s{q}", if c > 0 { "" } else { "-" })).collect();
        let sum = terms.join(" + ").replace("+ -", "- ");
        let rest = if a == b { " - excess / 3.0" } else { "" };
        _ = writeln!(
            text,
            "    let k{a}{b} = ({sum}){rest} - density * (u.{x} * u.{y}) + 0.5 * (u.{x} * force.{y} + u.{y} * force.{x});",
            x = AXES[a],
            y = AXES[b],
        );
    }
    text += "    let bulk = k00 + k11 + k22;
    let xy = k00 - k11;
    let xz = k00 - k22;
    let slope_x = (-0.5 / density) * (fast * (xy + xz) + bulk);
    let slope_y = slope_x + (1.5 / density) * (fast * xy);
    let slope_z = slope_x + (1.5 / density) * (fast * xz);
    let stretch = Triple(u.x * u.x * slope_x, u.y * u.y * slope_y, u.z * u.z * slope_z);
    let missing = (3.0 * density) * (1.0 - 0.5 * fast);
    let after_xy = (1.0 - fast) * xy - missing * (stretch.x - stretch.y);
    let after_xz = (1.0 - fast) * xz - missing * (stretch.x - stretch.z);
    let after = (-1.5 * density) * (stretch.x + stretch.y + stretch.z);
    let third = 1.0 / 3.0;
    let inverse = 1.0 / density;
    let xx = third + inverse * third * (after + after_xy + after_xz);
    let yy = xx - inverse * after_xy;
    let zz = xx - inverse * after_xz;
    let off = inverse * (1.0 - fast);
    let k110 = off * k01;
    let k101 = off * k02;
    let k011 = off * k12;
    let k220 = xx * yy + 2.0 * k110 * k110;
    let k202 = xx * zz + 2.0 * k101 * k101;
    let k022 = yy * zz + 2.0 * k011 * k011;
    let k211 = xx * k011 + 2.0 * k110 * k101;
    let k121 = yy * k101 + 2.0 * k110 * k011;
    let k112 = zz * k110 + 2.0 * k101 * k011;
    let k222 = xx * yy * zz + 2.0 * (xx * k011 * k011 + yy * k101 * k101 + zz * k110 * k110)
        + 8.0 * k110 * k101 * k011;
    let share = 0.5 * inverse;
    let mean = Triple(u.x + share * force.x, u.y + share * force.y, u.z + share * force.z);
";
    let known = |powers: [usize; 3]| -> Option<String> {
        Some(match powers {
            [0, 0, 0] => "1.0".into(),
            [2, 0, 0] => "xx".into(),
            [0, 2, 0] => "yy".into(),
            [0, 0, 2] => "zz".into(),
            [a, b, c] if (a + b + c) % 2 == 0 => format!("k{a}{b}{c}"),
            _ => return None,
        })
    };
    // Along each axis three moments about the mean become three populations: of z, then y, then x.
    for a in 0..3 {
        for b in 0..3 {
            let names = [0, 1, 2].map(|c| format!("z{a}{b}{c}"));
            text += &line("z", &names, [known([a, b, 0]), known([a, b, 1]), known([a, b, 2])]);
        }
    }
    for a in 0..3 {
        for c in 0..3 {
            let names = [0, 1, 2].map(|b| format!("y{a}{b}{c}"));
            text += &line("y", &names, [0, 1, 2].map(|b| Some(format!("z{a}{b}{c}"))));
        }
    }
    for b in 0..3 {
        for c in 0..3 {
            let names = [0, 1, 2].map(|a| format!("x{a}{b}{c}"));
            text += &line("x", &names, [0, 1, 2].map(|a| Some(format!("y{a}{b}{c}"))));
        }
    }
    for q in 0..SET.count() {
        let [x, y, z] = SET.velocity(q).map(|c| c + 1);
        _ = writeln!(text, "    g{q} = density * x{x}{y}{z} - {};", number(SET.weight(q)));
    }
    text
}

/// Populations of the velocities -1, 0 and 1 along an axis, from the moments about the mean of orders 0, 1 and 2.
fn line(axis: &str, names: &[String; 3], [zero, one, two]: [Option<String>; 3]) -> String {
    let (id, mean) = (&names[0], format!("mean.{axis}"));
    let sum = |terms: Vec<Option<String>>| {
        let terms: Vec<String> = terms.into_iter().flatten().collect();
        if terms.is_empty() { "0.0".to_owned() } else { terms.join(" + ") }
    };
    let none = zero.clone().unwrap_or("0.0".into());
    let first = sum(vec![one.clone(), zero.clone().map(|k| format!("{mean} * {k}"))]);
    let second =
        sum(vec![two, one.map(|k| format!("2.0 * {mean} * {k}")), zero.map(|k| format!("{mean} * {mean} * {k}"))]);
    format!(
        "    let first_{id} = {first};\n    let second_{id} = {second};\n    let {} = 0.5 * (second_{id} - first_{id});\n    \
         let {} = {none} - second_{id};\n    let {} = 0.5 * (second_{id} + first_{id});\n",
        names[0], names[1], names[2]
    )
}
