//! Populations at moving walls and free-slip sides.
//!
//! **Walls at rest** need no kernel: a solid cell leaves its slots alone, so populations that enter
//! it come back two steps later. The wall is half-way between the solid and the fluid cell. Without
//! this delay, both slots of a pair would be at one cell, and exchanges would return slots that a
//! chunk never wrote. Populations in solid cells count as mass of their senders.
//!
//! **Free-slip sides.** A cell beyond the side is the image of the cell before it. After all fluid
//! cells have made their step, a kernel copies the populations that left the fluid cell, reflected,
//! to the slots of the image. This is half-way specular reflection: a population that leaves cell
//! *x* arrives at *x + t* in the same step, where *t* is the part of its velocity along the side.
//! The kernel reads slots of fluid cells and writes slots of images, so the order of invocations
//! does not matter. One part of the cut holds both layers: no exchange is needed.

use std::fmt::Write;

use super::expressions::{dot_velocity, literal};
use super::kernel_form::KernelForm;
use super::slots::{declare_lanes, declare_slots, load, store};

/// Reads the populations of a boundary cell; those from outside of the lattice are zero.
pub(super) fn load_inside_lattice(form: &KernelForm) -> String {
    let mut text = load(form);
    for q in 1..form.set.count() {
        _ = writeln!(text, "    g{q} = select(g{q}, 0.0, (boundary_cell.outside & {}u) != 0u);", 1_u32 << q);
    }
    text
}

/// Sends populations from the fluid back with the momentum of the wall (Ladd 1994).
pub(super) fn reflect_at_moving_wall(form: &KernelForm) -> String {
    let (set, mut text) = (form.set, load_inside_lattice(form));
    for q in set.first_of_pairs() {
        let (next, weight) = (q + 1, literal(6.0 * set.weight(q)));
        let dot = dot_velocity(set.velocity(q), "boundary_cell.flow");
        let push = |bit: usize| format!("select(0.0, push{q}, (boundary_cell.links & {}u) != 0u)", 1_u32 << bit);
        _ = writeln!(text, "    let push{q} = {weight} * ({dot});");
        _ = writeln!(text, "    let reflected{q} = g{next} + {};", push(next));
        _ = writeln!(text, "    g{next} = g{q} - {};\n    g{q} = reflected{q};", push(q));
    }
    text + &store(form)
}

/// Copies the populations that left the fluid cell `p` of an image, reflected, to the slots of the
/// image.
pub(super) fn reflect_at_free_slip(form: &KernelForm) -> String {
    let (set, mut text) = (form.set, load(form));
    let swap = |text: &mut String, a: usize, b: usize| {
        _ = writeln!(text, "        let before{a} = g{a};\n        g{a} = g{b};\n        g{b} = before{a};");
    };
    // After a step, a slot holds the opposite of the population that arrived in it.
    text += "    {\n";
    set.first_of_pairs().for_each(|q| swap(&mut text, q, q + 1));
    text += "    }\n";
    for axis in 0..set.axes() {
        _ = writeln!(text, "    if (boundary_cell.mirrored_axes & {}u) != 0u {{", 1 << axis);
        for q in 1..set.count() {
            let mut reflected = set.velocity(q);
            if reflected[axis] > 0 {
                reflected[axis] = -reflected[axis];
                let other = (1..set.count()).find(|&other| set.velocity(other) == reflected).unwrap_or(q);
                swap(&mut text, q, other);
            }
        }
        text += "    }\n";
    }
    text += "    {\n    let p = boundary_cell.cell.xyz;\n";
    text + &declare_slots(form) + declare_lanes(form) + &store(form) + "    }\n"
}
