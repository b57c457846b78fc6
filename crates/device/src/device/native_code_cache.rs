//! Cache of the machine code of kernels, shared by all ranks and worlds of the process.

use std::convert::Infallible;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use zippy_native::CompiledKernel;

use super::Device;
use super::cache_capacity::{cache_capacity, estimate_compiled_bytes};
use crate::plan::cache::WeightedCache;
use crate::trace;

/// Cache key of a native kernel: text and entry point determine the machine code.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NativeCodeKey {
    /// Complete WGSL text.
    pub text: String,
    pub entry: String,
}

/// Machine code of a kernel, or the error of its compilation; empty while a rank compiles.
type CompilationSlot = Arc<OnceLock<Result<Arc<CompiledKernel>, String>>>;

static CODE_CACHE: LazyLock<Mutex<WeightedCache<NativeCodeKey, CompilationSlot>>> =
    LazyLock::new(|| Mutex::new(WeightedCache::new(cache_capacity(), |key, _| estimate_compiled_bytes(&key.text))));

impl Device {
    /// Returns the machine code of the kernel `name`, from the cache or by `make`. `None` if the
    /// kernel has no native form and the device has a driver, which then computes the kernel; the
    /// process prints one warning per kernel. Of several ranks with the same key, one compiles and
    /// the others wait.
    ///
    /// # Errors
    /// Returns the error of `make`, which the cache keeps, on a device without a driver.
    pub fn native_code(
        &self,
        name: &str,
        key: NativeCodeKey,
        make: impl FnOnce() -> Result<CompiledKernel, String>,
    ) -> Result<Option<Arc<CompiledKernel>>, String> {
        let mut cache = CODE_CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(slot) = cache.get_or_build(key, || Ok::<_, Infallible>(CompilationSlot::default()));
        // Ranks with the same key wait below; release the cache for all others.
        drop(cache);
        let code = slot.get_or_init(|| {
            make().map(Arc::new).inspect_err(|error| {
                if self.has_driver() {
                    trace::warn(&format!(
                        "the driver computes kernel {name}, perhaps with other bits and with limits on loops: {error}"
                    ));
                }
            })
        });
        match code {
            Ok(code) => Ok(Some(code.clone())),
            Err(_) if self.has_driver() => Ok(None),
            Err(error) => Err(format!("{error}, and the machine has no driver for such a kernel")),
        }
    }
}
