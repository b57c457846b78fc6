//! Cache of parsed and validated texts, shared by all ranks of the process. Ranks that are threads
//! run the same kernels, and so do later worlds.

use std::convert::Infallible;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use naga::valid::ModuleInfo;

use super::diagnose::Fault;
use crate::device::{cache_capacity, estimate_compiled_bytes};
use crate::plan::cache::WeightedCache;

/// Module of a WGSL text that naga has parsed and validated.
#[derive(Debug)]
pub(super) struct ParsedModule {
    pub module: naga::Module,
    pub info: ModuleInfo,
}

/// Cache key of a parsed module: the whole text, the kind of checks, and the capabilities of the
/// device.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ParsedKey {
    pub text: String,
    pub watched: bool,
    /// Bits of naga's capabilities of the device.
    pub capabilities: u64,
}

/// Parsed module of a text, or its fault; empty during the first parse. Faults are cached, because
/// the number of axes of a kernel is found by trial.
type ParsedSlot = Arc<OnceLock<Result<Arc<ParsedModule>, Fault>>>;

/// Cache of parsed modules; limited in size, because a program may generate texts at run time.
static MODULE_CACHE: LazyLock<Mutex<WeightedCache<ParsedKey, ParsedSlot>>> =
    LazyLock::new(|| Mutex::new(WeightedCache::new(cache_capacity(), |key, _| estimate_compiled_bytes(&key.text))));

/// Returns the module of a text. Calls `make` unless the text is cached; waits if another rank is
/// parsing it.
pub(super) fn get_or_parse(
    key: ParsedKey,
    make: impl FnOnce(&str) -> Result<ParsedModule, Fault>,
) -> Result<Arc<ParsedModule>, Fault> {
    let mut kept = MODULE_CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    let Ok(slot) = kept.get_or_build(key.clone(), || Ok::<_, Infallible>(ParsedSlot::default()));
    // Other ranks wait below for this text only.
    drop(kept);
    slot.get_or_init(|| make(&key.text).map(Arc::new)).clone()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use naga::valid::{Capabilities, ValidationFlags, Validator};

    use super::*;

    fn count_parses(text: &str, watched: bool, reads: &AtomicUsize) -> Result<Arc<ParsedModule>, Fault> {
        get_or_parse(ParsedKey { text: text.into(), watched, capabilities: 0 }, |text| {
            reads.fetch_add(1, Ordering::Relaxed);
            let module = naga::front::wgsl::parse_str(text).map_err(|error| Fault::parse(&error, text, text.len()))?;
            let info = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module);
            Ok(ParsedModule { module, info: info.expect("nothing is in it") })
        })
    }

    #[test]
    fn text_is_parsed_once_for_all_threads() {
        let reads = AtomicUsize::new(0);
        let all: Vec<_> = std::thread::scope(|scope| {
            let parse = || count_parses("const read_once = 1;", false, &reads).unwrap();
            let ranks: Vec<_> = (0..5).map(|_| scope.spawn(parse)).collect();
            ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
        });
        assert!(all.iter().all(|one| Arc::ptr_eq(one, &all[0])));
        assert_eq!(reads.into_inner(), 1);
    }

    #[test]
    fn watched_and_plain_modules_of_a_text_differ() {
        let reads = AtomicUsize::new(0);
        let [plain, watched] =
            [false, true].map(|watched| count_parses("const may_differ = 1;", watched, &reads).unwrap());
        assert!(!Arc::ptr_eq(&plain, &watched));
        assert_eq!(reads.into_inner(), 2);
    }

    #[test]
    fn cached_fault_is_returned_again() {
        let reads = AtomicUsize::new(0);
        let [first, second] = [(); 2].map(|()| count_parses("const wrong = ;", false, &reads).unwrap_err());
        assert_eq!(first, second);
        assert!(first.span.is_some(), "{first:?}");
        assert_eq!(reads.into_inner(), 1);
    }
}
