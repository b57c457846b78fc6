//! Helpers that compute the cell of an invocation.

use std::fmt::Write;

use super::access_report::{INVOCATION, IS_FILLER};
use super::axes::{Axes, UsedVectors};
use super::outside_position::outside_position;
use super::writer::Writer;
use crate::kernel::geometry::{DomainMap, GEOMETRY, MAX_BOXES_OF_DISPATCH, Tuple, vectors};
use crate::kernel::signature::BoxForm;

impl Writer<'_, '_> {
    /// Writes the helper `x_position`.
    pub(super) fn position(&mut self) {
        if self.uses_helper("position") && self.has_position {
            let (x, ty) = (&self.var.name, self.axes.ty());
            let text = format!("fn {x}_position($id: vec3<u32>) -> {ty} {{ return $position($id); }}");
            self.line(&text);
        }
    }
}

/// Generator of WGSL that computes the position of an invocation from its id.
pub(super) struct Positions<'u> {
    pub axes: Axes<'u>,
    pub used: &'u UsedVectors,
    /// Index of the first vector of the domain's geometry.
    pub at: usize,
    pub form: BoxForm,
    /// Number of cells per word, for kernels with one invocation per word; otherwise `None`.
    pub word_cells: Option<usize>,
    pub is_watched: bool,
}

