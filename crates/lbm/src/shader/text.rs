//! Pieces of WGSL for one set of velocities, with a statement for each population: software adapters like straight lines.
//!
//! Populations are shifted: `g3` is what population 3 has beyond its weight, so that a fluid at rest is zero everywhere and
//! small flows keep their digits.

use std::fmt::Write;

use super::Form;
use crate::velocities::VelocitySet;

/// A component of a vector in WGSL.
pub const AXES: [char; 3] = ['x', 'y', 'z'];

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

/// Where the populations are that arrive at cell `p`: `at`, `i1`, `p1`, …
///
/// Esoteric-Pull (Lehmann 2022): of a pair, one population lies at the cell itself, and the other at the neighbour from
/// which it comes. Which of the two slots of the pair that is changes from step to step, with `odd`. Slots are counted in
/// the variable itself, as a chunk is one binding: a helper would look at four axes for each of them.
pub fn slots(form: &Form) -> String {
    let mut text = String::from("    let own = 1 - odd;\n    let zero = i32(f_index(vec4<i32>(0, 0, 0, 0)));\n");
    let next = ["along_y", "along_z", "slot"].into_iter().zip(["0, 1, 0, 0", "0, 0, 1, 0", "0, 0, 0, 1"]);
    for (k, (name, place)) in next.enumerate() {
        _ = match form.strides {
            Some(strides) => writeln!(text, "    let {name} = {};", strides[k]),
            None => writeln!(text, "    let {name} = i32(f_index(vec4<i32>({place}))) - zero;"),
        };
    }
    text += "    let at = zero + p.x + p.y * along_y + p.z * along_z;
    let here = at + own * slot;
    let there = at + odd * slot;
";
    for q in form.set.firsts() {
        let [x, y, z] = form.set.velocity(q);
        let mut offset = format!("{q} * slot");
        for (c, name) in [(x, "1"), (y, "along_y"), (z, "along_z")] {
            match c {
                0 => {}
                1 => offset += &format!(" + {name}"),
                _ => offset += &format!(" - {name}"),
            }
        }
        _ = writeln!(text, "    let i{q} = here + {q} * slot;\n    let p{q} = there + {offset};");
    }
    if let Some(axis) = form.fold {
        let axis = AXES[axis];
        _ = writeln!(text, "    let up = p.{axis} == parameters.last;\n    let down = p.{axis} == parameters.first;");
    }
    text
}

/// The half of a word in which a cell's populations are, and those of the cells above and below it
/// along the fold.
pub fn lanes(form: &Form) -> &'static str {
    match form.fold {
        None => "",
        Some(_) => {
            "    let lane = parameters.lane;
    let above = select(lane, 1 - lane, up);
    let below = select(lane, 1 - lane, down);
"
        }
    }
}

/// Reads the populations that arrive at cell `p`, into `g0`, `g1`, …
pub fn load(form: &Form) -> String {
    let mut text = slots(form);
    let read = |at: String, lane: &str| match form.fold {
        None => format!("f[{at}]"),
        Some(_) => format!("half(f[{at}], {lane})"),
    };
    text += lanes(form);
    _ = writeln!(text, "    var g0 = {};", read("at".into(), "lane"));
    for q in form.set.firsts() {
        _ = writeln!(text, "    var g{q} = {};", read(format!("i{q}"), "lane"));
        _ = writeln!(
            text,
            "    var g{} = {};",
            q + 1,
            read(format!("p{q}"), form.across(q, ["lane", "above", "below"]))
        );
    }
    text
}

/// Writes the populations that leave cell `p`, each to the slot that its opposite came from.
pub fn store(form: &Form) -> String {
    place(form, |q| q + 1, |q| q)
}

/// Writes populations to where [`load`] finds them, as at the beginning of a run.
pub fn begin(form: &Form) -> String {
    slots(form) + lanes(form) + &place(form, |q| q, |q| q + 1)
}

