//! The contents of a call's uniform variables, from its parameters.

use super::call::Call;
use super::checked_kernel::{CheckedKernel, UniformVar};
use super::params::is_padding;
use super::program::Program;
use super::types::UniformSlot;
use crate::error::{KernelError, Result};

impl Call<'_> {
    pub(super) fn uniforms(&self, program: &Program, checked: &CheckedKernel) -> Result<Vec<Vec<u8>>> {
        let mut bytes: Vec<Vec<u8>> = checked.uniforms.iter().map(|var| vec![0; var.bytes]).collect();
        let mut is_set: Vec<Vec<bool>> = checked.uniforms.iter().map(|var| vec![false; var.slots.len()]).collect();
        let kernel = || program.name.clone();
        let wrong_type =
            |problem| KernelError::Type { kernel: kernel(), problem, declared: checked.declared_uniforms() };
        let wrong_name =
            |problem| KernelError::Name { kernel: kernel(), problem, declared: checked.declared_uniforms() };
        for (name, record) in &self.records {
            let Some(var) = checked.uniforms.iter().position(|var| var.name == *name) else {
                return Err(wrong_name(format!("there is no uniform variable `{name}` in use")).into());
            };
            record.write(name, &checked.uniforms[var].slots, &mut bytes[var]).map_err(wrong_type)?;
            is_set[var].fill(true);
        }
        for (i, (name, value)) in self.params.iter().enumerate() {
            if self.params[..i].iter().any(|(earlier, _)| earlier == name) {
                return Err(wrong_name(format!("parameter `{name}` is given twice")).into());
            }
            let mut found = Vec::new();
            for (v, var) in checked.uniforms.iter().enumerate() {
                for (s, slot) in var.slots.iter().enumerate() {
                    let inner = name.strip_prefix(var.name.as_str()).and_then(|rest| rest.strip_prefix('.'));
                    if slot.name == *name || inner == Some(slot.name.as_str()) {
                        found.push((v, s));
                    }
                }
            }
            let &[(v, s)] = &found[..] else {
                let problem = match found.len() {
                    0 => format!("there is no parameter `{name}` in use"),
                    _ => format!("parameter `{name}` is in several structs; qualify it, as in \"params.{name}\""),
                };
                return Err(wrong_name(problem).into());
            };
            value.write(&checked.uniforms[v].slots[s], &mut bytes[v]).map_err(wrong_type)?;
            is_set[v][s] = true;
        }
        let all = || checked.uniforms.iter().flat_map(|var| var.slots.iter().map(move |slot| (var, slot)));
        let name =
            |(var, slot): (&UniformVar, &UniformSlot)| match all().filter(|(_, other)| other.name == slot.name).count()
            {
                1 => format!("`{}`", slot.name),
                _ => format!("`{}.{}`", var.name, slot.name),
            };
        let missing: Vec<_> = (all().zip(is_set.iter().flatten()))
            .filter(|((_, slot), is_set)| !**is_set && !is_padding(&slot.name))
            .map(|(place, _)| name(place))
            .collect();
        if !missing.is_empty() {
            let (parameter, was) = if missing.len() == 1 { ("parameter", "was") } else { ("parameters", "were") };
            let missing = format!("{parameter} {} {was}", missing.join(", "));
            let declared = checked.declared_uniforms();
            return Err(KernelError::Missing { kernel: kernel(), missing, declared }.into());
        }
        Ok(bytes)
    }
}
