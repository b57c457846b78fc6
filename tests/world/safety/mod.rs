//! What goes wrong is an error that says what, where and what would be right; the same on every rank, without a hang.

mod arguments;
#[cfg(target_os = "linux")]
mod examples;
mod failures;
mod kernels;
mod panics;

use std::hash::{DefaultHasher, Hash, Hasher};

use zippy::{Result, World};

/// The text of an error that every rank must have got alike. Collective: the world must be as good as before.
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
