//! Runs of kernels by the code generator.

use naga::Module;
use naga::valid::ModuleInfo;
use zippy_native::{BindingBytes, CompiledKernel, OneThread, StopRequest, Vectorization};

use super::guarded::Guarded;
use super::interpreter::Buffers;

pub fn run(
    vectors: Vectorization,
    module: &Module,
    info: &ModuleInfo,
    entry: &str,
    buffers: &mut Buffers,
    workgroups: [u32; 3],
) -> Result<(), String> {
    let compiled = CompiledKernel::new(module, info, entry, "", vectors).map_err(|error| error.to_string())?;
    let mut copies = Vec::new();
    for binding in &compiled.kernel().bindings {
        let bytes = buffers.get(&(binding.group, binding.binding)).ok_or("a buffer is missing")?;
        copies.push((Guarded::new(bytes), binding.writable));
    }
    let bindings: Vec<_> = copies
        .iter_mut()
        .map(
            |(copy, writable)| {
                if *writable { BindingBytes::written(copy.bytes()) } else { BindingBytes::Read(copy.bytes()) }
            },
        )
        .collect();
    let done = compiled.run(&bindings, workgroups, &OneThread, &StopRequest::default());
    done.map_err(|error| error.to_string())?;
    for (binding, (copy, _)) in compiled.kernel().bindings.iter().zip(&mut copies) {
        buffers.insert((binding.group, binding.binding), copy.bytes().to_vec());
    }
    Ok(())
}
