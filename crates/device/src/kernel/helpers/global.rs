//! Global coordinates, which need 64 bits: pairs of words, low first.

use super::writer::Writer;
use crate::kernel::geometry::{GEOMETRY, Tuple};

/// WGSL functions of 64-bit arithmetic on pairs of words.
pub(super) const WIDE_ARITHMETIC: &str = "\
fn $add($a: vec2<u32>, $b: vec2<u32>) -> vec2<u32> {
  let $low = $a.x + $b.x;
  return vec2<u32>($low, $a.y + $b.y + select(0u, 1u, $low < $a.x));
}
fn $widen($a: i32) -> vec2<u32> { return vec2<u32>(u32($a), u32($a >> 31u)); }
fn $multiply($a: vec2<u32>, $b: vec2<u32>) -> vec2<u32> {
  let $a0 = $a.x & 0xffffu;
  let $a1 = $a.x >> 16u;
  let $b0 = $b.x & 0xffffu;
  let $b1 = $b.x >> 16u;
  let $m = $a1 * $b0 + (($a0 * $b0) >> 16u);
  let $n = $a0 * $b1 + ($m & 0xffffu);
  return vec2<u32>($a.x * $b.x, $a1 * $b1 + ($m >> 16u) + ($n >> 16u) + $a.x * $b.y + $a.y * $b.x);
}
";

impl Writer<'_, '_> {
    /// Writes the helpers `x_global`, `x_global_axis` and `x_linear`.
    pub(super) fn global(&mut self) {
        let (x, axes) = (self.var.name.clone(), self.axes);
        let ty = axes.ty();
        if self.uses_helper("global") {
            let text = match axes.count {
                1..=4 => format!("$p + {}", axes.geometry(Tuple::OriginLow)),
                n => {
                    let sum =
                        |axis| format!("{} + {}", axes.part("$p", axis), axes.geometry_part(Tuple::OriginLow, axis));
                    format!("{ty}({})", (0..n).map(sum).collect::<Vec<_>>().join(", "))
                }
            };
            self.line(&format!("fn {x}_global($p: {ty}) -> {ty} {{ return {text}; }}"));
        }
        let pair = |low: String, high: String| format!("vec2<u32>(vec2<i32>({low}, {high}))");
        if self.uses_helper("global_axis") {
            let origin = |tuple| format!("{GEOMETRY}[{}u + ($axis >> 2u)][$axis & 3u]", axes.vector(tuple));
            let part = if axes.count == 1 { "$p".to_owned() } else { "$q[$axis]".to_owned() };
            self.line(&format!(
                "fn {x}_global_axis($p: {ty}, $axis: u32) -> vec2<u32> {{ var $q = $p; \
                 return $add($widen({part}), {}); }}",
                pair(origin(Tuple::OriginLow), origin(Tuple::OriginHigh))
            ));
        }
        if self.uses_helper("linear") {
            let global = |axis| {
                let origin =
                    pair(axes.geometry_part(Tuple::OriginLow, axis), axes.geometry_part(Tuple::OriginHigh, axis));
                format!("$add($widen({}), {origin})", axes.part("$p", axis))
            };
            let mut text = global(axes.count - 1);
            for axis in (0..axes.count - 1).rev() {
                let shape = pair(axes.geometry_part(Tuple::ShapeLow, axis), axes.geometry_part(Tuple::ShapeHigh, axis));
                text = format!("$add($multiply({text}, {shape}), {})", global(axis));
            }
            self.line(&format!("fn {x}_linear($p: {ty}) -> vec2<u32> {{ return {text}; }}"));
        }
    }
}
