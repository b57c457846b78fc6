//! Errors: mistake, source line and correction, equal on every rank; no rank hangs.

mod arguments;
#[cfg(target_os = "linux")]
mod examples;
mod failures;
mod kernels;
mod panics;

use std::hash::{DefaultHasher, Hash, Hasher};

use zippy::{Result, World};

/// Text of an error that must be equal on every rank. Collective; the world must still be usable.
#[track_caller]
fn refused<R>(world: &World, result: Result<R>) -> String {
    let Err(error) = result else { panic!("this was accepted") };
    let text = error.to_string();
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let own = [hasher.finish(), !hasher.finish()];
    let mut least = own;
    world.group().all_reduce(&mut least, |least, more| *least = (*least).min(*more)).expect("the world goes on");
    assert_eq!(least, own, "another rank was told something else than {text:?}");
    error.kind().to_string()
}
