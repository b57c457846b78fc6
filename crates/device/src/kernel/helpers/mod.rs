//! Generator of the WGSL that is appended to a kernel: address helpers for every bound array, and
//! helpers of the domain.
//!
//! WGSL functions cannot take pointers to storage, so helpers are generated per array. They depend
//! only on the number of axes, the kind of element and the number of windows; all other inputs are
//! data in [`super::geometry`].
//!
//! In the texts of this module, `$` stands for the prefix of internal names. Helpers refer only to
//! internal names, to names derived from the array's name, and to [`WORDS`], so that no declaration
//! of the user changes their meaning.
//!
//! A kernel has two texts for each set of arrays: one for a call over one box, and one for a call
//! over several boxes, which searches for the box of each invocation. Arrays with equal geometry
//! share it. Extents never choose the text.

mod access_report;
mod address;
mod axes;
mod cells;
mod domain;
mod global;
mod outside_position;
mod position;
mod writer;

use std::collections::BTreeSet;
use std::fmt::Write;

use super::geometry::{COUNT, COUNT_VECTORS, GEOMETRY, GeometryMap};
use super::scan::{SourceScan, StorageVar};
use super::signature::{Signature, Space, VarShape, Watch};
use crate::wgsl::{self, PREFIX};
pub(super) use access_report::{report_function_name, stopped_line_name};
pub(super) use axes::load_geometry_name;
use axes::{Axes, UsedVectors, position_type};
#[cfg(test)]
pub(super) use domain::DOMAIN_HELPER_SUFFIXES;
pub(super) use domain::is_domain_helper;
use position::Positions;
use writer::Writer;
pub(super) use writer::window_name;

pub(super) const HELPER_SUFFIXES: [&str; 14] = [
    "position",
    "inside",
    "inside_word",
    "has",
    "owned",
    "load",
    "store",
    "store_word",
    "extent",
    "shape",
    "global",
    "global_axis",
    "linear",
    "index",
];

/// Predeclared WGSL names, except keywords, that helpers and elementwise expressions use.
pub(super) const WORDS: [&str; 28] = [
    "all",
    "any",
    "array",
    "arrayLength",
    "atomic",
    "atomicAdd",
    "atomicAnd",
    "atomicLoad",
    "atomicOr",
    "atomicStore",
    "bool",
    "extractBits",
    "f16",
    "f32",
    "f64",
    "i32",
    "i64",
    "private",
    "read",
    "read_write",
    "select",
    "storage",
    "u32",
    "u64",
    "uniform",
    "vec2",
    "vec3",
    "vec4",
];

/// Returns the WGSL text to append to a kernel: bindings in `group` (geometry at binding 0, then
/// windows) and the helpers that the kernel uses.
pub(super) fn generate(scan: &SourceScan, signature: &Signature, map: &GeometryMap, group: u32) -> String {
    let mut out = String::new();
    let _ =
        writeln!(out, "\n@group({group}) @binding(0) var<uniform> {GEOMETRY}: array<vec4<i32>, {}>;", map.vectors());
    let mut binding = 1;
    let used = UsedVectors::default();
    let (watch, mut kept) = (signature.watch, Vec::new());
    for (i, (var, &shape)) in scan.storage.iter().zip(&signature.vars).enumerate() {
        let Some(cell) = &var.cell else { continue };
        for k in 1..shape.windows {
            let access = if var.writable { "read_write" } else { "read" };
            let ty = if var.atomic { format!("atomic<{cell}>") } else { cell.clone() };
            let name = window_name(&var.name, k);
            let _ = writeln!(out, "@group({group}) @binding({binding}) var<storage, {access}> {name}: array<{ty}>;");
            binding += 1;
        }
        let axes = Axes::new(shape.axes, map.var(i), &used);
        let has_position = signature.space == Space::Cells && shape.axes == signature.domain_axes;
        let mut writer = Writer { out: &mut out, number: i, var, shape, cell, axes, scan, has_position, watch };
        writer.position();
        writer.write_address_helpers();
        kept.extend(writer.write_recorder());
        writer.cells();
        writer.global();
    }
    if signature.space == Space::Counted {
        let ty = format!("array<vec4<u32>, {COUNT_VECTORS}>");
        let _ = writeln!(out, "@group({group}) @binding({binding}) var<uniform> {COUNT}: {ty};");
        binding += 1;
    }
    if watch != Watch::Off {
        out.push_str(&access_report::declarations(group, binding, signature.reports_stopped_loops));
        out.push_str(&access_report::flush(
            &kept,
            signature.vars.iter().any(|var| var.axes > 4),
            signature.reports_stopped_loops,
        ));
    }
    let by_words = scan.storage.iter().zip(&signature.vars).filter(|(var, _)| var.writable && !var.atomic);
    let word_cells = by_words.filter_map(|(_, shape)| Some(4 / shape.packed?.bytes())).next();
    let (at, form) = (map.domain(), signature.boxes);
    let axes = Axes::new(signature.domain_axes, at, &used);
    let positions = Positions { axes, used: &used, at, form, word_cells, is_watched: watch != Watch::Off };
    domain::domain(&mut out, scan, signature, &positions);
    if out.contains("$position(") {
        out.push_str(&positions.position());
    }
    if out.contains("$box(") {
        out.push_str(&positions.search());
    }
    if out.contains("$widen(") {
        out.push_str(global::WIDE_ARITHMETIC);
    }
    out.push_str(&used.declarations());
    out.replace('$', PREFIX)
}

