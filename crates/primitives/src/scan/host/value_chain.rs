//! [`ValueChain`]: values of consecutive tasks, each computed from the previous one.

use std::sync::OnceLock;

/// Number of polls for the value of another thread before the thread sleeps.
const POLLS_BEFORE_SLEEP: usize = 200;

/// Value before the first task, and value after each task. Threads that process tasks in order wait
/// for each other's values.
pub(super) struct ValueChain<V>(Vec<ChainValue<V>>);

/// Value that is set once; `None` if its task ended without a value.
type ChainValue<V> = OnceLock<Option<V>>;

impl<V> ValueChain<V> {
    pub(super) fn new(first: V, tasks: usize) -> Self {
        let mut values = vec![OnceLock::from(Some(first))];
        values.extend((0..tasks).map(|_| OnceLock::new()));
        Self(values)
    }

    /// Returns the link of a task, for the thread that runs the task.
    pub(super) fn link(&self, task: usize) -> ChainLink<'_, V> {
        ChainLink { before: &self.0[task], after: &self.0[task + 1] }
    }

    pub(super) fn into_last(self) -> Option<V> {
        self.0.into_iter().next_back()?.into_inner()?
    }
}

/// Access of one task to a [`ValueChain`]: the value before the task, and the value after it.
///
/// If a task is dropped without a value, for example in a panic, the later tasks also end, instead
/// of waiting forever.
pub(super) struct ChainLink<'a, V> {
    before: &'a ChainValue<V>,
    after: &'a ChainValue<V>,
}

impl<V> ChainLink<'_, V> {
    /// Waits for the value before the task. `None` if an earlier task ended without a value.
    pub(super) fn before(&self) -> Option<&V> {
        for _ in 0..POLLS_BEFORE_SLEEP {
            if let Some(value) = self.before.get() {
                return value.as_ref();
            }
            std::hint::spin_loop();
        }
        self.before.wait().as_ref()
    }

    pub(super) fn set(&self, value: V) {
        self.after.get_or_init(|| Some(value));
    }
}

impl<V> Drop for ChainLink<'_, V> {
    fn drop(&mut self) {
        self.after.get_or_init(|| None);
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use zippy::device::HostThreads;

    /// Returns the sum of the numbers below `tasks`, computed by a chain of tasks; a task in
    /// `panics` panics.
    fn sum_by_chain(threads: usize, tasks: usize, panics: Option<usize>) -> Option<usize> {
        let chain = ValueChain::new(0, tasks);
        let threads = HostThreads::with_count(NonZero::new(threads).unwrap());
        threads.map((0..tasks).collect(), |task| {
            let link = chain.link(task);
            assert!(panics != Some(task), "task {task}");
            let Some(before) = link.before() else { return };
            link.set(before + task);
        });
        chain.into_last()
    }

    #[test]
    fn each_value_follows_from_previous_value() {
        for threads in 1..4 {
            for tasks in [0, 1, 2, 50] {
                assert_eq!(sum_by_chain(threads, tasks, None), Some(tasks * tasks.saturating_sub(1) / 2));
            }
        }
    }

    #[test]
    fn a_panic_of_a_task_ends_all_threads() {
        for threads in 1..4 {
            for task in [0, 7, 49] {
                assert!(catch_unwind(AssertUnwindSafe(|| sum_by_chain(threads, 50, Some(task)))).is_err());
            }
        }
    }
}