impl Positions<'_> {
    /// Returns vector `k` of the geometry of an invocation's box.
    pub(super) fn box_vector(&self, k: usize) -> String {
        match self.form {
            BoxForm::Several => format!("{GEOMETRY}[$b + {k}u]"),
            _ => self.used.variable(self.at + DomainMap::new(self.axes.count).boxes + k),
        }
    }

    /// Returns statements that find the box of an invocation, its id `$i` in the box, and whether
    /// the invocation is outside of all boxes.
    fn invocation(&self) -> String {
        let mut text = String::new();
        if self.form == BoxForm::Several {
            text += "  let $b = $box($id.z);\n";
        }
        if self.is_watched {
            let _ = writeln!(text, "  {INVOCATION} = $id;");
        }
        let first = if self.form == BoxForm::Several { " - vec3<i32>(0, 0, $e.w)" } else { "" };
        let _ = writeln!(text, "  let $e = {};\n  let $i = vec3<i32>($id){first};", self.box_vector(0));
        let _ = writeln!(text, "  let $outside = any(vec3<u32>($i) >= vec3<u32>($e.xyz));");
        if self.is_watched {
            let _ = writeln!(text, "  {IS_FILLER} = $outside;");
        }
        text
    }

    /// Returns the function `$box`: the first geometry vector of the box that has an invocation
    /// with this z.
    pub(super) fn search(&self) -> String {
        let DomainMap { starts, boxes, vectors_per_box: size, .. } = DomainMap::new(self.axes.count);
        let mut text = "fn $box($id_z: u32) -> u32 {\n  let $z = vec4<i32>(i32($id_z));\n".to_owned();
        text += "  var $n = vec4<u32>(0u);\n";
        // Unused boxes begin after all invocations. Their number in a condition would be a branch
        // on a parameter.
        for k in 0..MAX_BOXES_OF_DISPATCH / 4 {
            let start = self.used.variable(self.at + starts + k);
            let _ = writeln!(text, "  $n += select(vec4<u32>(0u), vec4<u32>(1u), $z >= {start});");
        }
        let _ = writeln!(text, "  return {}u + {size}u * ($n.x + $n.y + $n.z + $n.w);\n}}", self.at + boxes);
        text
    }

    /// Returns the function `$position`, which computes the position of an invocation.
    pub(super) fn position(&self) -> String {
        let mut text = format!("fn $position($id: vec3<u32>) -> {} {{\n{}", self.axes.ty(), self.invocation());
        text += &match (self.form, self.axes.count) {
            (BoxForm::OneInOrder, _) => self.in_order(),
            (_, ..=4) => self.along_directions(),
            _ => self.many_axes(),
        };
        text + "}\n"
    }

    /// Returns the expression of the index in the domain; `None` if it needs a division.
    pub(super) fn domain_index(&self) -> Option<String> {
        let axes = self.axes;
        if self.form != BoxForm::OneInOrder || axes.count > 3 || self.word_cells.is_some() {
            return None;
        }
        let (parts, origin, lo) = (self.parts(), self.box_vector(2), axes.geometry(Tuple::DomainLo));
        let index = format!("$i{parts} + {origin}{parts} - {lo}");
        Some(format!("{}  return select({index}, {}, $outside);\n", self.invocation(), outside_position(axes.count)))
    }

    /// Returns the names of the components of a position in a vector.
    fn parts(&self) -> &'static str {
        &".xyzw"[..1 + self.axes.count.min(4)]
    }

    /// Returns statements that unfold the two axes that share direction z.
    fn unfold(&self) -> String {
        let (fold, first) = (self.box_vector(7), self.box_vector(1));
        format!(
            "  let $f = {fold}.x;\n  let $folded = $i.z + {first}.z;\n  let $w = $folded / $f;\n  let $z = $folded - $w * $f;\n"
        )
    }

    /// Returns WGSL of a position with axes 0 and 1 along x and y, and all other axes folded along
    /// z.
    fn in_order(&self) -> String {
        let n = self.axes.count;
        let part = |tuple: usize, k: usize| {
            format!("{}.{}", self.box_vector(2 + tuple * vectors(n) + k / 4), ['x', 'y', 'z', 'w'][k % 4])
        };
        let mut text = match n {
            ..=3 => String::new(),
            4 => self.unfold(),
            _ => format!("  let $t2 = $i.z + {}.z;\n", self.box_vector(1)),
        };
        for k in 2..n.saturating_sub(1).max(2) {
            if n > 4 {
                let (extent, next) = (part(2, k), k + 1);
                let _ = writeln!(text, "  let $t{next} = $t{k} / {extent};");
            }
        }
        let number = |k: usize| match (k, n) {
            (0, _) => format!("$i.x{}", self.word_cells.map_or(String::new(), |cells| format!(" * {cells}"))),
            (1, _) => "$i.y".to_owned(),
            (_, 3) => "$i.z".to_owned(),
            (_, 4) => ["$z", "$w"][k - 2].to_owned(),
            _ if k + 1 == n => format!("$t{k}"),
            _ => format!("($t{k} - $t{} * {})", k + 1, part(2, k)),
        };
        let position: Vec<_> = (0..n).map(|k| format!("{} + {}", part(0, k), number(k))).collect();
        let (ty, position) = (self.axes.ty(), position.join(", "));
        let _ = match n {
            ..=4 => writeln!(text, "  return select({ty}({position}), {}, $outside);", outside_position(n)),
            _ => writeln!(text, "  if $outside {{ return {}; }}\n  return {ty}({position});", outside_position(n)),
        };
        text
    }

    /// Returns WGSL of a position of up to four axes, each with a unit vector for its direction.
    fn along_directions(&self) -> String {
        let parts = self.parts();
        let is_folded = self.axes.count == 4;
        let mut text = if is_folded { self.unfold() } else { String::new() };
        let mut position = format!("{}{parts}", self.box_vector(2));
        let numbers = ["$i.x", "$i.y", if is_folded { "$z" } else { "$i.z" }];
        for (k, number) in numbers.into_iter().take(self.axes.count).enumerate() {
            let _ = write!(position, " + {number} * {}{parts}", self.box_vector(3 + k));
        }
        if is_folded {
            let _ = write!(position, " + $w * {}", self.box_vector(6));
        }
        let _ = writeln!(text, "  return select({position}, {}, $outside);", outside_position(self.axes.count));
        text
    }

    /// Returns WGSL of a position of five or more axes; all axes from the third direction on share
    /// z.
    fn many_axes(&self) -> String {
        let (n, ty) = (self.axes.count, self.axes.ty());
        let part = |tuple: usize, k: usize| {
            format!("{}.{}", self.box_vector(2 + tuple * vectors(n) + k / 4), ['x', 'y', 'z', 'w'][k % 4])
        };
        let origin: Vec<_> = (0..n).map(|k| part(0, k)).collect();
        let mut text = format!("  if $outside {{ return {}; }}\n", outside_position(n));
        let _ = writeln!(text, "  var $p = {ty}({});", origin.join(", "));
        let _ = writeln!(text, "  var $t = $i.z + {}.z;\n  var $d = 0;", self.box_vector(1));
        for k in 0..n {
            match k {
                0 => text += "  $d = $i.x;\n",
                1 => text += "  $d = $i.y;\n",
                _ if k + 1 == n => text += "  $d = $t;\n",
                _ => {
                    let _ = writeln!(text, "  $d = $t % {0};\n  $t = $t / {0};", part(2, k));
                }
            }
            // Along axis 0, neighbouring invocations may be a whole word of cells apart.
            let (axis, step) = (part(1, k), self.used.variable(self.at));
            let _ = writeln!(text, "  $p[{axis}] += $d * select(1, {step}.y, {axis} == 0);");
        }
        text + "  return $p;\n"
    }
}
