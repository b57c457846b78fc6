//! Checks of a call before it is recorded.

use std::rc::Rc;

use super::binding::Binding;
use super::binding_checks::{check_binding, check_device};
use super::call::{AccessMode, Call};
use super::dispatch::Grid;
use super::helpers::HELPER_SUFFIXES;
use super::invocations::Invocations;
use super::loop_pass_limit::measure_loop_pass_limit;
use super::program::Program;
use super::report::GhostLayers;
use super::signature::{BoxForm, Signature, Space, VarShape, Watch};
use super::target::Target;
use super::variants::{Compiled, Version};
use super::windows::{CallPart, LargeArray, parts};
use crate::error::{KernelError, Result};

/// Invocations of a call: parts with their windows, or a count on the device.
pub(super) enum Work<'c> {
    Parts(Vec<CallPart>),
    Counted { count: &'c Binding, max_count: u32 },
}

/// Call that has passed all checks, ready to be recorded.
pub(super) struct PreparedCall<'c> {
    pub version: Rc<Version>,
    pub compiled: Rc<Compiled>,
    /// Index of the bound section of each storage variable.
    pub order: Vec<Option<usize>>,
    pub work: Work<'c>,
    pub uniforms: Vec<Vec<u8>>,
    /// Kind of checks of accesses by helpers.
    pub watch: Watch,
    /// Limit of the adapter on the loop passes of a group of invocations; present if stopped loops
    /// are reported.
    pub loop_pass_limit: Option<u32>,
}