/// Writes one population of each pair to the cell, and the other one to its neighbour.
fn place(form: &Form, own: impl Fn(usize) -> usize, other: impl Fn(usize) -> usize) -> String {
    let write = |at: String, lane: &str, q: usize| match form.fold {
        None => format!("    f[{at}] = g{q};\n"),
        Some(_) => format!("    f[{at}] = with_half(f[{at}], {lane}, g{q}, chance(seed, {q}u));\n"),
    };
    let mut text = seed(form).to_owned() + &write("at".into(), "lane", 0);
    for q in form.set.firsts() {
        text += &write(format!("p{q}"), form.across(q, ["lane", "above", "below"]), other(q));
        text += &write(format!("i{q}"), "lane", own(q));
    }
    text
}

/// What chance begins with, for a word and a step.
fn seed(form: &Form) -> &'static str {
    if form.fold.is_some() { "    let seed = seed_of(p);\n" } else { "" }
}

/// [`load`] of both cells of a word at once, with the words as they were in `w0`, `w1`, …
pub fn load_two(form: &Form) -> String {
    let mut text = slots(form) + "    let w0 = f[at];\n    var g0 = two(w0);\n";
    for q in form.set.firsts() {
        let next = q + 1;
        let there = match form.across(q, ["", "up", "down"]) {
            "" => format!("f[p{q}]"),
            turned => format!("turned(f[p{q}], {turned})"),
        };
        _ = writeln!(text, "    let w{q} = f[i{q}];\n    let w{next} = {there};");
        _ = writeln!(text, "    var g{q} = two(w{q});\n    var g{next} = two(w{next});");
    }
    text
}

/// [`store`] of both cells of a word, of which `mask` has the bits of those that have collided.
pub fn store_two(form: &Form) -> String {
    let mut text = seed(form).to_owned() + "    f[at] = merged(w0, g0, mask, chance(seed, 0u));\n";
    for q in form.set.firsts() {
        let next = q + 1;
        let there = match form.across(q, ["", "up", "down"]) {
            "" => format!("merged(w{next}, g{q}, mask, chance(seed, {q}u))"),
            turn => format!("turned(merged(w{next}, g{q}, mask, chance(seed, {q}u)), {turn})"),
        };
        _ = writeln!(text, "    f[p{q}] = {there};\n    f[i{q}] = merged(w{q}, g{next}, mask, chance(seed, {next}u));");
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
        if text.is_empty() { "Real(0.0)".into() } else { text.join(" + ").replace("+ -", "- ") }
    });
    _ = writeln!(text, "    let momentum = Triple({},\n        {},\n        {});", axes[0], axes[1], axes[2]);
    text
}

/// Density and velocity from the moments; half of the force belongs to the velocity (Guo 2002).
pub const FLOW: &str = "    let density = 1.0 + excess;
    let u = Triple((momentum.x + 0.5 * force.x) / density, (momentum.y + 0.5 * force.y) / density,
        (momentum.z + 0.5 * force.z) / density);
";

/// The equilibrium of each pair: `even1` of both, `uneven1` of the first and its negative of the second; `even0` of the
/// rest. Of `density`, `excess` and `u`.
pub fn equilibrium(set: VelocitySet) -> String {
    let mut text = String::from("    let base = excess - density * (1.5 * (u.x * u.x + u.y * u.y + u.z * u.z));\n");
    _ = writeln!(text, "    let even0 = {} * base;", number(set.weight(0)));
    for q in set.firsts() {
        let w = set.weight(q);
        _ = writeln!(text, "    let u{q} = {};", along(set.velocity(q), "u"));
        _ = writeln!(text, "    let even{q} = {} * (base + (4.5 * density) * (u{q} * u{q}));", number(w));
        _ = writeln!(text, "    let uneven{q} = {} * (density * u{q});", number(3.0 * w));
    }
    text
}
