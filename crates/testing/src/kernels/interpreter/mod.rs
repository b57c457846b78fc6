//! Interpreter of naga's representation for compute kernels: slow, and simple enough for an oracle.
//!
//! Values are trees ([`value`]). Each invocation is a machine with an explicit stack
//! ([`invocation`]) and runs to its next barrier. The invocations of a workgroup take turns in the
//! order of their local index. Workgroups follow one another. [`scalar`], [`math`] and
//! [`memory`] state the semantics.

mod atomics;
mod bits;
mod expression;
pub mod functions;
mod invocation;
mod math;
mod memory;
mod packing;
mod races;
pub mod scalar;
mod value;

use std::collections::BTreeMap;

use naga::{AddressSpace, Binding, BuiltIn, EntryPoint, Module, TypeInner, valid::ModuleInfo};

use expression::Evaluator;

pub use functions::{Functions, Libm, LibraryFunction};
use invocation::{Invocation, Pause};
use memory::Memory;
use races::{InvocationEpoch, Races};
use scalar::ScalarValue;
use value::Value;
pub use value::{Types, read_scalar};

pub type Buffers = BTreeMap<(u32, u32), Vec<u8>>;

/// Settings of the interpreter.
pub struct Options<'f> {
    pub functions: &'f dyn Functions,
    pub max_steps: u64,
    pub reversed: bool,
    pub check_races: bool,
    pub check_ranges: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            functions: &functions::Libm,
            max_steps: 100_000_000,
            reversed: false,
            check_races: false,
            check_ranges: false,
        }
    }
}

pub fn run(
    module: &Module,
    info: &ModuleInfo,
    entry: &str,
    buffers: &mut Buffers,
    workgroups: [u32; 3],
) -> Result<(), String> {
    run_with(&Options::default(), module, info, entry, buffers, workgroups)
}

pub fn run_with(
    options: &Options<'_>,
    module: &Module,
    info: &ModuleInfo,
    entry: &str,
    buffers: &mut Buffers,
    workgroups: [u32; 3],
) -> Result<(), String> {
    let position = module
        .entry_points
        .iter()
        .position(|point| point.name == entry && point.stage == naga::ShaderStage::Compute)
        .ok_or_else(|| format!("no compute entry point {entry:?}"))?;
    let point = &module.entry_points[position];

    let constants = constants(module, options.functions);
    let overrides = module.overrides.iter().map(|(_, value)| {
        let init = constants.get(value.init?.index())?.as_ref().ok()?;
        init.scalar().ok()
    });
    let overrides = overrides.collect::<Vec<_>>();
    let types = Types { module, overrides: &overrides };
    let evaluator = Evaluator { types, constants: &constants, functions: options.functions };
    let size = workgroup_size(&evaluator, point)?;

    for (handle, variable) in module.global_variables.iter() {
        let Some(binding) = &variable.binding else { continue };
        if info.get_entry_point(position)[handle].is_empty() {
            continue;
        }
        let size = buffers.get(&(binding.group, binding.binding)).map_or(0, Vec::len);
        if size < types.least_size(types.inner(variable.ty))? {
            return Err(format!("group {}, binding {} has only {size} bytes", binding.group, binding.binding));
        }
    }

    let races = options.check_races.then(Races::default);
    let mut memory = Memory { types, buffers, workgroup: Vec::new(), races, check_ranges: options.check_ranges };
    let mut steps = options.max_steps;
    let mut groups = indices(workgroups);
    let mut locals = indices(size);
    if options.reversed {
        groups.reverse();
        locals.reverse();
    }
    for group in groups {
        memory.clear_workgroup()?;
        let start = |local: &[u32; 3]| -> Result<_, String> {
            let position = Position { size, workgroups, group, local: *local };
            let identity =
                InvocationEpoch { workgroup: linear(group, workgroups), local: linear(*local, size), epoch: 0 };
            let arguments = entry_arguments(module, point, &position)?;
            let private = private_variables(&evaluator)?;
            Ok(Invocation::new(identity, &point.function, arguments, private))
        };
        let mut invocations = locals.iter().map(start).collect::<Result<Vec<_>, _>>()?;
        while run_to_barrier(&mut invocations, &evaluator, &mut memory, &mut steps)? {}
    }
    Ok(())
}

