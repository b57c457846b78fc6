//! Elementwise expressions: set a section to a function of other sections, cell by cell, and of the
//! global position.
//!
//! An expression is WGSL. It uses cells of the sections by name, parameters, and `p`, the global
//! position of the cell (`i32` for one axis, `vec2<i32>` to `vec4<i32>` for two to four,
//! `array<i32, D>` for more; the low 32 bits). No data moves between ranks: corresponding cells
//! must be on the same rank.

mod source;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::World;
use crate::array::{ArrayCore, ArrayKind, UntypedSection, align_sections};
use crate::device::Device;
use crate::element::{Element, ElementInfo};
use crate::error::{CallSite, Error, ErrorKind, KernelError, Result};
use crate::history::OperationName;
use crate::kernel::{IntoParam, Kernel, KernelSource, ParamValue, taken};
use crate::world::IntoSection;
use source::{ExpressionText, KernelInputs, SectionTerm, identifiers, value_type};
use zippy_device::wgsl;

/// Elementwise expression, compiled once per combination of the element types and numbers of axes
/// of its sections.
#[derive(Debug)]
pub struct Elementwise {
    device: Rc<Device>,
    expression: String,
    functions: Option<KernelSource>,
    kernels: RefCell<HashMap<String, Rc<ExpressionKernel>>>,
}

#[derive(Debug)]
struct ExpressionKernel {
    kernel: Kernel,
    lines_before: usize,
}

/// Builder of one use of an expression. [`Assignment::write`] returns the first error of all
/// methods.
#[derive(Debug)]
#[must_use = "nothing is computed before write()"]
pub struct Assignment<'e> {
    definition: &'e Elementwise,
    inputs: Vec<(String, &'static ElementInfo, Result<UntypedSection>)>,
    params: Vec<(String, ParamValue)>,
}

impl World {
    /// Creates an elementwise expression in WGSL, such as `"a * x + y"`. Local; nothing is compiled
    /// before the first use.
    ///
    /// # Examples
    /// ```
    /// # use zippy::{Layout, Split};
    /// zippy::run(|world| {
    ///     let layout = Layout::new([6, 4]).split([Split::Even(3), Split::Whole]).ghost([1, 1]);
    ///     let x = world.array::<f32, 2>("x", &layout)?;
    ///     let y = world.array::<f32, 2>("y", &layout)?;
    ///     // Fill by the global position, on the device.
    ///     world.elementwise("f32(p.x + 10 * p.y)").call().write("x", x.at(..))?;
    ///     y.fill(0.5)?;
    ///     world.elementwise("a * x + y").call().read("x", x.at(..)).param("a", 2.0_f32).write("y", y.at(..))?;
    ///     assert_eq!(world.sum(y.at((5, 3)))?, 2.0 * 35.0 + 0.5);
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn elementwise(&self, expression: impl Into<String>) -> Elementwise {
        let kernels = RefCell::default();
        Elementwise { device: self.gpu().clone(), expression: expression.into(), functions: None, kernels }
    }
}

impl Elementwise {
    /// Adds WGSL declarations (functions, constants, structs) that the expression uses, from a text
    /// or a file: `world.elementwise("density(p)").functions(include_wgsl!("density.wgsl"))`.
    #[must_use]
    pub fn functions(self, source: impl Into<KernelSource>) -> Self {
        Self { functions: Some(source.into()), kernels: RefCell::default(), ..self }
    }

