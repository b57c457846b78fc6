//! In checked runs: what loads and stores reach beyond the cells that a chunk owns, as a report that is read after the call.

use super::axes::Axes;
use super::nowhere::NOWHERE;
use super::writer::Writer;
use crate::kernel::geometry::{REPORT, STRAY_WORDS, Tuple};

/// The name of the private variable that holds the `global_invocation_id` of an invocation that has asked for its position.
pub const INVOCATION: &str = "$invocation";

/// So near to [`NOWHERE`] are positions that were computed from it.
const NEAR: i32 = 1 << 20;

/// The report itself, for all arrays.
pub fn declarations(group: u32, binding: u32) -> String {
    format!(
        "@group({group}) @binding({binding}) var<storage, read_write> {REPORT}: array<atomic<u32>>;\n\
         var<private> {INVOCATION}: vec3<u32> = vec3<u32>(0xffffffffu);\n"
    )
}

impl Writer<'_> {
    /// The call that notes a position, in checked runs.
    pub(super) fn looks(&self, store: bool) -> String {
        if self.watched { format!("${}_look($p, {store}); ", self.var.name) } else { String::new() }
    }

    /// `$x_look`: nothing where the chunk owns the cell; a bit for the side and component where it is a ghost cell that is
    /// loaded; the first position, its invocation and a count where it is no cell of the chunk.
    pub(super) fn look(&mut self) {
        if !self.watched || !(self.wants("load") || self.wants("store")) {
            return;
        }
        let (x, axes) = (&self.var.name, self.axes);
        let owned = axes.within("$p", Some(Tuple::OwnedLo), Tuple::OwnedExtent, 0);
        let has = axes.within("$p", Some(Tuple::StorageLo), Tuple::StorageExtent, 0);
        let mut text = format!("fn ${x}_look($p: {}, $store: bool) {{\n  if {owned} {{ return; }}\n", axes.ty());
        text += &format!("  let $at = u32({});\n  if !({has}) {{\n", axes.head(2));
        // Invocations that only fill up the dispatch are not the program's.
        text +=
            &format!("    if u32({} - i32({NOWHERE}) + {NEAR}) < {}u {{ return; }}\n", axes.part("$p", 0), 2 * NEAR);
        text += &format!("    let $o = $at + select(0u, {STRAY_WORDS}u, $store);\n");
        text += &format!("    if atomicAdd(&{REPORT}[$o], 1u) == 0u {{\n");
        for (place, part) in ["x", "y", "z"].iter().enumerate() {
            text += &format!("      atomicStore(&{REPORT}[$o + {}u], {INVOCATION}.{part});\n", 1 + place);
        }
        for axis in 0..axes.count {
            text += &format!("      atomicStore(&{REPORT}[$o + {}u], u32({}));\n", 4 + axis, axes.part("$p", axis));
        }
        text += "    }\n    return;\n  }\n  if $store { return; }\n  var $d = 0u;\n  var $c = 0u;\n  var $q = 0;\n";
        for axis in 0..axes.count {
            text += &side_and_component(axes, axis);
        }
        text += &format!("  let $words = u32({});\n", axes.head(3));
        text += "  let $bit = 1u << select($c & 31u, 0u, $words == 0u);\n";
        text += &format!("  let $i = $at + {}u + $d * select($words, 1u, $words == 0u) + ", 2 * STRAY_WORDS);
        text += "select($c >> 5u, 0u, $words == 0u);\n";
        text += &format!("  if (atomicLoad(&{REPORT}[$i]) & $bit) == 0u {{ atomicOr(&{REPORT}[$i], $bit); }}\n}}");
        self.line(&text);
    }
}

/// One axis of the side, in base 3, and of the component, along axes without ghost cells.
fn side_and_component(axes: Axes, axis: usize) -> String {
    let part = |tuple| axes.geometry_part(tuple, axis);
    let (lo, extent, storage) = (part(Tuple::OwnedLo), part(Tuple::OwnedExtent), part(Tuple::StorageExtent));
    format!(
        "  $q = {} - {lo};\n  $d = 3u * $d + select(select(0u, 2u, $q >= {extent}), 1u, $q < 0);\n  \
         if {storage} == {extent} {{ $c = $c * u32({extent}) + u32($q); }}\n",
        axes.part("$p", axis)
    )
}
