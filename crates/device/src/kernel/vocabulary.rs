//! [`Vocabulary`]: translation of naga's error messages to WGSL.

use naga::front::Typifier;
use naga::proc::ResolveContext;
use naga::valid::ValidationError;
use naga::{Arena, Expression, Function, Handle, Module};

use super::types::{inner_name, type_name};

/// Names in a kernel's text of the types, expressions, variables and functions that naga numbers.
///
/// naga writes a type as `Vector { size: Bi, scalar: … }` and everything else as the number of an
/// entry in a table, `[12]`. [`translate`](Self::translate) replaces both by WGSL.
pub(super) struct Vocabulary<'m> {
    module: &'m Module,
    text: &'m str,
    expressions: &'m Arena<Expression>,
    /// The function of the expressions; `None` for constant expressions of the module.
    function: Option<&'m Function>,
    /// Type of each expression, as naga writes it and in WGSL, up to the first that has none.
    types: Vec<(String, String)>,
}

/// Maximum length, in bytes, of an expression that a message repeats.
const MAX_EXPRESSION_BYTES: usize = 48;

/// Text before the number of a type in naga's messages; other numbers are those of expressions.
const TEXT_BEFORE_TYPES: [&str; 8] = [
    "type ",
    "Type ",
    "type Some(",
    "types like ",
    "zero value of ",
    "pointer target ",
    "data type, found ",
    "base handle ",
];

/// Removes the numbers of entries from a message, where no module is available.
pub(super) fn without_numbers(message: &str) -> String {
    let (mut out, mut rest) = (String::new(), message);
    while let Some((before, numbered)) = rest.split_once(" [") {
        match parse_entry_number(numbered) {
            Some((_, after)) => {
                out +=
                    &before.strip_suffix("expression").map_or(before.to_owned(), |text| format!("{text}an expression"));
                rest = after;
            }
            None => {
                out = out + before + " [";
                rest = numbered;
            }
        }
    }
    out + rest
}

/// Parses the number of an entry in a text after its `[`. Returns it with the text after its `]`.
fn parse_entry_number(text: &str) -> Option<(usize, &str)> {
    let (digits, after) = text.split_once(']')?;
    Some((digits.parse().ok()?, after))
}

impl<'m> Vocabulary<'m> {
    pub(super) fn new(module: &'m Module, text: &'m str, error: &ValidationError) -> Self {
        let function = match error {
            ValidationError::Function { handle, .. } => Some(&module.functions[*handle]),
            ValidationError::EntryPoint { name, .. } => {
                module.entry_points.iter().find(|entry| entry.name == *name).map(|entry| &entry.function)
            }
            _ => None,
        };
        let expressions = function.map_or(&module.global_expressions, |function| &function.expressions);
        let (locals, arguments) = match function {
            Some(function) => (&function.local_variables, &function.arguments[..]),
            None => (&Arena::new(), &[][..]),
        };
        let (mut typifier, context) = (Typifier::new(), ResolveContext::with_locals(module, locals, arguments));
        let ty = |(handle, _)| {
            typifier.grow(handle, expressions, &context).ok()?;
            let inner = typifier.get(handle, &module.types);
            Some((format!("{inner:?}"), inner_name(module, inner)))
        };
        let types = expressions.iter().map_while(ty).collect();
        Self { module, text, expressions, function, types }
    }

    /// Replaces numbers of entries and naga's type syntax in a message by names of WGSL.
    pub(super) fn translate(&self, message: &str) -> String {
        let message = self.types.iter().fold(message.to_owned(), |text, (debug, name)| text.replace(debug, name));
        let (mut out, mut rest) = (String::new(), &message[..]);
        while let Some(at) = rest.find('[') {
            let (before, numbered) = rest.split_at(at);
            out.push_str(before);
            let Some((number, mut after)) = parse_entry_number(&numbered[1..]) else {
                out.push('[');
                rest = &numbered[1..];
                continue;
            };
            let name = self.name(number, &out, after);
            if let Some(without) = out.strip_suffix("Some(") {
                out.truncate(without.len());
                after = after.strip_prefix(')').unwrap_or(after);
            }
            out.push_str(&name);
            rest = after;
        }
        out + rest
    }

    /// Returns the WGSL name of entry `number`; the text around the number selects the table.
    fn name(&self, number: usize, before: &str, after: &str) -> String {
        let quoted =
            |name: Option<&String>| name.map_or_else(|| "an unnamed item".to_owned(), |name| format!("`{name}`"));
        let module = self.module;
        // `Argument [1]` counts arguments.
        if before.ends_with("Argument ") || before.ends_with("member") {
            return number.to_string();
        }
        if before.ends_with("Call to ") || before.ends_with("Function ") {
            return quoted(module.functions.iter().nth(number).and_then(|(_, function)| function.name.as_ref()));
        }
        if before.ends_with("Bindings for ") || before.ends_with("Global variable ") {
            return quoted(module.global_variables.iter().nth(number).and_then(|(_, var)| var.name.as_ref()));
        }
        if before.ends_with("Constant ") || before.ends_with("Override ") {
            return quoted(module.constants.iter().nth(number).and_then(|(_, constant)| constant.name.as_ref()));
        }
        let of_expression = after.starts_with(" is not compatible with this expression");
        if !of_expression && TEXT_BEFORE_TYPES.iter().any(|ending| before.ends_with(ending)) {
            let ty = module.types.iter().nth(number);
            return ty.map_or_else(|| "an unknown type".to_owned(), |(handle, _)| type_name(module, handle));
        }
        let Some((handle, _)) = self.expressions.iter().nth(number) else { return "an expression".to_owned() };
        match self.types.get(number).filter(|_| !after.starts_with(" (of type")) {
            Some((_, ty)) => format!("{} (of type {ty})", self.expression(handle)),
            None => self.expression(handle),
        }
    }

    /// Returns an expression as its author has written it, if it is short.
    fn expression(&self, handle: Handle<Expression>) -> String {
        if let Some(name) = self.function.and_then(|function| function.named_expressions.get(&handle)) {
            return format!("`{name}`");
        }
        let name = match (&self.expressions[handle], self.function) {
            (Expression::LocalVariable(variable), Some(function)) => function.local_variables[*variable].name.as_ref(),
            (Expression::GlobalVariable(variable), _) => self.module.global_variables[*variable].name.as_ref(),
            (Expression::FunctionArgument(index), Some(function)) => function.arguments[*index as usize].name.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            return format!("`{name}`");
        }
        let range = self.expressions.get_span(handle).to_range();
        let written = range.and_then(|range| self.text.get(range)).map(str::trim);
        match written.filter(|text| !text.is_empty() && text.len() <= MAX_EXPRESSION_BYTES && !text.contains('\n')) {
            Some(written) => format!("`{written}`"),
            None => "an expression".to_owned(),
        }
    }
}
