//! Machine code of kernels, kept for all ranks of the process: those that are threads run the same
//! kernels, and so does the next world.

use std::convert::Infallible;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use zippy_native::Compiled;

use super::kept::{compiled_bytes, kept_bytes};
use crate::plan::cache::WeightedCache;

/// All that the machine code of a kernel depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CodeKey {
    /// The whole text.
    pub text: String,
    pub entry: String,
}

/// The code, or why there is none.
type Slot = Arc<OnceLock<Result<Arc<Compiled>, String>>>;

static KEPT: LazyLock<Mutex<WeightedCache<CodeKey, Slot>>> =
    LazyLock::new(|| Mutex::new(WeightedCache::new(kept_bytes(), |key, _| compiled_bytes(&key.text))));

/// Machine code of a kernel: what another rank has made or is making, else what `make` returns.
pub fn native_code(key: CodeKey, make: impl FnOnce() -> Result<Compiled, String>) -> Result<Arc<Compiled>, String> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let Ok(slot) = kept.get_or_build(key, || Ok::<_, Infallible>(Slot::default()));
    // Ranks that ask for the same code wait below; the others go on.
    drop(kept);
    slot.get_or_init(|| make().map(Arc::new)).clone()
}
