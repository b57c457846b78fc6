//! [`CheckedKernel`]: a kernel for one signature, with the resources of its entry point.

use std::sync::Arc;

use super::binding::Binding;
use super::geometry::{COUNT, GeometryMap, REPORT};
use super::helpers::window_name;
use super::parsed_module::ParsedModule;
use super::program::{Complete, Program};
use super::signature::Signature;
use super::types::{self, UniformSlot};
use crate::error::KernelError;

#[derive(Debug, Clone)]
pub(super) struct UniformVar {
    pub name: String,
    /// WGSL declaration of the variable in short form, for error messages.
    pub declaration: String,
    /// Size in bytes, a multiple of 16.
    pub bytes: usize,
    pub slots: Vec<UniformSlot>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resource {
    /// Window `k` of the storage variable with this index.
    Storage {
        var: usize,
        window: u32,
        writable: bool,
    },
    Geometry,
    Count,
    /// Memory for the report of a checked run.
    Report,
    /// The uniform variable with this index.
    Uniform(usize),
}

/// Resource of a kernel with its bind group and binding number.
#[derive(Debug, Clone, Copy)]
pub(super) struct BindingPoint {
    pub group: u32,
    pub binding: u32,
    pub resource: Resource,
}

/// Kernel with helpers that naga has validated, with the resources of its entry point.
#[derive(Debug)]
pub(super) struct CheckedKernel {
    /// Complete WGSL text, the key of pipelines.
    pub text: String,
    pub entry: String,
    pub workgroup: [u32; 3],
    pub map: GeometryMap,
    pub uniforms: Vec<UniformVar>,
    /// Resources that the entry point uses, by bind group and binding number.
    pub points: Vec<BindingPoint>,
    /// For each storage variable: true if the entry point uses it.
    pub reached: Vec<bool>,
    pub parsed: Arc<ParsedModule>,
    cells: Vec<Option<naga::Handle<naga::Type>>>,
}

impl CheckedKernel {
    /// Determines the resources of the entry point; `entry` is required if the text has several.
    pub(super) fn new(
        program: &Program,
        complete: Complete,
        signature: &Signature,
        entry: Option<&str>,
    ) -> Result<Self, KernelError> {
        let Complete { text, parsed, map, group } = complete;
        let ParsedModule { module, info } = &*parsed;
        let index = entry_point(program, module, entry)?;
        let function = &module.entry_points[index];
        if let Some((_, constant)) = module.overrides.iter().next() {
            let name = constant.name.as_deref().unwrap_or("a constant with an @id");
            return Err(KernelError::Limit {
                kernel: program.name.clone(),
                problem: format!("`{name}` is declared override; declare it const, or pass its value as a parameter"),
            });
        }
        let uses = info.get_entry_point(index);
        let mut points = Vec::new();
        let mut uniforms = Vec::new();
        let mut reached_vars = vec![false; program.scan.storage.len()];
        let mut cells = vec![None; program.scan.storage.len()];
        for (handle, var) in module.global_variables.iter() {
            let Some(binding) = &var.binding else { continue };
            let name = var.name.as_deref().unwrap_or("");
            let reached = !uses[handle].is_empty();
            let mut place = |resource| {
                if reached {
                    points.push(BindingPoint { group: binding.group, binding: binding.binding, resource });
                }
            };
            match var.space {
                naga::AddressSpace::Uniform if binding.group == group => {
                    place(if name == COUNT { Resource::Count } else { Resource::Geometry });
                }
                naga::AddressSpace::Uniform => {
                    place(Resource::Uniform(uniforms.len()));
                    if reached {
                        let bytes = module.types[var.ty].inner.size(module.to_ctx()) as usize;
                        uniforms.push(UniformVar {
                            name: name.to_owned(),
                            declaration: describe_uniform(module, name, var.ty),
                            bytes: bytes.next_multiple_of(16),
                            slots: types::slots(module, name, var.ty),
                        });
                    }
                }
                naga::AddressSpace::Storage { .. } if binding.group == group && name == REPORT => {
                    place(Resource::Report)
                }
                naga::AddressSpace::Storage { access } => {
                    let writable = access.contains(naga::StorageAccess::STORE);
                    for (number, declared) in program.scan.storage.iter().enumerate() {
                        for window in 0..signature.vars[number].windows {
                            if (window == 0 && declared.name == name)
                                || (window > 0 && window_name(&declared.name, window) == name)
                            {
                                place(Resource::Storage { var: number, window, writable });
                                reached_vars[number] |= reached;
                                if let (0, naga::TypeInner::Array { base, .. }) = (window, &module.types[var.ty].inner)
                                {
                                    cells[number] = Some(*base);
                                }
                            }
                        }
                    }
                }
                _ if reached => {
                    return Err(KernelError::Binding {
                        kernel: program.name.clone(),
                        problem: format!(
                            "`{name}` is neither storage nor uniform; kernels work on arrays and parameters only"
                        ),
                    });
                }
                _ => {}
            }
        }
        points.sort_by_key(|point| (point.group, point.binding));
        let (entry, workgroup) = (function.name.clone(), function.workgroup_size);
        Ok(Self { text, entry, workgroup, map, uniforms, points, reached: reached_vars, parsed, cells })
    }