impl Call<'_> {
    pub(super) fn prepare(&self) -> Result<PreparedCall<'_>> {
        let version = self.kernel.version();
        let program = &version.program;
        let device = &self.kernel.shared.target.device;
        for (_, binding, _) in &self.bound {
            check_binding(program, binding)?;
            check_device(program, device, binding)?;
            binding.element.supported_by(device.features(), &device.adapter().name)?;
        }
        let order = self.order(program)?;
        self.check_aliases(program)?;
        let domain = self.resolve_domain(program)?;

        let (space, axes) = (domain.space(), domain.axes());
        // An error of the text has priority.
        let invocations = self.invocations(program, &order, domain);
        let boxes = invocations.as_ref().map_or(BoxForm::OneInOrder, Invocations::form);
        let signature = self.signature(program, &order, (space, axes, boxes))?;
        let near = match &invocations {
            Ok(Invocations::Grid(grid)) => self.split_into_parts(&version, &signature, &order, grid)?,
            _ => None,
        };
        let (compiled, parts) = match near {
            Some((compiled, parts)) => (compiled, Some(parts)),
            None => (version.compiled(&self.kernel.shared.target, &signature, &self.kernel.entry)?, None),
        };
        let checked = &compiled.checked;
        self.check_used(program, &order, &checked.reached)?;
        for (number, bound) in order.iter().enumerate() {
            if let Some(bound) = bound {
                checked.check_cell(program, number, &self.bound[*bound].1)?;
            }
        }
        let uniforms = self.uniforms(program, checked)?;
        let work = match invocations? {
            Invocations::Grid(grid) => {
                Work::Parts(parts.unwrap_or_else(|| vec![CallPart { grid, offsets: vec![0; order.len()] }]))
            }
            Invocations::Counted { count, max_count } => Work::Counted { count, max_count },
        };
        let loop_pass_limit = if signature.reports_stopped_loops { measure_loop_pass_limit(device)? } else { None };
        let watch = signature.watch;
        Ok(PreparedCall { version: version.clone(), compiled, order, work, uniforms, watch, loop_pass_limit })
    }

    /// Returns the index of the bound section of each storage variable.
    fn order(&self, program: &Program) -> Result<Vec<Option<usize>>> {
        let mut order = vec![None; program.scan.storage.len()];
        let kernel = || program.name.clone();
        for (i, (name, _, access)) in self.bound.iter().enumerate() {
            let Some(number) = program.scan.position(name) else {
                let problem = format!("there is no storage variable `{name}`");
                return Err(KernelError::Name { kernel: kernel(), problem, declared: program.declared() }.into());
            };
            if order[number].is_some() {
                return Err(
                    KernelError::Binding { kernel: kernel(), problem: format!("`{name}` is bound twice") }.into()
                );
            }
            order[number] = Some(i);
            let writable = program.scan.storage[number].writable;
            let problem = match (access, writable) {
                (AccessMode::Read, true) => format!(
                    "`{name}` is bound with read, but declared var<storage, read_write>: bind it with write or update, or \
                     declare it var<storage, read>"
                ),
                (AccessMode::Write | AccessMode::Update, false) => format!(
                    "`{name}` is bound to be written, but declared var<storage, read>: bind it with read, or declare it \
                     var<storage, read_write>"
                ),
                _ => continue,
            };
            return Err(KernelError::Binding { kernel: kernel(), problem }.into());
        }
        let missing: Vec<_> = (program.scan.storage.iter().zip(&order))
            .filter(|(var, bound)| bound.is_none() && program.scan.mentions(var, &HELPER_SUFFIXES))
            .map(|(var, _)| format!("`{}`", var.name))
            .collect();
        if program.scan.entries <= 1 && !missing.is_empty() {
            let (section, was) = if missing.len() == 1 { ("section", "was") } else { ("sections", "were") };
            let missing = format!("the {section} for {} {was}", missing.join(", "));
            return Err(KernelError::Missing { kernel: kernel(), missing, declared: program.declared() }.into());
        }
        Ok(order)
    }

    /// Fails if a written section shares memory with another bound section.
    fn check_aliases(&self, program: &Program) -> Result<()> {
        for (i, (name, binding, access)) in self.bound.iter().enumerate() {
            for (other_name, other, other_access) in &self.bound[..i] {
                let reads = [access, other_access].iter().filter(|&&&access| access == AccessMode::Read).count();
                if !binding.shares_buffer_with(other) || reads == 2 {
                    continue;
                }
                let problem = match reads {
                    1 => format!(
                        "`{other_name}` and `{name}` are sections of one chunk, one to be read and one to be written \
                         ({} and {}): bind it once with update, or copy one of them first",
                        other.label, binding.label
                    ),
                    _ if other.words().intersects(&binding.words()) => format!(
                        "`{other_name}` and `{name}` are both written and overlap, or share words ({} and {})",
                        other.label, binding.label
                    ),
                    _ => continue,
                };
                return Err(KernelError::Binding { kernel: program.name.clone(), problem }.into());
            }
        }
        Ok(())
    }

    fn signature(
        &self,
        program: &Program,
        order: &[Option<usize>],
        (space, domain_axes, boxes): (Space, usize, BoxForm),
    ) -> Result<Signature> {
        let limit = self.kernel.shared.target.binding_bytes();
        let shape = |(number, bound): (usize, &Option<usize>)| {
            let Some(bound) = bound else { return VarShape { axes: domain_axes, packed: None, windows: 1 } };
            let binding = &self.bound[*bound].1;
            // Only `u32` cells are unpacked; other types are reported later.
            let packed = binding.packed().filter(|_| program.scan.storage[number].cell.as_deref() == Some("u32"));
            let (_, window_bytes) = binding.window(limit);
            let windows = binding.storage_bytes().div_ceil(window_bytes).max(1) as u32;
            VarShape { axes: binding.section.axes(), packed, windows }
        };
        let vars: Vec<VarShape> = order.iter().enumerate().map(shape).collect();
        let watch = self.watch(program, order, &vars);
        let is_watched = watch != Watch::Off && program.scan.has_loops();
        let Target { device, is_native } = &self.kernel.shared.target;
        let reports_stopped_loops = is_watched && !is_native && measure_loop_pass_limit(device)?.is_some();
        // A checked run stores the report's location next to each array's geometry.
        let geometries = match watch {
            Watch::Off => self.geometries(order),
            _ => (0..order.len()).collect(),
        };
        Ok(Signature { space, domain_axes, boxes, vars, geometries, watch, reports_stopped_loops })
    }

    /// Returns the kernel with one window per array, and the parts of the call; `None` if no array
    /// needs several windows, or if helpers access more than a window.
    fn split_into_parts(
        &self,
        version: &Version,
        signature: &Signature,
        order: &[Option<usize>],
        grid: &Grid,
    ) -> Result<Option<(Rc<Compiled>, Vec<CallPart>)>> {
        let large: Vec<_> = (0..order.len()).filter(|&var| signature.vars[var].windows > 1).collect();
        let program = &version.program;
        if large.is_empty() || signature.watch != Watch::Off || program.scan.depends_on_workgroups() {
            return Ok(None);
        }
        let signature = signature.with_one_window();
        let compiled = version.compiled(&self.kernel.shared.target, &signature, &self.kernel.entry)?;
        let access_ranges = compiled.access_ranges(program, &signature.vars);
        let array = |&var: &usize| {
            let binding = &self.bound[order[var]?].1;
            LargeArray::new(var, binding, &access_ranges[var], self.kernel.shared.target.binding_bytes())
        };
        let arrays: Option<Vec<_>> = large.iter().map(array).collect();
        let parts = arrays.and_then(|arrays| parts(grid, order.len(), &arrays));
        Ok(parts.map(|parts| (compiled, parts)))
    }

    /// Returns, for each storage variable, the index of the first variable with the same geometry.
    fn geometries(&self, order: &[Option<usize>]) -> Vec<usize> {
        let binding = |bound: &Option<usize>| bound.map(|bound| &self.bound[bound].1);
        let first = |(i, bound): (usize, &Option<usize>)| {
            let Some(this) = binding(bound) else { return i };
            let is_same = |other: &Option<usize>| binding(other).is_some_and(|other| other.has_geometry_of(this));
            order[..i].iter().position(is_same).unwrap_or(i)
        };
        order.iter().enumerate().map(first).collect()
    }

    /// Returns the kind of checks of accesses by helpers in this call.
    fn watch(&self, program: &Program, order: &[Option<usize>], vars: &[VarShape]) -> Watch {
        let Some(ledger) = self.ledger().filter(|ledger| ledger.is_checked()) else { return Watch::Off };
        let bound = vars.iter().zip(order).filter(|(_, bound)| bound.is_some());
        let bindings: usize = bound.map(|(var, _)| var.windows as usize).sum();
        let max_bindings = self.kernel.shared.target.device.limits().wgpu.max_storage_buffers_per_shader_stage as usize;
        let layers: Vec<GhostLayers> = self.bound.iter().map(|(_, binding, _)| GhostLayers::new(binding)).collect();
        // The report needs one more binding.
        if bindings >= max_bindings || layers.iter().any(GhostLayers::are_too_many) {
            let why = format!(
                "it has no room for a report: {max_bindings} arrays can be bound, or ghost layers are too many"
            );
            ledger.warn_once(&format!("kernel {} is not checked: {why}", program.name));
            return Watch::Off;
        }
        if layers.iter().all(|layers| layers.bits() <= 32) { Watch::FewBits } else { Watch::ManyBits }
    }

    /// Fails if the entry point uses an unbound variable, or if the text does not use a bound
    /// section.
    fn check_used(&self, program: &Program, order: &[Option<usize>], reached: &[bool]) -> Result<()> {
        for ((var, bound), reached) in program.scan.storage.iter().zip(order).zip(reached) {
            let (kernel, declared) = (program.name.clone(), program.declared());
            let name = &var.name;
            match (bound, reached) {
                // A helper may use only the geometry of an array.
                (Some(_), false)
                    if !HELPER_SUFFIXES.iter().any(|h| program.scan.words.contains(&format!("{name}_{h}"))) =>
                {
                    let problem = format!("`{name}` is bound, but the entry point does not use it");
                    return Err(KernelError::Name { kernel, problem, declared }.into());
                }
                (None, true) => {
                    let missing = format!("the section for `{name}` was");
                    return Err(KernelError::Missing { kernel, missing, declared }.into());
                }
                _ => {}
            }
        }
        Ok(())
    }
}
