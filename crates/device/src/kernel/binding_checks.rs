//! Checks of each section that is bound to a call.

use super::binding::Binding;
use super::program::Program;
use crate::device::Device;
use crate::error::{KernelError, RegionError, Result};

/// Fails if the section is on a device other than the kernel's.
pub(super) fn check_device(program: &Program, device: &Device, binding: &Binding) -> Result<()> {
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

/// Fails if the section is an invalid selection or the binding is inconsistent.
pub(super) fn check_binding(program: &Program, binding: &Binding) -> Result<()> {
    if let Some(error) = &binding.error {
        return Err(error.clone().into());
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
