//! Helpers of checked runs that record loads and stores beyond the owned cells of a chunk. The host
//! reads the report after the call.
//!
//! An invocation collects its accesses in private variables and writes them to the report once, at
//! its end. Memory accesses dominate the cost on software adapters, even if no invocation of a
//! group executes them.

use super::axes::Axes;
use super::writer::Writer;
use crate::kernel::geometry::{OUTSIDE_ACCESS_WORDS, REPORT, Tuple};
use crate::kernel::loops::LINE;
use crate::kernel::signature::Watch;
use crate::wgsl::PREFIX;

/// Name of the private variable with the `global_invocation_id` of an invocation that has called a
/// position helper.
pub(super) const INVOCATION: &str = "$invocation";

/// Name of the private variable that is true for invocations that only fill up the dispatch; their
/// accesses are not part of the program.
pub(super) const IS_FILLER: &str = "$is_filler";

/// Returns the name of the function that writes the report of an invocation, called at its end.
pub(crate) fn report_function_name() -> String {
    format!("{PREFIX}flush")
}

/// Returns the name of the variable with the line of the first stopped loop of an invocation.
pub(crate) fn stopped_line_name() -> String {
    LINE.replace('$', PREFIX)
}

/// Returns the declarations of the report of all arrays, and of the private variables of an
/// invocation: its id, the number of positions outside of chunks, and the array and position of the
/// first one. The array is encoded as twice its index, plus 1, plus 1 for a store.
pub(super) fn declarations(group: u32, binding: u32, reports_stopped_loops: bool) -> String {
    let line = if reports_stopped_loops { format!("var<private> {LINE}: u32;\n") } else { String::new() };
    format!(
        "@group({group}) @binding({binding}) var<storage, read_write> {REPORT}: array<atomic<u32>>;\n\
         var<private> {INVOCATION}: vec3<u32> = vec3<u32>(0xffffffffu);\nvar<private> {IS_FILLER}: bool;\n\
         var<private> $strays: u32;\nvar<private> $stray: u32;\nvar<private> $at: vec4<i32>;\nvar<private> $beyond: vec4<i32>;\n{line}"
    )
}

/// Ghost cells of an array whose accesses an invocation records in private variables.
pub(super) struct RecordedGhosts<'u> {
    array: String,
    axes: Axes<'u>,
    loads: bool,
    stores: bool,
}

