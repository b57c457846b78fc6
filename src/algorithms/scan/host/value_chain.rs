//! [`ValueChain`]: values of consecutive tasks, each of which follows from the one before.

use std::sync::OnceLock;

/// Times that a thread looks for a value of another one before it goes to sleep.
const LOOKS: usize = 200;

/// The value before the first of some tasks, and the value after each. Threads that take the tasks
/// in their order wait for each other's values.
pub struct ValueChain<V>(Vec<ChainValue<V>>);

/// A value that is found once; none where its task has ended without it.
type ChainValue<V> = OnceLock<Option<V>>;

impl<V> ValueChain<V> {
    pub fn new(first: V, tasks: usize) -> Self {
        let mut values = vec![OnceLock::from(Some(first))];
        values.extend((0..tasks).map(|_| OnceLock::new()));
        Self(values)
    }

    /// The values before and after a task, for the thread that carries it out.
    pub fn link(&self, task: usize) -> ChainLink<'_, V> {
        ChainLink { before: &self.0[task], after: &self.0[task + 1] }
    }

    /// The value after the last task.
    pub fn into_last(self) -> Option<V> {
        self.0.into_iter().next_back()?.into_inner()?
    }
}

/// A task's part of a [`ValueChain`].
///
/// A task that is dropped without a value, as in a panic, ends the tasks after it: they would wait
/// forever.
pub struct ChainLink<'a, V> {
    before: &'a ChainValue<V>,
    after: &'a ChainValue<V>,
}

impl<V> ChainLink<'_, V> {
    /// Waits for the value before the task. None where an earlier task has ended without one.
    pub fn before(&self) -> Option<&V> {
        for _ in 0..LOOKS {
            if let Some(value) = self.before.get() {
                return value.as_ref();
            }
            std::hint::spin_loop();
        }
        self.before.wait().as_ref()
    }

    /// Gives the value after the task to the next one.
    pub fn set(&self, value: V) {
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
    use crate::device::HostThreads;

    /// Sums of the numbers up to each of `tasks`; a task in `panics` panics.
    fn sums(threads: usize, tasks: usize, panics: Option<usize>) -> Option<usize> {
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
    fn values_follow_from_those_before() {
        for threads in 1..4 {
            for tasks in [0, 1, 2, 50] {
                assert_eq!(sums(threads, tasks, None), Some(tasks * tasks.saturating_sub(1) / 2));
            }
        }
    }

    #[test]
    fn a_panic_of_a_task_ends_all_threads() {
        for threads in 1..4 {
            for task in [0, 7, 49] {
                assert!(catch_unwind(AssertUnwindSafe(|| sums(threads, 50, Some(task)))).is_err());
            }
        }
    }
}
