//! What naga makes of a text, kept for all ranks of the process: those that are threads run the
//! same kernels, and so does the next world.

use std::convert::Infallible;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use naga::valid::ModuleInfo;

use super::diagnose::Fault;
use crate::device::{cache_capacity, estimate_compiled_bytes};
use crate::plan::cache::WeightedCache;

/// A text that naga has parsed and found valid.
#[derive(Debug)]
pub struct Parsed {
    pub module: naga::Module,
    pub info: ModuleInfo,
}

/// All that a module depends on: the whole text, whether it reports what it reaches, and what the
/// device can do.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ParsedKey {
    pub text: String,
    pub watched: bool,
    /// As bits.
    pub capabilities: u64,
}

/// What came of a text; empty while it is read for the first time. Texts with faults are as usual
/// as right ones: with how many axes a kernel is right is found by trying.
type Slot = Arc<OnceLock<Result<Arc<Parsed>, Fault>>>;

/// Not all, as a program may make texts while it runs.
static KEPT: LazyLock<Mutex<WeightedCache<ParsedKey, Slot>>> =
    LazyLock::new(|| Mutex::new(WeightedCache::new(cache_capacity(), |key, _| estimate_compiled_bytes(&key.text))));

/// The module of this text: what another rank has made of it, or will have in a moment, or else
/// what `make` does.
pub fn parsed(key: ParsedKey, make: impl FnOnce(&str) -> Result<Parsed, Fault>) -> Result<Arc<Parsed>, Fault> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let Ok(slot) = kept.get_or_build(key.clone(), || Ok::<_, Infallible>(Slot::default()));
    // Who asks for the same text waits below; the others go on.
    drop(kept);
    slot.get_or_init(|| make(&key.text).map(Arc::new)).clone()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use naga::valid::{Capabilities, ValidationFlags, Validator};

    use super::*;

    fn ask(text: &str, watched: bool, reads: &AtomicUsize) -> Result<Arc<Parsed>, Fault> {
        parsed(ParsedKey { text: text.into(), watched, capabilities: 0 }, |text| {
            reads.fetch_add(1, Ordering::Relaxed);
            let module = naga::front::wgsl::parse_str(text).map_err(|error| Fault::parse(&error, text, text.len()))?;
            let info = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module);
            Ok(Parsed { module, info: info.expect("nothing is in it") })
        })
    }

    #[test]
    fn a_text_is_read_once_for_all_threads() {
        let reads = AtomicUsize::new(0);
        let all: Vec<_> = std::thread::scope(|scope| {
            let ask = || ask("const read_once = 1;", false, &reads).unwrap();
            let ranks: Vec<_> = (0..5).map(|_| scope.spawn(ask)).collect();
            ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
        });
        assert!(all.iter().all(|one| Arc::ptr_eq(one, &all[0])));
        assert_eq!(reads.into_inner(), 1);
    }

    #[test]
    fn modules_of_the_same_text_may_differ() {
        let reads = AtomicUsize::new(0);
        let [plain, watched] = [false, true].map(|watched| ask("const may_differ = 1;", watched, &reads).unwrap());
        assert!(!Arc::ptr_eq(&plain, &watched));
        assert_eq!(reads.into_inner(), 2);
    }

    #[test]
    fn faults_are_told_again() {
        let reads = AtomicUsize::new(0);
        let [first, second] = [(); 2].map(|()| ask("const wrong = ;", false, &reads).unwrap_err());
        assert_eq!(first, second);
        assert!(first.span.is_some(), "{first:?}");
        assert_eq!(reads.into_inner(), 1);
    }
}
