//! Cells that do not collide like the others: walls that move, free-slip sides, and open sides.
//!
//! A wall at rest has nothing to do: where a solid cell leaves its slots alone, what flew into it comes back from it two
//! steps later, as it does from a cell that reflects; the wall stands half-way between the two cells.
//!
//! A wall without this delay would need both slots of a pair at one cell, and exchanges would
//! return slots that a chunk never wrote. Populations in solid cells count as mass of the cell that
//! sent them.
//!
//! A cell beyond a free-slip side is the image of the cell before it: solid next to a solid cell,
//! else a mirror. After all fluid cells have made their step, a kernel copies the populations that
//! have left the cell, turned around, to the slots where the image would have left them. The kernel
//! reads slots of fluid cells and writes slots of images, so the order of invocations does not
//! matter. One part of the cut holds both layers, so no exchange comes between.

use std::fmt::Write;

use super::Form;
use super::collide::collision;
use super::text::{along, equilibrium, lanes, load, number, slots, store};
use crate::cell::{OUTLET, PRESSURE};
use crate::velocities::VelocitySet;

/// The populations of a border's cell; those that would come from beyond the lattice are zero.
fn arrived(form: &Form) -> String {
    let mut text = load(form);
    for q in 1..form.set.count() {
        _ = writeln!(text, "    g{q} = select(g{q}, 0.0, (border.beyond & {}u) != 0u);", 1_u32 << q);
    }
    text
}

/// What comes from the fluid goes back with what the wall gives it (Ladd 1994).
pub fn moving(form: &Form) -> String {
    let (set, mut text) = (form.set, arrived(form));
    for q in set.firsts() {
        _ = writeln!(
            text,
            "        let push{q} = {} * ({});",
            number(6.0 * set.weight(q)),
            along(set.velocity(q), "border.flow")
        );
        let link = |q: usize| format!("select(0.0, push{}, (border.links & {}u) != 0u)", (q - 1) | 1, 1_u32 << q);
        _ = writeln!(
            text,
            "        let back{q} = g{next} + {first};\n        g{next} = g{q} - {second};\n        g{q} = back{q};",
            next = q + 1,
            first = link(q + 1),
            second = link(q),
        );
    }
    text + &store(form)
}

/// Populations that leave an image: those that have left the cell that it shows, at `p`, turned
/// around across the mirror. Half-way specular reflection: a population that leaves cell *x*
/// towards a mirror arrives at *x + t* in the same step, where *t* is the part of its velocity
/// along the mirror. The slots that are read belong to cells with fluid in this step, and those
/// that are written to images, so that invocations do not meet.
pub fn mirror(form: &Form) -> String {
    let (set, mut text) = (form.set, load(form));
    let swap = |text: &mut String, one: usize, other: usize| {
        _ = writeln!(
            text,
            "            let h{one} = g{one};\n            g{one} = g{other};\n            g{other} = h{one};"
        );
    };
    // After a step a slot holds the population opposite to the one that arrived in it.
    text += "        {\n";
    set.firsts().for_each(|q| swap(&mut text, q, q + 1));
    text += "        }\n";
    for axis in 0..set.axes() {
        _ = writeln!(text, "        if (border.mirrored & {}u) != 0u {{", 1 << axis);
        for q in 1..set.count() {
            let mut c = set.velocity(q);
            if c[axis] > 0 {
                c[axis] = -c[axis];
                let other = (1..set.count()).find(|&other| set.velocity(other) == c).unwrap_or(q);
                swap(&mut text, q, other);
            }
        }
        text += "        }\n";
    }
    text + "        {\n    let p = border.cell.xyz;\n" + &slots(form) + lanes(form) + &store(form) + "        }\n"
}

/// Density and velocity at an open side, of which one is given, from the populations that go along the side or out. Those
/// in `inQ` have the sign of the way in.
pub fn open_flow(set: VelocitySet) -> String {
    let mut text = String::from("        var known = g0;\n");
    for q in 1..set.count() {
        _ = writeln!(text, "        let in{q} = {};", along(set.velocity(q), "border.normal"));
        _ = writeln!(text, "        known += select(select(0.0, 2.0 * g{q}, in{q} < 0.0), g{q}, in{q} == 0.0);");
    }
    _ = writeln!(
        text,
        "        known -= 0.5 * dot(force, border.normal.xyz);
        var u = border.flow.xyz;
        var density = border.flow.w;
        var mean = 0.0;
        if kind == {OUTLET} {{
{}        }}
        if kind == {PRESSURE} || kind == {OUTLET} {{
            u += ((density - 1.0 - known) / density - dot(u, border.normal.xyz)) * border.normal.xyz;
        }} else {{
            density = (1.0 + known) / (1.0 - dot(u, border.normal.xyz));
        }}",
        outlet(set)
    );
    text
}