    /// Fails if the element type of a binding does not match the declaration of storage variable
    /// `var`.
    pub(super) fn check_cell(&self, program: &Program, var: usize, binding: &Binding) -> Result<(), KernelError> {
        let Some(ty) = self.cells[var] else { return Ok(()) };
        types::compare_cell(&self.parsed.module, ty, binding.element).map_err(|problem| KernelError::Type {
            kernel: program.name.clone(),
            problem: format!("{} is bound to `{}`: {problem}", binding.label, program.scan.storage[var].name),
            declared: program.declared(),
        })
    }

    /// Returns the dynamic offsets of a bind group: those of its uniform variables in ascending
    /// order of binding numbers, and of the geometry.
    pub(super) fn offsets(&self, group: u32, constants: &[u32], geometry: u32) -> Vec<u32> {
        let in_group = self.points.iter().filter(|point| point.group == group);
        in_group
            .filter_map(|point| match point.resource {
                Resource::Storage { .. } | Resource::Count | Resource::Report => None,
                Resource::Geometry => Some(geometry),
                Resource::Uniform(number) => Some(constants[number]),
            })
            .collect()
    }

    pub(super) fn declared_uniforms(&self) -> String {
        let list: Vec<_> = self.uniforms.iter().map(|var| var.declaration.clone()).collect();
        if list.is_empty() { "no parameters".to_owned() } else { list.join(", ") }
    }
}

fn describe_uniform(module: &naga::Module, name: &str, ty: naga::Handle<naga::Type>) -> String {
    let fields: Vec<_> =
        types::slots(module, name, ty).iter().map(|slot| format!("{}: {}", slot.name, slot.ty)).collect();
    match &module.types[ty].inner {
        naga::TypeInner::Struct { .. } => {
            format!("`var<uniform> {name}: {} {{ {} }}`", types::type_name(module, ty), fields.join(", "))
        }
        _ => format!("`var<uniform> {}`", fields.join(", ")),
    }
}

/// Returns the index of the entry point with this name, or of the only entry point.
fn entry_point(program: &Program, module: &naga::Module, entry: Option<&str>) -> Result<usize, KernelError> {
    let compute: Vec<_> =
        module.entry_points.iter().enumerate().filter(|(_, point)| point.stage == naga::ShaderStage::Compute).collect();
    let problem = match (entry, &compute[..]) {
        (None, [(only, _)]) => return Ok(*only),
        (None, []) => "there is no @compute function".to_owned(),
        (None, _) => "there are several @compute functions; choose one with Kernel::entry".to_owned(),
        (Some(name), _) => match compute.iter().find(|(_, point)| point.name == name) {
            Some((found, _)) => return Ok(*found),
            None => format!("there is no @compute function `{name}`"),
        },
    };
    let names: Vec<_> = compute.iter().map(|(_, point)| format!("`{}`", point.name)).collect();
    let entries = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Err(KernelError::Entry { kernel: program.name.clone(), problem, entries })
}
