//! Kernels by the code generator.

use naga::Module;
use naga::valid::ModuleInfo;
use zippy_native::{Bytes, Compiled, OneThread, Stop, Vectors};

use crate::interpreter::{Buffers, Function, Functions, Libm};

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

/// The functions that generated code uses.
pub struct Own;

impl Functions for Own {
    fn single(&self, function: Function, x: f32, y: f32) -> f32 {
        use zippy_native::math::scalar;
        match function {
            Function::Sin => scalar::sin(x),
            Function::Cos => scalar::cos(x),
            Function::Tan => scalar::tan(x),
            Function::Asin => scalar::asin(x),
            Function::Acos => scalar::acos(x),
            Function::Atan => scalar::atan(x),
            Function::Sinh => scalar::sinh(x),
            Function::Cosh => scalar::cosh(x),
            Function::Tanh => scalar::tanh(x),
            Function::Asinh => scalar::asinh(x),
            Function::Acosh => scalar::acosh(x),
            Function::Atanh => scalar::atanh(x),
            Function::Exp => scalar::exp(x),
            Function::Exp2 => scalar::exp2(x),
            Function::Log => scalar::log(x),
            Function::Log2 => scalar::log2(x),
            Function::Atan2 => scalar::atan2(x, y),
            Function::Pow => scalar::pow(x, y),
        }
    }

    fn double(&self, function: Function, x: f64, y: f64) -> f64 {
        match function {
            Function::Acosh if x < 1.0 => f64::NAN,
            _ => Libm.double(function, x, y),
        }
    }
}
