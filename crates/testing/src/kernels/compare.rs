//! Bitwise comparison of the interpreter with another executor.

use std::fmt;

use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{GlobalVariable, Module};

use super::interpreter::{self, Buffers, Types};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    Invalid(String),
    Interpreter(String),
    Executor(String),
    Difference(String),
}

impl Failure {
    pub fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(message) => write!(f, "the text is invalid: {message}"),
            Self::Interpreter(message) => write!(f, "the interpreter: {message}"),
            Self::Executor(message) => write!(f, "the executor: {message}"),
            Self::Difference(message) => write!(f, "results differ: {message}"),
        }
    }
}

/// Parses and validates a text with all capabilities.
pub fn compile(text: &str) -> Result<(Module, ModuleInfo), String> {
    // The constant evaluator of naga panics for some vectors, which reductions make constant.
    let module = std::panic::catch_unwind(|| naga::front::wgsl::parse_str(text));
    let module = module.map_err(|_| "the front end panics")?.map_err(|error| error.emit_to_string(text))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .map_err(|error| error.emit_to_string(text))?;
    Ok((module, info))
}

/// Runs the first entry point of a text by the interpreter and by `executor`, and compares the
/// buffers.
///
/// Scalars of writable buffers must have the same bits, but any NaN equals any NaN of its type.
/// Other buffers, and bytes outside of scalars, must be unchanged.
pub fn compare(
    text: &str,
    buffers: &Buffers,
    workgroups: [u32; 3],
    executor: impl Fn(&Module, &ModuleInfo, &str, &mut Buffers, [u32; 3]) -> Result<(), String>,
) -> Result<(), Failure> {
    compare_with(&interpreter::Options::default(), text, buffers, workgroups, executor)
}

/// [`compare`] with settings of the interpreter, such as the executor's library of functions.
pub fn compare_with(
    options: &interpreter::Options<'_>,
    text: &str,
    buffers: &Buffers,
    workgroups: [u32; 3],
    executor: impl Fn(&Module, &ModuleInfo, &str, &mut Buffers, [u32; 3]) -> Result<(), String>,
) -> Result<(), Failure> {
    let (module, info) = compile(text).map_err(Failure::Invalid)?;
    let entry = &module.entry_points.first().ok_or(Failure::Invalid("no entry point".into()))?.name;
    let mut expected = buffers.clone();
    expected.retain(|key, _| module.global_variables.iter().any(|(_, variable)| is_at(variable, *key)));
    let mut actual = expected.clone();
    interpreter::run_with(options, &module, &info, entry, &mut expected, workgroups).map_err(Failure::Interpreter)?;
    executor(&module, &info, entry, &mut actual, workgroups).map_err(Failure::Executor)?;
    compare_buffers(&module, expected, actual)
}

fn is_at(variable: &GlobalVariable, (group, binding): (u32, u32)) -> bool {
    variable.binding.is_some_and(|place| (place.group, place.binding) == (group, binding))
}

pub fn compare_buffers(module: &Module, mut expected: Buffers, mut actual: Buffers) -> Result<(), Failure> {
    let types = Types { module, overrides: &[] };
    for (_, variable) in module.global_variables.iter() {
        let Some(binding) = &variable.binding else { continue };
        let key = (binding.group, binding.binding);
        let (Some(expected), Some(actual)) = (expected.get_mut(&key), actual.get_mut(&key)) else { continue };
        let ty = types.inner(variable.ty);
        // A binding that the entry point does not use may have any size.
        if types.least_size(ty).is_ok_and(|size| size > expected.len()) {
            continue;
        }
        let name = variable.name.as_deref().unwrap_or("?");
        if expected.len() != actual.len() {
            return Err(Failure::Difference(format!("the length of {name}")));
        }
        let found = types.for_each_scalar_of_binding(ty, expected.len(), &mut |scalar, offset| {
            let range = offset..offset + usize::from(scalar.width);
            let [a, b] =
                [&expected[range.clone()], &actual[range.clone()]].map(|bytes| interpreter::read_scalar(scalar, bytes));
            let (a, b) = (a?, b?);
            if a.bits() != b.bits() && !(a.is_nan() && b.is_nan()) {
                return Err(format!("{name} at byte {offset}: {a:?} expected, {b:?} found"));
            }
            expected[range.clone()].fill(0);
            actual[range].fill(0);
            Ok(())
        });
        found.map_err(Failure::Difference)?;
    }
    // Only bytes outside of scalars are left.
    if let Some((key, _)) = expected.iter().find(|(key, bytes)| actual.get(key) != Some(bytes)) {
        return Err(Failure::Difference(format!("bytes of group {}, binding {} that hold no scalar", key.0, key.1)));
    }
    Ok(())
}