/// Runs each invocation to its next barrier; false if all have ended.
fn run_to_barrier<'m>(
    invocations: &mut [Invocation<'m>],
    evaluator: &Evaluator<'_, 'm>,
    memory: &mut Memory<'m, '_>,
    steps: &mut u64,
) -> Result<bool, String> {
    let mut common = None;
    for invocation in invocations {
        let pause = invocation.run(evaluator, memory, steps)?;
        if *common.get_or_insert(pause) != pause {
            return Err("a barrier in control flow that is not uniform".into());
        }
    }
    Ok(matches!(common, Some(Pause::Barrier { .. })))
}

/// An expression with an unset override is an error.
fn constants(module: &Module, functions: &dyn Functions) -> Vec<Result<Value, String>> {
    let mut constants = Vec::new();
    for (_, expression) in module.global_expressions.iter() {
        let types = Types { module, overrides: &[] };
        let evaluator = Evaluator { types, constants: &constants, functions };
        let value = evaluator.evaluate(expression, &mut |handle| evaluator.constant(handle));
        constants.push(value);
    }
    constants
}

fn workgroup_size(evaluator: &Evaluator<'_, '_>, point: &EntryPoint) -> Result<[u32; 3], String> {
    let mut size = point.workgroup_size;
    for (axis, expression) in point.workgroup_size_overrides.into_iter().flatten().enumerate() {
        if let Some(expression) = expression {
            size[axis] = evaluator.constant(expression)?.scalar()?.as_index()?;
        }
    }
    Ok(size)
}

/// All indices of a box, axis 0 first.
fn indices(size: [u32; 3]) -> Vec<[u32; 3]> {
    let mut all = Vec::new();
    for z in 0..size[2] {
        for y in 0..size[1] {
            all.extend((0..size[0]).map(|x| [x, y, z]));
        }
    }
    all
}

fn linear(index: [u32; 3], size: [u32; 3]) -> u32 {
    index[0] + size[0] * (index[1] + size[1] * index[2])
}

struct Position {
    size: [u32; 3],
    workgroups: [u32; 3],
    group: [u32; 3],
    local: [u32; 3],
}

impl Position {
    fn builtin(&self, builtin: BuiltIn) -> Result<Value, String> {
        let vector = |value: [u32; 3]| Ok(Value::Vector(value.map(ScalarValue::U32).to_vec()));
        let Self { size, workgroups, group, local } = *self;
        match builtin {
            BuiltIn::GlobalInvocationId => {
                vector([0, 1, 2].map(|axis| group[axis].wrapping_mul(size[axis]).wrapping_add(local[axis])))
            }
            BuiltIn::LocalInvocationId => vector(local),
            BuiltIn::LocalInvocationIndex => Ok(Value::Scalar(ScalarValue::U32(linear(local, size)))),
            BuiltIn::WorkGroupId => vector(group),
            BuiltIn::WorkGroupSize => vector(size),
            BuiltIn::NumWorkGroups => vector(workgroups),
            _ => Err(format!("{builtin:?} is not supported")),
        }
    }
}

/// Built-in values or structs of them.
fn entry_arguments(module: &Module, point: &EntryPoint, position: &Position) -> Result<Vec<Value>, String> {
    let value = |binding: &Option<Binding>| match binding {
        Some(Binding::BuiltIn(builtin)) => position.builtin(*builtin),
        _ => Err("an argument of an entry point without a built-in value".into()),
    };
    let arguments = point.function.arguments.iter().map(|argument| match &module.types[argument.ty].inner {
        TypeInner::Struct { members, .. } if argument.binding.is_none() => {
            let members = members.iter().map(|member| value(&member.binding));
            members.collect::<Result<_, _>>().map(Value::Composite)
        }
        _ => value(&argument.binding),
    });
    arguments.collect()
}

/// Initial values of variables in the address space `private`, by the index of their handle.
fn private_variables(evaluator: &Evaluator<'_, '_>) -> Result<Vec<Option<Value>>, String> {
    let types = evaluator.types;
    let variables = types.module.global_variables.iter().map(|(_, variable)| {
        Ok(match (variable.space, variable.init) {
            (AddressSpace::Private, Some(init)) => Some(evaluator.constant(init)?),
            (AddressSpace::Private, None) => Some(types.zero(types.inner(variable.ty))?),
            _ => None,
        })
    });
    variables.collect()
}
