//! [`HostThreads`]: number of host threads of a rank, and the thread pool of the process.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};
use zippy_native::{MAX_STACK_BYTES, SMALL_STACK_BYTES, STACK_RESERVE_BYTES, TaskRunner};

/// Number of host threads that one rank uses.
///
/// The threads belong to one pool of the process; the thread of the rank is one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostThreads(NonZero<usize>);

impl HostThreads {
    /// One thread: the thread of the rank.
    pub const ONE: Self = Self(NonZero::<usize>::MIN);

    /// Creates a share of `count` threads of the pool.
    pub const fn with_count(count: NonZero<usize>) -> Self {
        Self(count)
    }

    /// Returns the number of threads of one rank: the `threads` of a process divided by its
    /// `ranks`, at least one.
    pub(super) fn new(threads: usize, ranks: usize) -> Self {
        POOL_THREADS.fetch_max(threads.saturating_sub(1), Ordering::Relaxed);
        Self(NonZero::new(threads / ranks.max(1)).unwrap_or(NonZero::<usize>::MIN))
    }

    /// Returns the number of threads.
    pub fn count(self) -> usize {
        self.0.get()
    }

    /// Calls `task` once for each index below `tasks`, on all threads of the rank.
    fn run_tasks(self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        let threads = self.count().min(tasks);
        let pool = if threads > 1 { thread_pool() } else { None };
        let Some(pool) = pool else { return (0..tasks).for_each(task) };
        let next = AtomicUsize::new(0);
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= tasks {
                    return;
                }
                task(index);
            }
        };
        pool.in_place_scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|_| work());
            }
            work();
        });
    }

    /// Calls `task` once for each item, on all threads, and returns the results in the order of the
    /// items.
    ///
    /// A free thread takes the next item, so that a few items per thread balance the load. Cost:
    /// about 10 µs with several threads and several items.
    ///
    /// # Panics
    /// If a task panics.
    pub fn map<T: Send, R: Send>(self, items: Vec<T>, task: impl Fn(T) -> R + Sync) -> Vec<R> {
        let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
        let slots: Vec<_> = items.into_iter().zip(&mut results).map(|slot| Mutex::new(Some(slot))).collect();
        self.run_tasks(slots.len(), &|index| {
            let slot = slots[index].lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some((item, result)) = slot {
                *result = Some(task(item));
            }
        });
        drop(slots);
        results.into_iter().map(|result| result.expect("the scope ends after all tasks")).collect()
    }
}

impl TaskRunner for HostThreads {
    fn thread_count(&self) -> usize {
        self.0.get()
    }

    fn run(&self, tasks: usize, stack_bytes: usize, task: &(dyn Fn(usize) + Sync)) {
        // The stack of the rank's thread has any size, and frames of the program.
        let pool = if stack_bytes > SMALL_STACK_BYTES { thread_pool() } else { None };
        match pool {
            Some(pool) => pool.install(|| self.run_tasks(tasks, task)),
            None => self.run_tasks(tasks, task),
        }
    }
}

/// Maximum number of pool threads that a rank of this process can use.
static POOL_THREADS: AtomicUsize = AtomicUsize::new(1);

/// Stack size of a pool thread, in bytes. A native kernel with thousands of statements has a frame
/// of megabytes.
const STACK_BYTES: usize = MAX_STACK_BYTES + STACK_RESERVE_BYTES;

/// Returns the thread pool of the process; `None` if the system does not start its threads.
fn thread_pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let new = || {
        let threads = POOL_THREADS.load(Ordering::Relaxed);
        let builder = ThreadPoolBuilder::new().thread_name(|i| format!("zippy host {i}"));
        builder.num_threads(threads).stack_size(STACK_BYTES).build().ok()
    };
    POOL.get_or_init(new).as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_divided_among_ranks_of_process() {
        for (threads, ranks, count) in [(8, 1, 8), (8, 3, 2), (8, 9, 1), (1, 1, 1), (1, 0, 1), (0, 1, 1)] {
            assert_eq!(HostThreads::new(threads, ranks).count(), count);
        }
    }

    #[test]
    fn map_with_any_thread_count_keeps_order_of_items() {
        for threads in 1..6 {
            let threads = HostThreads(NonZero::new(threads).unwrap());
            for items in [0, 1, 2, 5, 1000] {
                let found = threads.map((0..items).collect(), |item: usize| item * item);
                assert_eq!(found, (0..items).map(|item| item * item).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn map_over_disjoint_slices_writes_all_cells() {
        let mut cells = vec![0; 1003];
        let parts: Vec<_> = cells.chunks_mut(100).enumerate().collect();
        HostThreads(NonZero::new(3).unwrap()).map(parts, |(i, part)| part.fill(i));
        assert!(cells.iter().enumerate().all(|(index, &value)| value == index / 100));
    }

    #[test]
    #[should_panic(expected = "item 7")]
    fn map_with_panicking_task_panics() {
        HostThreads(NonZero::new(2).unwrap()).map((0..20).collect(), |item: usize| assert!(item != 7, "item 7"));
    }
}
