//! Allocator that counts bytes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, Ordering};

/// Allocator that counts the bytes of the calling thread, and their maximum, for use as
/// `#[global_allocator]`.
pub(crate) struct Counting;

thread_local! {
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

static LIMIT: AtomicIsize = AtomicIsize::new(isize::MAX);

fn count(bytes: isize) {
    // Memory freed while a thread ends is not counted.
    let _ = HELD.try_with(|held| {
        let now = held.get().0 + bytes;
        held.set((now, held.get().1.max(now)));
    });
}

// SAFETY: all calls are forwarded unchanged to the system's allocator, or refused.
unsafe impl GlobalAlloc for Counting {
    // SAFETY: the caller's guarantees are those of the system's allocator.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.try_with(|held| held.get().0).unwrap_or(0);
        if held.saturating_add(layout.size() as isize) > LIMIT.load(Ordering::Relaxed) {
            return std::ptr::null_mut();
        }
        count(layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    // SAFETY: as for `alloc`.
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

pub(crate) fn limit(bytes: isize) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// Maximum memory during `act`, in addition to the memory held before.
pub(crate) fn most(act: impl FnOnce()) -> isize {
    let before = HELD.get().0;
    HELD.set((before, before));
    act();
    HELD.get().1 - before
}

pub(crate) fn held() -> isize {
    HELD.get().0
}