    /// Starts a use of the expression. Add sections and parameters, then call
    /// [`Assignment::write`].
    pub fn call(&self) -> Assignment<'_> {
        Assignment { definition: self, inputs: Vec::new(), params: Vec::new() }
    }

    fn compiled(&self, parts: &KernelInputs<'_>) -> Result<Rc<ExpressionKernel>> {
        let ExpressionText { text, lines_before } = parts.kernel_text()?;
        if let Some(found) = self.kernels.borrow().get(&text) {
            return Ok(found.clone());
        }
        let name = format!("elementwise {:?}", self.expression);
        let made = Kernel::new(&self.device, &KernelSource::composed(&name, &text));
        let kernel = made.map_err(|error| self.locate_error(error, lines_before))?;
        let compiled = Rc::new(ExpressionKernel { kernel, lines_before });
        self.kernels.borrow_mut().insert(text, compiled.clone());
        Ok(compiled)
    }

    /// Converts an error in the composed text to one in the expression or the file of functions,
    /// with their line numbers.
    fn locate_error(&self, error: Error, lines_before: usize) -> Error {
        let ErrorKind::Kernel(KernelError::Wgsl { file, line, column, message, excerpt }) = error.kind().clone() else {
            return error;
        };
        let lines = self.functions.as_ref().map_or(0, |source| source.as_text().matches('\n').count() + 1);
        let of_functions = lines_before - 1 - lines;
        let after_expression = lines_before + self.expression.matches('\n').count() + 1;
        let (file, own) = match (&self.functions, line) {
            (_, line) if line > lines_before && line <= after_expression => (file, line - lines_before),
            (Some(source), line) if line > of_functions && line <= of_functions + lines => {
                (source.as_name().to_string(), line - of_functions)
            }
            _ => return KernelSource::text(file, &self.expression).ends_early(&message).into(),
        };
        let excerpt = excerpt.replacen(&format!("\n{line} | "), &format!("\n{own} | "), 1);
        KernelError::Wgsl { file, line: own, column, message, excerpt }.into()
    }
}

