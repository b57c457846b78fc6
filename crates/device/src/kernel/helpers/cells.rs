//! Helpers that read and write cells: plain, atomic, and packed in words; in one window or several.

use super::writer::{Writer, window_name};
use crate::kernel::geometry::Tuple;

impl Writer<'_, '_> {
    /// Writes the helpers `x_load`, `x_store`, `x_store_word`, `x_inside_word` and `x_index`.
    pub(super) fn cells(&mut self) {
        match self.shape.packed {
            None => self.plain(),
            Some(_) => self.packed(),
        }
    }

    /// Writes the function that loads or, with `put`, stores one slot of the variable in any
    /// window.
    fn windows(&mut self, put: bool) {
        let (x, cell) = (&self.var.name, self.cell);
        let access = |name: &str, index: &str| match (put, self.var.atomic) {
            (false, false) => format!("return {name}[{index}];"),
            (false, true) => format!("return atomicLoad(&{name}[{index}]);"),
            (true, false) => format!("{name}[{index}] = $v; return;"),
            (true, true) => format!("atomicStore(&{name}[{index}], $v); return;"),
        };
        let mut text = if put {
            format!("fn ${x}_put($at: u32, $v: {cell}) {{")
        } else {
            format!("fn ${x}_get($at: u32) -> {cell} {{")
        };
        text += &self.by_window(&access);
        text += "}";
        self.line(&text);
    }

    /// Returns statements with `access(variable, index)` for the window that holds slot `at`; every
    /// access ends in a return.
    fn by_window(&self, access: &dyn Fn(&str, &str) -> String) -> String {
        let x = &self.var.name;
        let windows = self.shape.windows;
        if windows == 1 {
            return format!(" {} ", access(x, "$at"));
        }
        let mut text = format!("\n  let $size = arrayLength(&{x});\n  var $i = $at;\n");
        for k in 0..windows {
            let name = if k == 0 { x.clone() } else { window_name(x, k) };
            if k + 1 < windows {
                text += &format!("  if $i < $size {{ {} }}\n  $i -= $size;\n", access(&name, "$i"));
            } else {
                text += &format!("  {}\n", access(&name, "$i"));
            }
        }
        text
    }

    fn plain(&mut self) {
        let (x, ty, cell) = (self.var.name.clone(), self.axes.ty(), self.cell);
        let index = self.axes.offset(&self.axes.part("$p", 0), "$p");
        let has = self.has();
        let (loads, stores) = (self.record_call(false), self.record_call(true));
        if self.uses_helper("index") {
            self.line(&format!("fn {x}_index($p: {ty}) -> u32 {{ return u32({index}); }}"));
        }
        if self.uses_helper("load") && !self.var.holds_atomics {
            self.windows(false);
            self.line(&format!("fn {x}_load($p: {ty}) -> {cell} {{ {loads}return ${x}_get(u32({index})); }}"));
        }
        if self.uses_helper("store") && self.var.writable && !self.var.holds_atomics {
            self.windows(true);
            self.line(&format!(
                "fn {x}_store($p: {ty}, $v: {cell}) {{ {stores}if {has} {{ ${x}_put(u32({index}), $v); }} }}"
            ));
        }
    }

    fn packed(&mut self) {
        let Some(packed) = self.shape.packed else { return };
        let (x, ty, axes) = (self.var.name.clone(), self.axes.ty(), self.axes);
        let bits = 8 * packed.bytes();
        let (per_word, shift) = if bits == 8 { (4, 2) } else { (2, 1) };
        let low = if bits == 8 { "0xffu" } else { "0xffffu" };
        let value = if packed.is_signed() { "i32" } else { "u32" };
        // The cell along axis 0 from the start of its row, where words begin.
        let cell = format!("{} - {}", axes.part("$p", 0), axes.geometry_part(Tuple::StorageLo, 0));
        let word = axes.offset(&format!("($q >> {shift}u)"), "$p");
        let has = self.has();
        let bit = format!("u32($q & {}) * {bits}u", per_word - 1);
        let rest = axes.within("$p", None, Tuple::SectionExtent, 1);
        let width = axes.geometry_part(Tuple::SectionExtent, 0);
        let first = format!("(({cell}) & -{per_word}) + {}", axes.geometry_part(Tuple::StorageLo, 0));

        let (loads, stores) = (self.record_call(false), self.record_call(true));
        let store = self.uses_helper("store") && self.var.writable && self.var.atomic;
        let store_word = self.uses_helper("store_word") && self.var.writable && !self.var.atomic;
        if self.uses_helper("load") || store_word {
            self.windows(false);
        }
        if self.uses_helper("load") {
            self.line(&format!(
                "fn {x}_load($p: {ty}) -> {value} {{ {loads}let $q = {cell}; \
                 return extractBits({value}(${x}_get(u32({word}))), {bit}, {bits}u); }}"
            ));
        }
        if store {
            let change = |name: &str, i: &str| {
                format!("atomicAnd(&{name}[{i}], ~({low} << $bit)); atomicOr(&{name}[{i}], $v << $bit); return;")
            };
            let body = self.by_window(&change);
            self.line(&format!("fn ${x}_set($at: u32, $bit: u32, $v: u32) {{{body}}}"));
            self.line(&format!(
                "fn {x}_store($p: {ty}, $v: {value}) {{ {stores}if {has} {{ let $q = {cell}; \
                 ${x}_set(u32({word}), {bit}, u32($v) & {low}); }} }}"
            ));
        }
        if self.uses_helper("inside_word") {
            self.line(&format!(
                "fn {x}_inside_word($p: {ty}) -> bool {{ let $first = {first}; \
                 return ($first > -{per_word}) & ($first < {width}) & {rest}; }}"
            ));
        }
        if store_word {
            self.windows(true);
            let mut text = format!("fn {x}_store_word($p: {ty}, $cells: vec{per_word}<{value}>) {{\n");
            text += &format!("  let $q = {cell};\n  let $first = {first};\n  var $mask = 0u;\n  var $word = 0u;\n");
            for k in 0..per_word {
                let at = k * bits;
                text += &format!("  $mask |= select(0u, {low} << {at}u, u32($first + {k}) < u32({width}));\n");
                text += &format!("  $word |= (u32($cells[{k}]) & {low}) << {at}u;\n");
            }
            text += &format!("  if ($mask != 0u) & {rest} & {} {{\n    let $at = u32({word});\n", self.any());
            text += &format!("    ${x}_put($at, (${x}_get($at) & ~$mask) | ($word & $mask));\n  }}\n}}");
            self.line(&text);
        }
    }
}
