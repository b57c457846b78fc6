//! Pieces of WGSL for one set of velocities, with a statement for each population: software adapters like straight lines.
//!
//! Populations are shifted: `g3` is what population 3 has beyond its weight, so that a fluid at rest is zero everywhere and
//! small flows keep their digits.

use std::fmt::Write;

use crate::velocities::VelocitySet;

/// A component of a vector in WGSL.
const AXES: [char; 3] = ['x', 'y', 'z'];

/// `c · name`, as sums of components: `u.x - u.y`.
pub fn along(c: [i64; 3], name: &str) -> String {
    let mut text = String::new();
    for (axis, &c) in AXES.iter().zip(&c) {
        match (c, text.is_empty()) {
            (0, _) => {}
            (1, true) => _ = write!(text, "{name}.{axis}"),
            (1, false) => _ = write!(text, " + {name}.{axis}"),
            (_, true) => _ = write!(text, "-{name}.{axis}"),
            (_, false) => _ = write!(text, " - {name}.{axis}"),
        }
    }
    text
}

/// A number as WGSL has it.
pub fn number(value: f64) -> String {
    format!("{:?}", value as f32)
}

/// `vec3<i32>(1, -1, 0)`.
fn vector(c: [i64; 3]) -> String {
    format!("vec3<i32>({}, {}, {})", c[0], c[1], c[2])
}

/// Reads the populations that arrive at cell `p`, into `g0`, `g1`, …
///
/// Esoteric-Pull (Lehmann 2022): of a pair, one population lies at the cell itself, and the other at the neighbour from
/// which it comes. Which of the two slots of the pair that is changes from step to step, with `odd`. Slots are counted in
/// the variable itself, as a chunk is one binding: a helper would look at four axes for each of them.
pub fn load(set: VelocitySet) -> String {
    let mut text = String::from(
        "    let own = 1 - odd;
    let zero = i32(f_index(vec4<i32>(0, 0, 0, 0)));
    let along_y = i32(f_index(vec4<i32>(0, 1, 0, 0))) - zero;
    let along_z = i32(f_index(vec4<i32>(0, 0, 1, 0))) - zero;
    let slot = i32(f_index(vec4<i32>(0, 0, 0, 1))) - zero;
    let at = zero + p.x + p.y * along_y + p.z * along_z;
    let here = at + own * slot;
    let there = at + odd * slot;
    var g0 = f[at];
",
    );
    for q in set.firsts() {
        let [x, y, z] = set.velocity(q);
        let mut offset = format!("{q} * slot");
        for (c, name) in [(x, "1"), (y, "along_y"), (z, "along_z")] {
            match c {
                0 => {}
                1 => offset += &format!(" + {name}"),
                _ => offset += &format!(" - {name}"),
            }
        }
        _ = writeln!(text, "    let i{q} = here + {q} * slot;");
        _ = writeln!(text, "    let p{q} = there + {offset};");
        _ = writeln!(text, "    var g{q} = f[i{q}];");
        _ = writeln!(text, "    var g{} = f[p{q}];", q + 1);
    }
    text
}

/// Writes the populations that leave cell `p`, each to the slot that its opposite came from.
pub fn store(set: VelocitySet) -> String {
    let mut text = String::from("    f[at] = g0;\n");
    for q in set.firsts() {
        _ = writeln!(text, "    f[p{q}] = g{q};");
        _ = writeln!(text, "    f[i{q}] = g{};", q + 1);
    }
    text
}

/// Writes populations to where [`load`] finds them, as at the beginning of a run.
pub fn place(set: VelocitySet) -> String {
    let mut text = String::from("    let own = 1 - odd;\n    f_store(vec4<i32>(p, 0), g0);\n");
    for q in set.firsts() {
        _ = writeln!(text, "    f_store(vec4<i32>(p, {q} + own), g{q});");
        _ = writeln!(text, "    f_store(vec4<i32>(p + {}, {q} + odd), g{});", vector(set.velocity(q)), q + 1);
    }
    text
}

/// The sum and the difference of each pair, `s1` and `d1`, …; from them what the cell has beyond density 1, `excess`,
/// and its `momentum`.
pub fn moments(set: VelocitySet) -> String {
    let mut text = String::new();
    for q in set.firsts() {
        _ = writeln!(text, "    let s{q} = g{q} + g{};\n    let d{q} = g{q} - g{};", q + 1, q + 1);
    }
    let sums: Vec<_> = set.firsts().map(|q| format!("s{q}")).collect();
    _ = writeln!(text, "    let excess = g0 + ({});", sums.join(" + "));
    let axes = [0, 1, 2].map(|axis| {
        let terms = set.firsts().map(|q| (set.velocity(q)[axis], q)).filter(|&(c, _)| c != 0);
        let text: Vec<_> = terms.map(|(c, q)| format!("{}d{q}", if c > 0 { "" } else { "-" })).collect();
        if text.is_empty() { "0.0".into() } else { text.join(" + ").replace("+ -", "- ") }
    });
    _ = writeln!(text, "    let momentum = vec3<f32>({},\n        {},\n        {});", axes[0], axes[1], axes[2]);
    text
}

/// Density and velocity from the moments; half of the force belongs to the velocity (Guo 2002).
pub const FLOW: &str = "    let density = 1.0 + excess;\n    let u = (momentum + 0.5 * force) / density;\n";

/// The equilibrium of each pair: `even1` of both, `uneven1` of the first and its negative of the second; `even0` of the
/// rest. Of `density`, `excess` and `u`.
pub fn equilibrium(set: VelocitySet) -> String {
    let mut text = String::from("    let base = excess - density * (1.5 * dot(u, u));\n");
    _ = writeln!(text, "    let even0 = {} * base;", number(set.weight(0)));
    for q in set.firsts() {
        let w = set.weight(q);
        _ = writeln!(text, "    let u{q} = {};", along(set.velocity(q), "u"));
        _ = writeln!(text, "    let even{q} = {} * (base + (4.5 * density) * (u{q} * u{q}));", number(w));
        _ = writeln!(text, "    let uneven{q} = {} * (density * u{q});", number(3.0 * w));
    }
    text
}