impl Assignment<'_> {
    /// Makes the cells of a section available to the expression under this name.
    pub fn read<T: Element, const D: usize>(mut self, name: &str, section: impl IntoSection<T, D>) -> Self {
        self.inputs.push((name.to_string(), &T::INFO, section.into().to_untyped("elementwise")));
        self
    }

    /// Makes a scalar or vector available to the expression under this name.
    pub fn param(mut self, name: &str, value: impl IntoParam) -> Self {
        self.params.push((name.to_string(), value.into()));
        self
    }

    /// Sets the cells of a section to the values of the expression. If the expression uses `name`,
    /// it is the previous value of the cell. Queues the work; transfers and host reads wait for it.
    ///
    /// Either all sections are global, and every rank computes the cells that it owns; or all are
    /// local. They have equal extents, and may have different types, arrays and cuts if
    /// corresponding cells are on the same rank. Cells of 8 and 16 bits are `u32` or `i32` in the
    /// expression and lose their higher bits when stored. Local: a global section is complete when
    /// every rank has called it.
    ///
    /// Cost: one dispatch per aligned box; for global sections, every rank visits the cuts of all
    /// arrays.
    ///
    /// # Errors
    /// * An invalid region, or extents that differ.
    /// * Corresponding cells on different ranks (copy one of the sections first).
    /// * Names that are missing, unused or used twice.
    /// * A section of the same chunk under two names, one of them written.
    /// * Invalid WGSL, by line and column of the expression or the functions.
    #[track_caller]
    pub fn write<T: Element, const D: usize>(self, name: &str, section: impl IntoSection<T, D>) -> Result<()> {
        let _call = CallSite::enter();
        let at = CallSite::here();
        self.check_names(name)?;
        let mut sides = vec![section.into().to_untyped("elementwise")?];
        for (_, _, side) in &self.inputs {
            sides.push(side.clone()?);
        }
        let inputs: Vec<_> = self.inputs.iter().map(|(name, element, _)| SectionTerm { name, element }).collect();
        for term in inputs.iter().chain([&SectionTerm { name, element: &T::INFO }]) {
            if value_type(term.element).is_none() {
                let record = term.element.name;
                return self.invalid_expression(format!(
                    "`{}` has cells of the record {record}; write a kernel for it",
                    term.name
                ));
            }
        }
        let functions = self.definition.functions.as_ref().map_or("", KernelSource::as_text);
        // Untyped float literals in Rust programs are `f64`.
        let has_doubles =
            inputs.iter().map(|term| term.element).chain([&T::INFO]).any(|element| element.name.contains("f64"))
                || [functions, &self.definition.expression].iter().any(|text| text.contains("f64"));
        let mut params = Vec::new();
        for (name, value) in &self.params {
            match value.wgsl().map(|ty| if has_doubles { ty } else { value.wgsl_without_doubles().unwrap_or(ty) }) {
                Some(ty) => params.push((name.as_str(), ty)),
                None => return self.invalid_expression(format!("parameter `{name}` is neither a scalar nor a vector")),
            }
        }
        let target = SectionTerm { name, element: &T::INFO };
        let expression = &self.definition.expression;
        let parts = KernelInputs { functions, expression, axes: D, inputs: &inputs, target, params: &params };
        for (side, (input, ..)) in sides[1..].iter().zip(&self.inputs) {
            let target = &sides[0];
            if is_same_array(&side.core, &target.core) && side.region == target.region {
                return self.invalid_expression(format!(
                    "`{input}` is the same section as the target `{name}`; use the target's own name in the expression and \
                     leave out read({input:?}, …)"
                ));
            }
        }
        // Ranks without cells check too, so that all ranks return the same error.
        let aligned = align_sections("elementwise", &sides)?;
        let compiled = self.definition.compiled(&parts)?;
        let (core, chunk) = (sides[0].core.clone(), sides[0].chunk);
        // Chunks without a selected cell of a global section are also part of the call.
        let what = || OperationName::Kernel(compiled.kernel.name().into());
        let _operation = chunk.is_none().then(|| core.context().ledger.begin_operation(what, at));
        for boxes in aligned {
            let binding = |i: usize| sides[i].core.binding(boxes.0[i].0, boxes.0[i].1);
            let mut call = compiled.kernel.call();
            for (i, input) in inputs.iter().enumerate() {
                call = call.read(input.name, binding(i + 1));
            }
            for (name, value) in &self.params {
                call = call.param(name, value.clone());
            }
            let call = if parts.reads_target() { call.update(name, binding(0)) } else { call.write(name, binding(0)) };
            call.run().map_err(|error| self.definition.locate_error(error, compiled.lines_before))?;
        }
        Ok(())
    }

    fn invalid_expression<R>(&self, problem: String) -> Result<R> {
        Err(KernelError::Other(format!("elementwise {:?}: {problem}", self.definition.expression)).into())
    }

    /// Fails for names that are no identifiers, used twice, or unused.
    fn check_names(&self, target: &str) -> Result<()> {
        let names: Vec<&str> = (self.inputs.iter().map(|(name, ..)| name.as_str()))
            .chain(self.params.iter().map(|(name, _)| name.as_str()))
            .collect();
        let all: Vec<&str> = names.iter().copied().chain([target]).collect();
        for (i, name) in all.iter().enumerate() {
            let starts = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
            if !starts || name.contains(|c: char| !c.is_alphanumeric() && c != '_') {
                return self.invalid_expression(format!("{name:?} is not a name in WGSL"));
            }
            if *name == "p" {
                return self.invalid_expression(format!("the name `{name}` is taken (p is the global position)"));
            }
            if let Some(problem) = wgsl::reserved(name).or_else(|| taken(name, &all)) {
                return self.invalid_expression(problem);
            }
            if names[..i.min(names.len())].contains(name) {
                return self.invalid_expression(format!(
                    "the name `{name}` is given twice; to read the target, use its own name"
                ));
            }
            if i < names.len() && !identifiers(&self.definition.expression).any(|word| word == *name) {
                let alike =
                    |word: &&str| word.eq_ignore_ascii_case(name) || strsim::damerau_levenshtein(word, name) == 1;
                let meant = identifiers(&self.definition.expression)
                    .filter(|word| word.len() > 1 || word.eq_ignore_ascii_case(name));
                return self.invalid_expression(match meant.filter(alike).find(|word| !all.contains(word)) {
                    Some(word) => {
                        format!("`{word}` is unknown to the expression; did you mean `{name}`?")
                    }
                    None => format!("`{name}` is given, but the expression does not use it; leave it out"),
                });
            }
        }
        if identifiers(&self.definition.expression)
            .any(|word| matches!(word, "if" | "else" | "for" | "while" | "return" | "let" | "var"))
        {
            let advice = "it is one expression and has no statements; choose between values by select(otherwise, value, \
                          condition), and put more into functions (Elementwise::functions)";
            return self.invalid_expression(advice.to_owned());
        }
        if wgsl::Tokens::new(&self.definition.expression).open_comment {
            let text = KernelSource::text(
                format!("elementwise {:?}", self.definition.expression),
                &self.definition.expression,
            );
            return Err(text.ends_early("a comment has no end").into());
        }
        match &self.definition.functions {
            Some(source) => Ok(source.check_composable(&all)?),
            None => Ok(()),
        }
    }
}

/// True if both cores are handles of one array. Global and local arrays have separate ids.
fn is_same_array(one: &ArrayCore, other: &ArrayCore) -> bool {
    let is_global = |core: &ArrayCore| core.kind() == ArrayKind::Global;
    one.id() == other.id() && is_global(one) == is_global(other)
}
