//! Access to the slots of populations; the [module](super) describes streaming in place.

use std::fmt::Write;

use super::expressions::AXES;
use super::kernel_form::{FoldTexts, KernelForm};

const LANES: FoldTexts<'static> = FoldTexts { same_half: "lane", above: "lane_above", below: "lane_below" };

/// Condition under which a word of the neighbour has its lanes exchanged; empty: never.
const SWAPS: FoldTexts<'static> = FoldTexts { same_half: "", above: "is_last_word", below: "is_first_word" };

/// Declares the indices of the slots of cell `p`: `own0`, `own1`, `remote1`, `own3`, `remote3`, …
pub(super) fn declare_slots(form: &KernelForm) -> String {
    let mut text = String::from("    let zero = i32(f_index(vec4<i32>(0, 0, 0, 0)));\n");
    let strides = [("stride_y", "0, 1, 0, 0"), ("stride_z", "0, 0, 1, 0"), ("stride_slot", "0, 0, 0, 1")];
    for (k, (name, neighbour)) in strides.into_iter().enumerate() {
        _ = match form.strides {
            Some(strides) => writeln!(text, "    let {name} = {};", strides[k]),
            None => writeln!(text, "    let {name} = i32(f_index(vec4<i32>({neighbour}))) - zero;"),
        };
    }
    text += "    let own0 = zero + p.x + p.y * stride_y + p.z * stride_z;
    let own_pairs = own0 + (1 - parity) * stride_slot;
    let remote_pairs = own0 + parity * stride_slot;
";
    for q in form.set.first_of_pairs() {
        let [x, y, z] = form.set.velocity(q);
        let mut offset = format!("{q} * stride_slot");
        for (c, stride) in [(x, "1"), (y, "stride_y"), (z, "stride_z")] {
            match c {
                0 => {}
                1 => offset += &format!(" + {stride}"),
                _ => offset += &format!(" - {stride}"),
            }
        }
        _ = writeln!(
            text,
            "    let own{q} = own_pairs + {q} * stride_slot;\n    let remote{q} = remote_pairs + {offset};"
        );
    }
    if let Some(axis) = form.fold_axis {
        let axis = AXES[axis];
        _ = writeln!(
            text,
            "    let is_last_word = p.{axis} == parameters.last_word;\n    let is_first_word = p.{axis} == parameters.first_word;"
        );
    }
    text
}

pub(super) fn declare_lanes(form: &KernelForm) -> &'static str {
    if form.fold_axis.is_none() {
        return "";
    }
    "    let lane = parameters.lane;
    let lane_above = select(lane, 1 - lane, is_last_word);
    let lane_below = select(lane, 1 - lane, is_first_word);
"
}

/// Reads the populations that arrive at cell `p` into `g0`, `g1`, …
pub(super) fn load(form: &KernelForm) -> String {
    let mut text = declare_slots(form) + declare_lanes(form);
    let read = |slot: String, lane: &str| match form.fold_axis {
        None => format!("f[{slot}]"),
        Some(_) => format!("unpack_lane(f[{slot}], {lane})"),
    };
    _ = writeln!(text, "    var g0 = {};", read("own0".into(), "lane"));
    for q in form.set.first_of_pairs() {
        let (own, remote) = (format!("own{q}"), format!("remote{q}"));
        _ = writeln!(text, "    var g{q} = {};", read(own, "lane"));
        _ = writeln!(text, "    var g{} = {};", q + 1, read(remote, form.across_fold(q, &LANES)));
    }
    text
}

/// Population of a pair that goes to a slot.
#[derive(Clone, Copy)]
enum PairMember {
    First,
    Second,
}

/// Writes the populations that leave cell `p`, each to the slot of its opposite.
pub(super) fn store(form: &KernelForm) -> String {
    write_slots(form, PairMember::Second)
}

/// Writes populations to the slots from which [`load`] reads them, for the initial flow.
pub(super) fn store_arrived(form: &KernelForm) -> String {
    declare_slots(form) + declare_lanes(form) + &write_slots(form, PairMember::First)
}

/// Writes one population of each pair to the cell, and the other to the neighbour.
fn write_slots(form: &KernelForm, own_member: PairMember) -> String {
    let write = |slot: String, lane: &str, q: usize| match form.fold_axis {
        None => format!("    f[{slot}] = g{q};\n"),
        Some(_) => format!("    f[{slot}] = merge_lane(f[{slot}], {lane}, g{q}, random_bits(seed, {q}u));\n"),
    };
    let mut text = declare_seed(form).to_owned() + &write("own0".into(), "lane", 0);
    for q in form.set.first_of_pairs() {
        let (own, remote) = match own_member {
            PairMember::First => (q, q + 1),
            PairMember::Second => (q + 1, q),
        };
        text += &write(format!("remote{q}"), form.across_fold(q, &LANES), remote);
        text += &write(format!("own{q}"), "lane", own);
    }
    text
}

fn declare_seed(form: &KernelForm) -> &'static str {
    if form.fold_axis.is_some() { "    let seed = random_seed(p);\n" } else { "" }
}

/// [`load`] of both cells of a word. Keeps the words in `w0`, `w1`, …
pub(super) fn load_words(form: &KernelForm) -> String {
    let mut text = declare_slots(form) + "    let w0 = f[own0];\n    var g0 = unpack_word(w0);\n";
    for q in form.set.first_of_pairs() {
        let next = q + 1;
        let remote = match form.across_fold(q, &SWAPS) {
            "" => format!("f[remote{q}]"),
            condition => format!("swap_lanes(f[remote{q}], {condition})"),
        };
        _ = writeln!(text, "    let w{q} = f[own{q}];\n    let w{next} = {remote};");
        _ = writeln!(text, "    var g{q} = unpack_word(w{q});\n    var g{next} = unpack_word(w{next});");
    }
    text
}

/// [`store`] of the cells of a word whose bits are in `mask`.
pub(super) fn store_words(form: &KernelForm) -> String {
    let merge = |word: usize, q: usize| format!("merge_word(w{word}, g{q}, mask, random_bits(seed, {q}u))");
    let mut text = declare_seed(form).to_owned() + &format!("    f[own0] = {};\n", merge(0, 0));
    for q in form.set.first_of_pairs() {
        let next = q + 1;
        let remote = match form.across_fold(q, &SWAPS) {
            "" => merge(next, q),
            condition => format!("swap_lanes({}, {condition})", merge(next, q)),
        };
        _ = writeln!(text, "    f[remote{q}] = {remote};\n    f[own{q}] = {};", merge(q, next));
    }
    text
}
