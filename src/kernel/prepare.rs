//! The checks of a call, before anything is recorded.

use std::rc::Rc;

use super::binding::Binding;
use super::call::{AccessMode, Call};
use super::helpers::HELPERS;
use super::program::Program;
use super::signature::{Signature, VarShape};
use super::variants::{Compiled, Version};
use crate::device::Device;
use crate::error::{KernelError, RegionError, Result};
use crate::extents::Index;
use crate::region::Region;

/// A call that is in order.
pub(super) struct Prepared {
    pub version: Rc<Version>,
    pub compiled: Rc<Compiled>,
    /// For each storage variable: which bound section.
    pub order: Vec<Option<usize>>,
    /// The domain: first position and invocations of each box.
    pub boxes: Vec<(Index, Index)>,
    /// Cells along axis 0 of one invocation.
    pub step: i64,
    /// Contents of the uniform variables.
    pub uniforms: Vec<Vec<u8>>,
}

impl Call<'_> {
    pub(super) fn prepare(&self) -> Result<Prepared> {
        let version = self.kernel.version();
        let program = &version.program;
        let device = &self.kernel.shared.device;
        for (_, binding, _) in &self.bound {
            check_binding(program, binding)?;
            check_home(program, device, binding)?;
            binding.element.supported_by(device.features(), &device.adapter().name)?;
        }
        let order = self.order(program)?;
        self.check_aliases(program)?;
        let first = self.first_written(program)?;
        let domain = self.domain(program, first)?;

        let signature = self.signature(program, &order, first.section.axes());
        let compiled = version.compiled(device, &signature, &self.kernel.entry)?;
        let checked = &compiled.checked;
        self.check_used(program, &order, &checked.reached)?;
        for (number, bound) in order.iter().enumerate() {
            if let Some(bound) = bound {
                checked.check_cell(program, number, &self.bound[*bound].1)?;
            }
        }
        let uniforms = self.uniforms(program, checked)?;
        let (boxes, step) = self.invocations(program, &order, first, domain)?;
        Ok(Prepared { version: version.clone(), compiled, order, boxes, step, uniforms })
    }

    /// Which bound section belongs to which storage variable.
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
            .filter(|(var, bound)| bound.is_none() && program.scan.mentions(var, &HELPERS))
            .map(|(var, _)| format!("`{}`", var.name))
            .collect();
        if program.scan.entries <= 1 && !missing.is_empty() {
            let (section, was) = if missing.len() == 1 { ("section", "was") } else { ("sections", "were") };
            let missing = format!("the {section} for {} {was}", missing.join(", "));
            return Err(KernelError::Missing { kernel: kernel(), missing, declared: program.declared() }.into());
        }
        Ok(order)
    }

    /// What is written must not be bound under another name as well.
    fn check_aliases(&self, program: &Program) -> Result<()> {
        for (i, (name, binding, access)) in self.bound.iter().enumerate() {
            for (other_name, other, other_access) in &self.bound[..i] {
                let reads = [access, other_access].iter().filter(|&&&access| access == AccessMode::Read).count();
                if !binding.same_buffer(other) || reads == 2 {
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

    fn first_written(&self, program: &Program) -> Result<&Binding> {
        let written = self.bound.iter().find(|(_, _, access)| *access != AccessMode::Read);
        let none = || KernelError::Binding {
            kernel: program.name.clone(),
            problem:
                "no section is bound to be written, so there is nothing to run over; bind one with write or update"
                    .to_owned(),
        };
        Ok(written.map(|(_, binding, _)| binding).ok_or_else(none)?)
    }

    /// The boxes to run over, in global coordinates.
    fn domain(&self, program: &Program, first: &Binding) -> Result<Vec<Region>> {
        let Some(over) = &self.over else { return Ok(first.boxes()) };
        check_binding(program, over)?;
        if over.shape != first.shape {
            let problem = format!(
                "the kernel is to run over {} of an array of shape {}, but the first written section is {} of an array of \
                 shape {}; both must be of one index space",
                over.label, over.shape, first.label, first.shape
            );
            return Err(KernelError::Binding { kernel: program.name.clone(), problem }.into());
        }
        Ok(over.boxes())
    }

    fn signature(&self, program: &Program, order: &[Option<usize>], domain_axes: usize) -> Signature {
        let limit = self.kernel.shared.device.limits().binding_bytes;
        let shape = |(number, bound): (usize, &Option<usize>)| {
            let Some(bound) = bound else { return VarShape { axes: domain_axes, packed: None, windows: 1 } };
            let binding = &self.bound[*bound].1;
            // Over another type of cells there is no unpacking; the mismatch is reported later.
            let packed = binding.packed().filter(|_| program.scan.storage[number].cell.as_deref() == Some("u32"));
            let (_, window_bytes) = binding.window(limit);
            let windows = binding.storage_bytes().div_ceil(window_bytes).max(1) as u32;
            VarShape { axes: binding.section.axes(), packed, windows }
        };
        Signature { domain_axes, vars: order.iter().enumerate().map(shape).collect() }
    }

    /// Everything that the entry point reaches is bound, and nothing that the text never names.
    fn check_used(&self, program: &Program, order: &[Option<usize>], reached: &[bool]) -> Result<()> {
        for ((var, bound), reached) in program.scan.storage.iter().zip(order).zip(reached) {
            let (kernel, declared) = (program.name.clone(), program.declared());
            let name = &var.name;
            match (bound, reached) {
                // A helper may ask for nothing but geometry.
                (Some(_), false) if !HELPERS.iter().any(|h| program.scan.words.contains(&format!("{name}_{h}"))) => {
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

    /// The domain as positions and counts of invocations: one a cell, or one a word where packed cells are written.
    fn invocations(
        &self,
        program: &Program,
        order: &[Option<usize>],
        first: &Binding,
        domain: Vec<Region>,
    ) -> Result<(Vec<(Index, Index)>, i64)> {
        let mut words: Option<(i64, i64, &str)> = None;
        for (number, bound) in order.iter().enumerate() {
            let Some(bound) = bound else { continue };
            let (name, binding, access) = &self.bound[*bound];
            let Some(packed) = binding.packed() else { continue };
            if *access == AccessMode::Read || program.scan.storage[number].atomic {
                continue;
            }
            let step = 4 / packed.bytes() as i64;
            let phase = (binding.section.start[0] - binding.storage.start[0]).rem_euclid(step);
            match words {
                Some((other_step, other_phase, other)) if (other_step, other_phase) != (step, phase) => {
                    let problem = format!(
                        "`{other}` and `{name}` are written word by word, but their words hold different cells; declare one \
                         of them array<atomic<u32>> and write it cell by cell"
                    );
                    return Err(KernelError::Binding { kernel: program.name.clone(), problem }.into());
                }
                _ => words = Some((step, phase, name)),
            }
        }
        let (step, phase) = words.map_or((1, 0), |(step, phase, _)| (step, phase));
        let mut cut: Vec<Region> = Vec::new();
        for region in domain {
            let region = region.translate(&(Index::zeros(region.axes()) - first.section.start));
            if step == 1 {
                cut.push(region);
                continue;
            }
            // In words along axis 0; a word that two boxes share is run once.
            let mut in_words = region;
            in_words.start[0] = (region.start[0] + phase).div_euclid(step);
            in_words.end[0] = (region.end[0] + phase + step - 1).div_euclid(step);
            let mut parts = vec![in_words];
            for earlier in &cut {
                parts = parts.iter().flat_map(|part| part.subtract(earlier)).collect();
            }
            cut.extend(parts);
        }
        let mut boxes = Vec::new();
        for region in cut {
            let mut origin = region.start;
            origin[0] = origin[0] * step - if step == 1 { 0 } else { phase };
            let fits = |value: i64| (-(1 << 30)..1 << 31).contains(&value);
            if !origin.iter().all(|&v| fits(v)) || !region.extents().iter().all(|&v| fits(v)) {
                let problem = format!("{} is too large for 31-bit positions; cut it into more chunks", first.label);
                return Err(KernelError::Limit { kernel: program.name.clone(), problem }.into());
            }
            boxes.push((origin, region.extents()));
        }
        Ok((boxes, step))
    }
}

/// A kernel reaches the memory of its own device only.
fn check_home(program: &Program, device: &Device, binding: &Binding) -> Result<()> {
    match &binding.buffer {
        Some(buffer) if !device.owns(buffer) => Err(KernelError::Binding {
            kernel: program.name.clone(),
            problem: format!(
                "{} is in the memory of another device ({} runs the kernel); make kernels and arrays with the same world",
                binding.label,
                device.adapter().name
            ),
        }
        .into()),
        _ => Ok(()),
    }
}

/// A mistake that the section keeps, or one of the code that made the binding.
fn check_binding(program: &Program, binding: &Binding) -> Result<()> {
    if let Some(error) = &binding.error {
        return Err(error.clone());
    }
    let axes = binding.section.axes();
    for given in [binding.storage.axes(), binding.owned.axes(), binding.shape.axes()] {
        if given != axes {
            return Err(RegionError::Axes { given, expected: axes }.into());
        }
    }
    let boxes = binding.domain.iter().flatten();
    for region in boxes.chain([&binding.section, &binding.owned]) {
        region.check_within(&binding.storage, &format!("the chunk of {} with its ghost cells", binding.label))?;
    }
    let held = binding.buffer.as_ref().map_or(0, |buffer| buffer.bytes());
    if held < binding.storage_bytes() {
        let problem = format!("{} has a buffer of {held} bytes for {} bytes", binding.label, binding.storage_bytes());
        return Err(KernelError::Binding { kernel: program.name.clone(), problem }.into());
    }
    Ok(())
}
