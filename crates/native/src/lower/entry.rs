//! Lowering of an entry point: its bindings, global variables and arguments.

use std::rc::Rc;

use naga::{
    AddressSpace, Binding, BuiltIn, FunctionArgument, GlobalVariable, Handle, ShaderStage, StorageAccess, TypeInner,
};

use super::facts::{IndexedArrays, VariableId};
use super::layout::{Layout, describe};
use super::location::Location;
use super::{Lowering, Operand, Unsupported};
use crate::ir::{self, Builtin, Kernel, Memory, Value};

impl<'m> Lowering<'m> {
    /// Lowers the entry point; also returns the arrays that must move to the frame.
    pub(super) fn lower_entry_point(mut self) -> Result<(Kernel, IndexedArrays), Unsupported> {
        let module = self.module;
        let point = &module.entry_points[self.entry];
        if point.stage != ShaderStage::Compute {
            return self.unsupported("entry points of other stages than compute");
        }
        if point.workgroup_size_overrides.is_some_and(|sizes| sizes.iter().any(Option::is_some)) {
            return self.unsupported("overrides without a value");
        }
        self.builder.kernel.workgroup_size = point.workgroup_size;
        let info = self.info.get_entry_point(self.entry);
        for (handle, global) in module.global_variables.iter() {
            if !info[handle].is_empty() {
                self.line = self.lines.line(module.global_variables.get_span(handle));
                let location = self.declare_global(handle, global)?;
                self.globals[handle.index()] = Some(Rc::new(location));
            }
        }
        for argument in &point.function.arguments {
            let values = self.entry_argument(argument)?;
            self.instance.arguments.push(Operand::Values(values.into()));
        }
        self.lower_function(&point.function)?;
        Ok(self.finish())
    }

    fn declare_global(
        &mut self,
        handle: Handle<GlobalVariable>,
        global: &GlobalVariable,
    ) -> Result<Location, Unsupported> {
        match global.space {
            AddressSpace::Private => {
                let location = self.allocate(global.ty, VariableId::Private(handle))?;
                let values = global.init.map(|init| self.global_values(init)).transpose()?;
                self.initialize(&location, global.ty, values)?;
                Ok(location)
            }
            AddressSpace::WorkGroup => self.declare_workgroup(global),
            AddressSpace::Storage { access } => {
                self.declare_binding(global, access.contains(StorageAccess::STORE), false)
            }
            AddressSpace::Uniform => self.declare_binding(global, false, true),
            AddressSpace::Handle => self.unsupported(describe(&self.module.types[global.ty].inner)),
            AddressSpace::Immediate => self.unsupported("immediate data"),
            _ => self.unsupported("this kind of global variable"),
        }
    }

    fn declare_workgroup(&mut self, global: &GlobalVariable) -> Result<Location, Unsupported> {
        let begin = u64::from(self.builder.kernel.workgroup_bytes).next_multiple_of(8);
        let end = begin.saturating_add(self.layouts.size(Layout::Packed, global.ty));
        match u32::try_from(end) {
            Ok(end) if end <= i32::MAX as u32 => {
                self.builder.kernel.workgroup_bytes = end;
                Ok(Location::memory(Memory::Workgroup, begin as u32))
            }
            _ => self.unsupported("workgroup variables of this size"),
        }
    }

    fn declare_binding(
        &mut self,
        global: &GlobalVariable,
        writable: bool,
        uniform: bool,
    ) -> Result<Location, Unsupported> {
        let Some(binding) = global.binding else { return self.invalid("a binding without a number") };
        let inner = &self.module.types[global.ty].inner;
        if let TypeInner::BindingArray { .. } = inner {
            return self.unsupported(describe(inner));
        }
        let Ok(min_bytes) = u32::try_from(self.min_bytes(global.ty)) else {
            return self.unsupported("types of 4 GiB and more");
        };
        let bindings = &mut self.builder.kernel.bindings;
        bindings.push(ir::Binding {
            group: binding.group,
            binding: binding.binding,
            name: global.name.clone().unwrap_or_default(),
            writable,
            uniform,
            min_bytes,
        });
        let number = bindings.len() - 1;
        Ok(Location::memory(Memory::Binding(number), 0))
    }

    /// Size of a type in bytes, with one element of a runtime-sized array and no padding after it.
    fn min_bytes(&mut self, ty: naga::Handle<naga::Type>) -> u64 {
        match &self.module.types[ty].inner {
            TypeInner::Struct { members, .. } => match members.last() {
                Some(last) => u64::from(last.offset) + self.min_bytes(last.ty),
                None => 0,
            },
            TypeInner::Array { base, size: naga::ArraySize::Dynamic, .. } => self.layouts.size(Layout::Host, *base),
            _ => self.layouts.size(Layout::Host, ty),
        }
    }

    fn entry_argument(&mut self, argument: &FunctionArgument) -> Result<Vec<Value>, Unsupported> {
        if let Some(binding) = &argument.binding {
            return self.builtin_values(binding);
        }
        let TypeInner::Struct { members, .. } = &self.module.types[argument.ty].inner else {
            return self.invalid("an argument without a built-in value");
        };
        let mut values = Vec::new();
        for member in members {
            let Some(binding) = &member.binding else { return self.invalid("a member without a built-in value") };
            values.extend(self.builtin_values(binding)?);
        }
        Ok(values)
    }

    fn builtin_values(&mut self, binding: &Binding) -> Result<Vec<Value>, Unsupported> {
        let Binding::BuiltIn(builtin) = binding else { return self.invalid("an argument without a built-in value") };
        let size = self.builder.kernel.workgroup_size;
        let builder = &mut self.builder;
        let mut axes = |of: fn(u8) -> Builtin| (0..3).map(|axis| builder.builtin(of(axis))).collect();
        match builtin {
            BuiltIn::GlobalInvocationId => Ok(axes(Builtin::GlobalId)),
            BuiltIn::LocalInvocationId => Ok(axes(Builtin::LocalId)),
            BuiltIn::WorkGroupId => Ok(axes(Builtin::WorkgroupId)),
            BuiltIn::NumWorkGroups => Ok(axes(Builtin::NumWorkgroups)),
            BuiltIn::LocalInvocationIndex => Ok(vec![builder.builtin(Builtin::LocalIndex)]),
            BuiltIn::WorkGroupSize => Ok(size.iter().map(|size| builder.u32(*size)).collect()),
            BuiltIn::NumSubgroups | BuiltIn::SubgroupId | BuiltIn::SubgroupSize | BuiltIn::SubgroupInvocationId => {
                self.unsupported("subgroups")
            }
            _ => self.unsupported("this built-in value"),
        }
    }
}