/// Returns the function that writes the report of an invocation, with few accesses to memory.
///
/// A loop stores the words of a position in one statement. Where the adapter stops loops it may
/// stop this loop too: each word then has its own statement.
pub(super) fn flush(arrays: &[RecordedGhosts<'_>], has_many_axes: bool, reports_stopped_loops: bool) -> String {
    let mut words = vec!["$stray".to_string()];
    words.extend(["x", "y", "z"].map(|part| format!("{INVOCATION}.{part}")));
    let vectors = if has_many_axes { &["$at", "$beyond"][..] } else { &["$at"][..] };
    words.extend(vectors.iter().flat_map(|name| ["x", "y", "z", "w"].map(|part| format!("u32({name}.{part})"))));
    words.truncate(OUTSIDE_ACCESS_WORDS - 1);
    let count = words.len();
    let mut text = format!(
        "fn $flush() {{\n  var $words = 0u;\n  if $strays > 0u {{\n    \
         if atomicAdd(&{REPORT}[0], $strays) == 0u {{ $words = {count}u; }}\n  }}\n"
    );
    if reports_stopped_loops {
        text += "  if $words > 0u {\n";
        for (index, word) in words.iter().enumerate() {
            text += &format!("    atomicStore(&{REPORT}[{}], {word});\n", 1 + index);
        }
        let (count, line) = (OUTSIDE_ACCESS_WORDS, OUTSIDE_ACCESS_WORDS + 1);
        text += &format!(
            "  }}\n  if {LINE} > 0u {{\n    \
             if atomicAdd(&{REPORT}[{count}], 1u) == 0u {{ atomicStore(&{REPORT}[{line}], {LINE}); }}\n  }}\n"
        );
    } else {
        text += &format!("  for (var $k = 0u; $k < $words; $k++) {{\n    var $word = {};\n", words[0]);
        for (index, word) in words.iter().enumerate().skip(1) {
            text += &format!("    $word = select($word, {word}, $k == {index}u);\n");
        }
        text += &format!("    atomicStore(&{REPORT}[1u + $k], $word);\n  }}\n");
    }
    for RecordedGhosts { array: x, axes, loads, stores } in arrays {
        for (offset, kept, _) in
            [(0, "loads", loads), (1, "stores", stores)].into_iter().filter(|(.., is_kept)| **is_kept)
        {
            let at = format!("u32({}) + {offset}u", axes.head(2));
            text += &format!("  if ${x}_{kept} != 0u {{ atomicOr(&{REPORT}[{at}], ${x}_{kept}); }}\n");
        }
    }
    text + "}\n"
}

impl<'u> Writer<'_, 'u> {
    /// Returns the call that records a position, in checked runs.
    pub(super) fn record_call(&self, store: bool) -> String {
        match self.watch {
            Watch::Off => String::new(),
            _ => format!("${}_record($p, {store}); ", self.var.name),
        }
    }

    /// Writes `$x_record`, which records an access at a position. Owned cells need no record. A
    /// ghost cell sets the bit of its layer and component, among the bits of loads or of stores. A
    /// position outside of the chunk increases a counter, and the first one is stored. Returns the
    /// private variables of the bits if they fit in one word.
    pub(super) fn write_recorder(&mut self) -> Option<RecordedGhosts<'u>> {
        let (loads, stores) = (self.uses_helper("load"), self.uses_helper("store"));
        if self.watch == Watch::Off || !(loads || stores) {
            return None;
        }
        let (x, axes) = (&self.var.name, self.axes);
        let keeps = self.watch == Watch::FewBits;
        let owned = format!("{} & {}", axes.within("$p", Some(Tuple::OwnedLo), Tuple::OwnedExtent, 0), self.any());
        let has = self.has();
        let mut text = String::new();
        if keeps {
            text += &format!("var<private> ${x}_loads: u32;\nvar<private> ${x}_stores: u32;\n");
        }
        let ty = axes.ty();
        text += &format!("fn ${x}_record($p: {ty}, $store: bool) {{\n  if {owned} {{ return; }}\n  if !({has}) {{\n");
        text += &format!("    if {IS_FILLER} {{ return; }}\n    if $strays == 0u {{\n");
        text += &format!("      $stray = {}u + u32($store);\n", 2 * self.number + 1);
        for axis in 0..axes.count {
            let into = ["$at", "$beyond"][axis / 4];
            text += &format!("      {into}[{}] = {};\n", axis % 4, axes.part("$p", axis));
        }
        text += "    }\n    $strays += 1u;\n    return;\n  }\n  var $d = 0u;\n  var $m = 1u;\n  var $c = 0u;\n  var $q = 0;\n";
        for axis in 0..axes.count {
            text += &layer_and_component(axes, axis);
        }
        let (at, components) = (axes.head(2), axes.head(3));
        text += &format!("  let $n = u32({components});\n  let $b = select($d * $n + $c, $d, $n == 0u);\n");
        text += &match keeps {
            true => format!("  if $store {{ ${x}_stores |= 1u << $b; }} else {{ ${x}_loads |= 1u << $b; }}\n}}"),
            false => format!(
                "  let $words = ($m * select($n, 1u, $n == 0u) + 31u) >> 5u;\n  \
                 let $i = u32({at}) + select(0u, $words, $store) + ($b >> 5u);\n  \
                 atomicOr(&{REPORT}[$i], 1u << ($b & 31u));\n}}"
            ),
        };
        self.line(&text);
        keeps.then(|| RecordedGhosts { array: x.clone(), axes, loads, stores })
    }
}

/// Returns statements that add one axis to the layer and the component of the cell at `$p`. The
/// layer along the axis (0 for owned cells, then the layers before them from near to far, then
/// those after them) is a digit of a mixed-radix number; an axis without ghost cells adds to the
/// component.
fn layer_and_component(axes: Axes<'_>, axis: usize) -> String {
    let part = |tuple| axes.geometry_part(tuple, axis);
    let (lo, extent) = (part(Tuple::OwnedLo), part(Tuple::OwnedExtent));
    let (first, storage) = (part(Tuple::StorageLo), part(Tuple::StorageExtent));
    format!(
        "  $q = {} - {lo};\n  $m *= u32(1 + {storage} - {extent});\n  $d = $d * u32(1 + {storage} - {extent}) + \
         u32(select(select(0, {lo} - {first} + $q - {extent} + 1, $q >= {extent}), -$q, $q < 0));\n  \
         $c = select($c, $c * u32({extent}) + u32($q), {storage} == {extent});\n",
        axes.part("$p", axis)
    )
}
