//! Kernels by the code generator.

use naga::Module;
use naga::valid::ModuleInfo;
use zippy_native::{Bytes, Compiled, OneThread, Stop, Vectors};

use crate::interpreter::Buffers;

/// Runs a kernel by machine code on one thread.
pub fn run(
    vectors: Vectors,
    module: &Module,
    info: &ModuleInfo,
    entry: &str,
    buffers: &mut Buffers,
    workgroups: [u32; 3],
) -> Result<(), String> {
    let compiled = Compiled::new(module, info, entry, "", vectors).map_err(|error| error.to_string())?;
    // The memory of a binding begins at a multiple of 8 bytes.
    let mut copies = Vec::new();
    for binding in &compiled.kernel().bindings {
        let bytes = buffers.get(&(binding.group, binding.binding)).ok_or("a buffer is missing")?;
        let mut words = vec![0_u64; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
        copies.push((words, bytes.len(), binding.writable));
    }
    let mut bindings: Vec<_> = copies
        .iter_mut()
        .map(|(words, count, writable)| {
            let bytes = &mut bytemuck::cast_slice_mut(words)[..*count];
            if *writable { Bytes::Exclusive(bytes) } else { Bytes::Shared(bytes) }
        })
        .collect();
    let done = compiled.run(&mut bindings, workgroups, &OneThread, &Stop::default());
    done.map_err(|error| error.to_string())?;
    for (binding, (words, count, _)) in compiled.kernel().bindings.iter().zip(&copies) {
        let bytes = bytemuck::cast_slice::<u64, u8>(words)[..*count].to_vec();
        buffers.insert((binding.group, binding.binding), bytes);
    }
    Ok(())
}