/// Explains why a kernel cannot declare `name` at module scope; `None` if it can.
#[doc(hidden)]
pub fn taken(name: &str, arrays: &[&str]) -> Option<String> {
    let helper_of = |x: &&&str| {
        let helper = name.strip_prefix(**x).and_then(|rest| rest.strip_prefix('_'));
        helper.is_some_and(|helper| HELPER_SUFFIXES.contains(&helper))
    };
    let of_array = |x: &&str| {
        format!("`{name}` cannot be declared: it is the name of a helper of the array `{x}`; take another name")
    };
    let of_domain = || domain::taken(name, arrays);
    wgsl::taken(name, &WORDS).or_else(of_domain).or_else(|| arrays.iter().find(helper_of).map(of_array))
}

/// Explains why a helper that the kernel calls does not exist; `None` if `name` is not like a
/// helper.
pub(super) fn explain_missing_helper(scan: &SourceScan, signature: &Signature, name: &str) -> Option<String> {
    for (var, shape) in scan.storage.iter().zip(&signature.vars) {
        let Some(helper) = name.strip_prefix(var.name.as_str()).and_then(|rest| rest.strip_prefix('_')) else {
            continue;
        };
        let missing = |helper: &str| explain_missing_array_helper(var, shape, signature, helper);
        let list = || {
            let there: Vec<_> = HELPER_SUFFIXES.iter().filter(|h| missing(h).is_none()).collect();
            let names: Vec<_> = there.iter().map(|h| format!("{}_{h}", var.name)).collect();
            format!("the helpers of {} are {}", var.name, names.join(", "))
        };
        return Some(missing(helper).unwrap_or_else(list));
    }
    domain::explain_missing_helper(name)
}

/// Returns the position type that the helper `name` expects, as an error text for a wrong first
/// argument.
pub(super) fn expected_position_type(scan: &SourceScan, signature: &Signature, name: &str) -> Option<String> {
    let ending = |x: &str| name.strip_prefix(x).and_then(|rest| rest.strip_prefix('_'));
    let mut vars = scan.storage.iter().zip(&signature.vars);
    let of_array = vars.find_map(|(var, shape)| Some((&var.name, shape.axes, ending(&var.name)?)));
    let Some((x, axes, helper)) = of_array else { return domain::expected_position_type(name, signature.domain_axes) };
    match helper {
        "position" => Some(format!("{name} takes global_invocation_id, a vec3<u32>")),
        _ if HELPER_SUFFIXES.contains(&helper) => {
            let ty = position_type(axes);
            Some(format!(
                "{name} takes a position of type {ty}: the number of axes of the section bound to {x} is {axes}"
            ))
        }
        _ => None,
    }
}

/// Lists the position type of each array for an error text; `None` without arrays.
pub(super) fn positions(scan: &SourceScan, signature: &Signature) -> Option<String> {
    let of_axes = |axes: usize| {
        let vars = scan.storage.iter().zip(&signature.vars).filter(|(_, shape)| shape.axes == axes);
        let names: Vec<_> = vars.map(|(var, _)| format!("`{}`", var.name)).collect();
        let has = if names.len() == 1 { "has" } else { "have" };
        let (names, ty, s) = (names.join(" and "), position_type(axes), if axes == 1 { "is" } else { "es" });
        format!("{ty} in {names}, which {has} {axes} ax{s}")
    };
    let axes: BTreeSet<_> = signature.vars.iter().map(|shape| shape.axes).collect();
    let list: Vec<_> = axes.into_iter().map(of_axes).collect();
    (!list.is_empty()).then(|| format!("a position has one component for each axis: {}", list.join("; ")))
}

/// Explains why the array of a storage variable does not have a helper.
fn explain_missing_array_helper(
    var: &StorageVar,
    shape: &VarShape,
    signature: &Signature,
    helper: &str,
) -> Option<String> {
    let (x, domain_axes) = (&var.name, signature.domain_axes);
    Some(match helper {
        _ if var.cell.is_none() => format!("{x} is not declared as array<T>, so it has no helpers"),
        "load" | "store" if var.holds_atomics => {
            format!("the cells of {x} hold atomics, so it has no {x}_{helper}: use {x}[{x}_index(p)]")
        }
        "store" | "store_word" if !var.writable => format!("{x} is declared read, so it has no {x}_{helper}"),
        "store" if shape.packed.is_some() && !var.atomic => format!(
            "{x} is bound to 8- or 16-bit cells packed in words: write whole words with {x}_store_word, or declare it \
             array<atomic<u32>>"
        ),
        "store_word" | "inside_word" if shape.packed.is_none() => {
            format!("{x} is not bound to 8- or 16-bit cells, so it has no {x}_{helper}")
        }
        "store_word" if var.atomic => format!("{x} is declared atomic: use {x}_store"),
        "index" if shape.packed.is_some() => {
            format!("{x} is bound to packed cells, which have no index of their own")
        }
        "position" if signature.space != Space::Cells => format!(
            "the kernel does not run over cells of a bound index space, so invocations have no cell in \
             {x}: their position in the domain is domain_position(id)"
        ),
        "position" if shape.axes != domain_axes => format!(
            "the number of axes of {x} is {}, but that of the domain is {domain_axes}, so invocations have no cell in {x}",
            shape.axes
        ),
        _ => return None,
    })
}
