//! WGSL text of an elementwise kernel.

use std::fmt::Write;

use zippy_device::kernel::WgslComposer;

use crate::element::{ElementInfo, ElementKind, Packed};
use crate::error::KernelError;

/// Name and element type of a section that an expression reads or writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct SectionTerm<'a> {
    pub name: &'a str,
    pub element: &'a ElementInfo,
}

/// Inputs of the WGSL text of an elementwise kernel.
pub(super) struct KernelInputs<'a> {
    /// The user's declarations; may be empty.
    pub functions: &'a str,
    pub expression: &'a str,
    pub axes: usize,
    pub inputs: &'a [SectionTerm<'a>],
    pub target: SectionTerm<'a>,
    /// Names and WGSL types of the parameters.
    pub params: &'a [(&'a str, &'a str)],
}

/// WGSL text of a kernel, and the location of the expression in it.
pub(super) struct ExpressionText {
    pub text: String,
    /// Number of lines before the expression.
    pub lines_before: usize,
}

/// WGSL type of one cell in an expression; `None` for records.
pub(super) fn value_type(element: &ElementInfo) -> Option<&'static str> {
    match element.kind {
        ElementKind::Packed(packed) if packed.is_signed() => Some("i32"),
        ElementKind::Packed(_) => Some("u32"),
        ElementKind::Record(_) => None,
        _ => Some(element.name),
    }
}

fn packed(element: &ElementInfo) -> Option<Packed> {
    match element.kind {
        ElementKind::Packed(packed) => Some(packed),
        _ => None,
    }
}

/// Identifiers of a WGSL text, including identifiers of its comments.
pub(super) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

impl KernelInputs<'_> {
    /// True if the expression uses the previous value of the target.
    pub(super) fn reads_target(&self) -> bool {
        identifiers(self.expression).any(|word| word == self.target.name)
    }

    /// Composes the complete kernel. The columns of the user's texts are unchanged, and their lines
    /// are shifted by a constant.
    pub(super) fn kernel_text(&self) -> Result<ExpressionText, KernelError> {
        let mut out = self.functions.to_string();
        if !self.functions.is_empty() {
            out.push('\n');
        }
        let position = match self.axes {
            1 => "i32".to_string(),
            n @ 2..=4 => format!("vec{n}<i32>"),
            n => format!("array<i32, {n}>"),
        };
        let used = |name: &str| identifiers(self.expression).any(|word| word == name);
        let value = |term: &SectionTerm<'_>| value_type(term.element).unwrap_or("u32");
        let target = self.target;

        // The expression becomes the body of a function of the position and of the used cells and
        // parameters.
        let mut declared = Vec::new();
        let mut arguments = Vec::new();
        if used("p") {
            declared.push(format!("p: {position}"));
            arguments.push(format!("{}_global(zippy_cell)", target.name));
        }
        for term in self.inputs.iter().chain(self.reads_target().then_some(&target)) {
            declared.push(format!("{}: {}", term.name, value(term)));
            arguments.push(format!("{}_load(zippy_cell)", term.name));
        }
        for (name, ty) in self.params {
            declared.push(format!("{name}: {ty}"));
            arguments.push(format!("zippy_params.{name}"));
        }
        let _ = writeln!(out, "fn zippy_value({}) -> {} {{ return (", declared.join(", "), value(&target));
        let half = |term: &SectionTerm<'_>| term.element.requires().f16;
        let needs_f16 = self.inputs.iter().any(half) || half(&self.target);
        let lines_before = usize::from(needs_f16) + out.matches('\n').count();
        let _ = writeln!(out, "{}\n); }}\n", self.expression);

        for (binding, (term, access)) in
            (self.inputs.iter().map(|term| (term, "read"))).chain([(&target, "read_write")]).enumerate()
        {
            let cell = packed(term.element).map_or(term.element.name, |_| "u32");
            let name = term.name;
            let _ = writeln!(out, "@group(0) @binding({binding}) var<storage, {access}> {name}: array<{cell}>;");
        }
        if !self.params.is_empty() {
            let members: Vec<_> = self.params.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
            let _ = writeln!(out, "struct zippy_Params {{ {} }}", members.join(", "));
            let binding = self.inputs.len() + 1;
            let _ = writeln!(out, "@group(0) @binding({binding}) var<uniform> zippy_params: zippy_Params;");
        }
        let _ = writeln!(
            out,
            "fn zippy_cell_value(zippy_cell: {position}) -> {} {{ return zippy_value({}); }}",
            value(&target),
            arguments.join(", ")
        );
        self.write_entry_point(&mut out, &position);
        let composer = if needs_f16 { WgslComposer::new().enable("f16") } else { WgslComposer::new() };
        Ok(ExpressionText { text: composer.generated(out).compose()?, lines_before })
    }

    fn write_entry_point(&self, out: &mut String, position: &str) {
        let y = self.target.name;
        let store = match packed(self.target.element) {
            None => format!("if {y}_inside(zippy_cell) {{ {y}_store(zippy_cell, zippy_cell_value(zippy_cell)); }}"),
            Some(packed) => {
                let count = 4 / packed.bytes();
                let step = if self.axes == 1 { "zippy_q" } else { "zippy_q[0]" };
                let _ = writeln!(
                    out,
                    "fn zippy_along(zippy_cell: {position}, zippy_k: i32) -> {position} {{ \
                     var zippy_q = zippy_cell; {step} += zippy_k; return zippy_q; }}"
                );
                let cells: Vec<_> =
                    (0..count).map(|k| format!("zippy_cell_value(zippy_along(zippy_cell, {k}))")).collect();
                let value = value_type(self.target.element).unwrap_or("u32");
                let cells = cells.join(", ");
                format!(
                    "if {y}_inside_word(zippy_cell) {{ {y}_store_word(zippy_cell, vec{count}<{value}>({cells})); }}"
                )
            }
        };
        let _ = writeln!(
            out,
            "@compute @workgroup_size(64)\n\
             fn zippy_main(@builtin(global_invocation_id) zippy_id: vec3<u32>) {{\n\
             let zippy_cell = {y}_position(zippy_id);\n{store}\n}}"
        );
    }
}
