//! Compilation of kernels to machine code.

use std::sync::Arc;

use zippy_native::{CompiledKernel, Vectorization};

use super::checked_kernel::CheckedKernel;
use crate::device::{Device, NativeCodeKey};
use crate::error::{KernelError, Result};

/// Returns the machine code of a kernel; `None`, with a warning, for a kernel with constructs that
/// native kernels do not support, which the driver computes.
///
/// # Errors
/// Native kernels do not support the kernel, and the machine has no driver.
pub(super) fn machine_code(
    device: &Device,
    name: &str,
    checked: &CheckedKernel,
) -> Result<Option<Arc<CompiledKernel>>> {
    let CheckedKernel { text, entry, parsed, .. } = checked;
    let key = NativeCodeKey { text: text.clone(), entry: entry.clone() };
    let compile = || CompiledKernel::new(&parsed.module, &parsed.info, entry, text, Vectorization::Use);
    device
        .native_code(name, key, || compile().map_err(|error| error.to_string()))
        .map_err(|problem| KernelError::Limit { kernel: name.to_owned(), problem }.into())
}
