//! What happens to the populations of a cell in a step.

use std::fmt::Write;

use super::cumulant::cumulant;
use super::text::{FLOW, along, equilibrium, moments, number};
use crate::problem::Collision;
use crate::velocities::VelocitySet;

/// What happens to what has arrived; with `eddies`, with the viscosity of those that the lattice does not resolve.
pub fn collision(set: VelocitySet, collision: Collision, eddies: bool) -> String {
    match collision {
        Collision::Bgk | Collision::Trt { .. } => two_times(set, eddies),
        Collision::Cumulant => cumulant(eddies),
    }
}

/// Two relaxation times (Ginzburg 2008): `plus` for what the two of a pair have in common, `minus` for what they differ in;
/// with both alike it is BGK. With Guo's force. With `eddies` the viscosity grows with the strain (Smagorinsky).
fn two_times(set: VelocitySet, eddies: bool) -> String {
    let mut text = moments(set) + FLOW + &equilibrium(set);
    text += match eddies {
        false => "    let fast = plus;\n    let slow = minus;\n",
        true => "",
    };
    if eddies {
        text += &strain(set);
    }
    text += "    let pull = 3.0 * (u.x * force.x + u.y * force.y + u.z * force.z);\n    let keep = 1.0 - 0.5 * fast;\n    let keep_slow = 1.0 - 0.5 * slow;\n";
    _ = writeln!(text, "    g0 -= fast * (g0 - even0) + keep * ({} * pull);", number(set.weight(0)));
    for q in set.firsts() {
        let w = set.weight(q);
        _ = writeln!(text, "    let f{q} = {};", along(set.velocity(q), "force"));
        _ = writeln!(
            text,
            "    let a{q} = fast * (0.5 * s{q} - even{q}) - keep * ({} * (9.0 * u{q} * f{q} - pull));",
            number(w)
        );
        _ = writeln!(
            text,
            "    let b{q} = slow * (0.5 * d{q} - uneven{q}) - keep_slow * ({} * f{q});",
            number(3.0 * w)
        );
        _ = writeln!(text, "    g{q} -= a{q} + b{q};\n    g{} -= a{q} - b{q};", q + 1);
    }
    text
}

/// `fast` and `slow` with the viscosity of the eddies that the lattice does not resolve, from the stress of the cell itself.
pub fn strain(set: VelocitySet) -> String {
    let mut text = String::new();
    for q in set.firsts() {
        _ = writeln!(text, "    let n{q} = s{q} - 2.0 * even{q};");
    }
    let mut norm = Vec::new();
    for (a, b) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)] {
        let terms = set.firsts().map(|q| (set.velocity(q)[a] * set.velocity(q)[b], q)).filter(|&(c, _)| c != 0);
        let terms: Vec<_> = terms.map(|(c, q)| format!("{}n{q}", if c > 0 { "" } else { "-" })).collect();
        if !terms.is_empty() {
            _ = writeln!(text, "    let stress{a}{b} = {};", terms.join(" + ").replace("+ -", "- "));
            norm.push(format!("{} * stress{a}{b} * stress{a}{b}", if a == b { "1.0" } else { "2.0" }));
        }
    }
    _ = writeln!(text, "    let stress = sqrt({});", norm.join(" + "));
    // 18 √2 (C Δ)², with the constant as a parameter.
    text +=
        "    let time = 1.0 / plus;\n    let fast = 2.0 / (time + sqrt(time * time + eddies * stress / density));\n";
    text += "    let slow = 1.0 / (0.5 + magic / (1.0 / fast - 0.5));\n";
    text
}
