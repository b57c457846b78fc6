//! Machine code of kernels.

use std::sync::Arc;

use zippy_native::{Compiled, Vectors};

use super::checked::Checked;
use crate::device::{CodeKey, Device, native_code};
use crate::error::{KernelError, Result};
use crate::trace;

/// Machine code of a kernel; none of a kernel that is not generated, where the driver computes it.
///
/// # Errors
/// A kernel that is not native, on a machine without a driver.
pub fn machine_code(device: &Device, name: &str, checked: &Checked) -> Result<Option<Arc<Compiled>>> {
    let Checked { text, entry, parsed, .. } = checked;
    let key = CodeKey { text: text.clone(), entry: entry.clone() };
    let compile = || Compiled::new(&parsed.module, &parsed.info, entry, text, Vectors::Use);
    match native_code(key, || compile().map_err(|error| error.to_string())) {
        Ok(code) => Ok(Some(code)),
        Err(error) if device.has_driver() => {
            trace::warn(&format!("the driver computes kernel {name}: {error}"));
            Ok(None)
        }
        Err(error) => {
            let problem = format!("{error}, and there is no driver that could compute it");
            Err(KernelError::Limit { kernel: name.to_owned(), problem }.into())
        }
    }
}
