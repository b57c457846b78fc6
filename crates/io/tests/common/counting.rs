//! An allocator that counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, Ordering};

/// Counts the bytes that the calling thread holds, and the most that it has held. A program declares it as its
/// `#[global_allocator]`.
pub struct Counting;

thread_local! {
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

/// No thread gets more than so many bytes.
static LIMIT: AtomicIsize = AtomicIsize::new(isize::MAX);

fn count(bytes: isize) {
    // The memory of a thread that ends is counted by nobody.
    let _ = HELD.try_with(|held| {
        let now = held.get().0 + bytes;
        held.set((now, held.get().1.max(now)));
    });
}

// SAFETY: all calls are passed on to the system's allocator as they are, or refused.
unsafe impl GlobalAlloc for Counting {
    // SAFETY: the caller's promises are those that the system's allocator asks for.
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

/// Refuses memory beyond so many bytes: the program ends where that is not foreseen.
pub fn limit(bytes: isize) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// The most memory that `act` holds at a time beyond what is held before.
pub fn most(act: impl FnOnce()) -> isize {
    let before = HELD.get().0;
    HELD.set((before, before));
    act();
    HELD.get().1 - before
}

/// The bytes that the calling thread holds.
pub fn held() -> isize {
    HELD.get().0
}