/// A characteristic outlet, after Izquierdo and Fueyo 2008. Invariants separate sound waves from
/// the flow: of the cell before, in `border.flow`, the invariant that comes in is the velocity
/// without the sound that goes out. It moves out with the flow, a step towards that of the cell
/// before. Its value of two steps ago comes back from the wall beyond the outlet, as [`kept`] has
/// sent it there. Fluid leaves faster than that by as much as an outgoing wave of the density that
/// is found moves it, so that waves are not reflected. A slow rate restores the density that is
/// wanted.
fn outlet(set: VelocitySet) -> String {
    let mut text = String::from("            var sum = 0.0;\n            var drift = vec3<f32>(0.0, 0.0, 0.0);\n");
    for q in 1..set.count() {
        let [x, y, z] = set.velocity(q).map(|c| c as f32);
        _ = writeln!(text, "            let v{q} = select(0.0, g{q}, in{q} > 0.0);");
        _ = writeln!(text, "            sum += v{q};\n            drift += v{q} * vec3<f32>({x:?}, {y:?}, {z:?});");
    }
    let unknown = (1..set.count()).filter(|&q| set.velocity(q)[0] > 0);
    let square: i64 = unknown.clone().map(|q| set.velocity(q)[1].pow(2)).sum();
    let count = unknown.count();
    _ = writeln!(
        text,
        "            let inward = border.normal.xyz;
            let speed = 2.0 * clamp(-dot(u, inward), 0.0, 1.0);
            let outgoing = (sum / {count}.0) * inward + (drift - dot(drift, inward) * inward) / {square}.0;
            let before = select(outgoing, u, parameters.fresh == 1);
            let sound = {};
            let wave = sound * (density - border.normal.w);
            let still = select(wave, 0.0, parameters.fresh == 1);
            u = (before + speed * (u + still * inward)) / (1.0 + speed) - parameters.restore * still * inward;
            mean = dot(u, inward);
            let half = 0.5 * (1.0 - mean - sound * border.normal.w);
            density = (sqrt(half * half + sound * (1.0 + known)) - half) / sound;",
        number(1.0 / 3.0_f64.sqrt())
    );
    text
}

/// What an outlet sends into the wall behind it, instead of populations.
fn kept(set: VelocitySet) -> String {
    let mut text = format!("        if kind == {OUTLET} {{\n            let through = dot(u, border.normal.xyz);\n");
    for q in 1..set.count() {
        let c = along(set.velocity(q), "u");
        _ = writeln!(text, "            g{q} = select(g{q}, mean - ({c}) - through, in{q} < 0.0);");
    }
    text + "        }\n"
}

/// All populations anew from density, velocity and the stress of those that are known (Latt 2008), then a collision.
pub fn open(form: &Form) -> String {
    let Form { set, collision: kind, eddies, .. } = *form;
    let mut text = arrived(form) + &open_flow(set) + "        let excess = density - 1.0;\n";
    text += &equilibrium(set);
    for q in set.firsts() {
        let next = q + 1;
        _ = writeln!(
            text,
            "        let x{q} = g{q} - even{q} - uneven{q};\n        let x{next} = g{next} - even{q} + uneven{q};"
        );
        _ = writeln!(
            text,
            "        let n{q} = select(x{q}, x{next}, in{q} > 0.0) + select(x{next}, x{q}, in{next} > 0.0);"
        );
    }
    for (a, b) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)] {
        let terms = set.firsts().map(|q| (set.velocity(q)[a] * set.velocity(q)[b], q)).filter(|&(c, _)| c != 0);
        let terms: Vec<_> = terms.map(|(c, q)| format!("{}n{q}", if c > 0 { "" } else { "-" })).collect();
        let sum = if terms.is_empty() { "0.0".into() } else { terms.join(" + ").replace("+ -", "- ") };
        _ = writeln!(text, "        let stress{a}{b} = {sum};");
    }
    text += "        let trace = (stress00 + stress11 + stress22) / 3.0;\n";
    _ = writeln!(text, "        g0 = even0 - {} * trace;", number(4.5 * set.weight(0)));
    for q in set.firsts() {
        let c = set.velocity(q);
        let mut terms = Vec::new();
        for a in 0..3 {
            for b in a..3 {
                match (c[a] * c[b], a == b) {
                    (0, _) => {}
                    (_, true) => terms.push(format!("+ stress{a}{b}")),
                    (1, false) => terms.push(format!("+ 2.0 * stress{a}{b}")),
                    _ => terms.push(format!("- 2.0 * stress{a}{b}")),
                }
            }
        }
        let pulled = format!("{} * ({})", number(1.5 * set.weight(q)), along(c, "force"));
        _ = writeln!(
            text,
            "        let bent{q} = even{q} + {} * ({} - trace);",
            number(4.5 * set.weight(q)),
            terms.join(" ").trim_start_matches("+ ")
        );
        _ = writeln!(text, "        let straight{q} = uneven{q} - {pulled};");
        _ = writeln!(text, "        g{q} = bent{q} + straight{q};\n        g{} = bent{q} - straight{q};", q + 1);
    }
    text + "        {\n" + &collision(set, kind, eddies) + "        }\n" + &kept(set) + &store(form)
}
