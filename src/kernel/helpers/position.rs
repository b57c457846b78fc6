//! From an invocation to its cell.

use std::fmt::Write;

use super::axes::Axes;
use super::look::{INVOCATION, NOBODY};
use super::nowhere::nowhere;
use super::writer::Writer;
use crate::kernel::geometry::{DomainMap, GEOMETRY, MAX_BOXES, vectors};

impl Writer<'_> {
    /// `x_position`; tells whether the shared part is needed.
    pub(super) fn position(&mut self) -> bool {
        let wanted = self.wants("position") && self.has_position;
        if wanted {
            let (x, ty) = (&self.var.name, self.axes.ty());
            let text = format!("fn {x}_position($id: vec3<u32>) -> {ty} {{ return $position($id); }}");
            self.line(&text);
        }
        wanted
    }
}

/// `$box`, the first vector of the box that has an invocation with this z, and `$position`. Geometry of the domain starts
/// at vector `at`.
pub fn shared(out: &mut String, axes: usize, at: usize, watched: bool) {
    let g = GEOMETRY;
    let ty = Axes::new(axes, 0).ty();
    let DomainMap { starts, boxes, of_box: size, .. } = DomainMap::new(axes);
    let _ =
        writeln!(out, "fn $box($id_z: u32) -> u32 {{\n  let $z = vec4<i32>(i32($id_z));\n  var $n = vec4<u32>(0u);");
    // Boxes that there are not begin beyond everything. To ask how many there are would be a branch on a parameter.
    for k in 0..MAX_BOXES / 4 {
        let _ = writeln!(out, "  $n += select(vec4<u32>(0u), vec4<u32>(1u), $z >= {g}[{}]);", at + starts + k);
    }
    let _ = writeln!(out, "  return {}u + {size}u * ($n.x + $n.y + $n.z + $n.w);\n}}", at + boxes);
    let _ = writeln!(out, "fn $position($id: vec3<u32>) -> {ty} {{\n  let $b = $box($id.z);");
    if watched {
        let _ = writeln!(out, "  {INVOCATION} = $id;");
    }
    let _ = writeln!(out, "  let $e = {g}[$b];\n  let $i = vec3<i32>($id) - vec3<i32>(0, 0, $e.w);");
    let _ = writeln!(out, "  let $outside = any(vec3<u32>($i) >= vec3<u32>($e.xyz));");
    if watched {
        let _ = writeln!(out, "  {NOBODY} = $outside;");
    }
    match axes {
        1..=4 => {
            let parts = &".xyzw"[..1 + axes];
            if axes == 4 {
                let _ = writeln!(out, "  let $f = {g}[$b + 7u].x;\n  let $folded = $i.z + {g}[$b + 1u].z;");
                let _ = writeln!(out, "  let $w = $folded / $f;\n  let $z = $folded - $w * $f;");
            }
            let z = if axes == 4 { "$z" } else { "$i.z" };
            let _ =
                write!(out, "  let $p = {g}[$b + 2u]{parts} + $i.x * {g}[$b + 3u]{parts} + $i.y * {g}[$b + 4u]{parts}");
            let _ = write!(out, " + {z} * {g}[$b + 5u]{parts}");
            let _ = writeln!(out, "{};", if axes == 4 { format!(" + $w * {g}[$b + 6u]") } else { String::new() });
            let _ = writeln!(out, "  return select($p, {}, $outside);\n}}", nowhere(axes));
        }
        n => {
            let v = vectors(n);
            let _ = writeln!(out, "  if $outside {{ return {}; }}", nowhere(n));
            let part = |tuple: usize, k: usize| {
                format!("{g}[$b + {}u].{}", 2 + tuple * v + k / 4, ['x', 'y', 'z', 'w'][k % 4])
            };
            let origin: Vec<_> = (0..n).map(|k| part(0, k)).collect();
            let _ = writeln!(out, "  var $p = {ty}({});", origin.join(", "));
            // Along axis 0 invocations may be a whole word of cells apart.
            let step = |k: usize| format!("select(1, {g}[{at}].y, {} == 0)", part(1, k));
            let _ = writeln!(out, "  var $t = $i.z + {g}[$b + 1u].z;\n  var $d = 0;");
            for k in 0..n {
                match k {
                    0 => out.push_str("  $d = $i.x;\n"),
                    1 => out.push_str("  $d = $i.y;\n"),
                    _ if k + 1 == n => out.push_str("  $d = $t;\n"),
                    _ => {
                        let _ = writeln!(out, "  $d = $t % {};\n  $t = $t / {};", part(2, k), part(2, k));
                    }
                }
                let _ = writeln!(out, "  $p[{}] += $d * {};", part(1, k), step(k));
            }
            let _ = writeln!(out, "  return $p;\n}}");
        }
    }
}
