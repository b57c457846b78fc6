//! [`IdleBlocks`]: free list of memory blocks, with bounds on idle memory.

/// Number of size classes of blocks per power of two.
const SIZE_CLASSES_PER_DOUBLING: u64 = 8;

/// Block of memory that is lent, returned and lent again.
pub(super) trait Block {
    fn bytes(&self) -> u64;
}

impl Block for wgpu::Buffer {
    fn bytes(&self) -> u64 {
        self.size()
    }
}

impl Block for Vec<u64> {
    fn bytes(&self) -> u64 {
        8 * self.len() as u64
    }
}

impl<K, B: Block> Block for (K, B) {
    fn bytes(&self) -> u64 {
        self.1.bytes()
    }
}

/// Returns the size, in bytes, of a new block for a request of `bytes`: the smallest size class
/// that holds it. Requests of similar sizes share a class, so that they can use the same block.
pub(super) fn size_class(bytes: u64) -> u64 {
    let power = bytes.checked_next_power_of_two().unwrap_or(0);
    let step = (power / (2 * SIZE_CLASSES_PER_DOUBLING)).max(8);
    bytes.checked_next_multiple_of(step).unwrap_or(bytes)
}

/// Returns the maximum size, in bytes, of an idle block that may satisfy a request: one eighth
/// larger, the maximum difference between a request and its size class.
pub(super) fn max_reusable_bytes(bytes: u64) -> u64 {
    bytes.saturating_add(bytes / SIZE_CLASSES_PER_DOUBLING)
}

/// Free list of memory blocks, the oldest first, with the number of lent bytes.
///
/// Idle and lent blocks together have at most 1.5 times the peak of the lent bytes, so that
/// requests of changing sizes do not fill the memory with blocks of unused sizes.
pub(super) struct IdleBlocks<B> {
    blocks: Vec<B>,
    /// Bound on idle bytes without lent bytes.
    min_bound: u64,
    /// Maximum of the bound on idle bytes.
    max_bound: u64,
    lent_bytes: u64,
    peak_lent_bytes: u64,
}

impl<B: Block> IdleBlocks<B> {
    /// Creates an empty free list. The bound on idle bytes depends on the lent bytes, between
    /// `min_bound` and `max_bound`.
    pub(super) fn new(min_bound: u64, max_bound: u64) -> Self {
        Self { blocks: Vec::new(), min_bound, max_bound, lent_bytes: 0, peak_lent_bytes: 0 }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &B> {
        self.blocks.iter()
    }

    /// Counts a new block as lent, before the caller creates it. Returns the idle blocks beyond the
    /// bound, which the caller frees.
    #[must_use]
    pub(super) fn lend_new(&mut self, bytes: u64) -> Vec<B> {
        self.lend(bytes);
        self.take_surplus()
    }

    fn lend(&mut self, bytes: u64) {
        self.lent_bytes += bytes;
        self.peak_lent_bytes = self.peak_lent_bytes.max(self.lent_bytes);
    }

    /// Lends the smallest usable idle block of `bytes` to `largest` bytes; of equal blocks, the
    /// most recently returned.
    pub(super) fn take(&mut self, bytes: u64, largest: u64, is_usable: impl Fn(&B) -> bool) -> Option<B> {
        let fits = |block: &B| (bytes..=largest).contains(&block.bytes()) && is_usable(block);
        let candidates = self.blocks.iter().enumerate().rev().filter(|(_, block)| fits(block));
        let found = candidates.min_by_key(|(_, block)| block.bytes())?.0;
        let block = self.blocks.remove(found);
        self.lend(block.bytes());
        Some(block)
    }

    /// Returns a lent block to the free list. Returns the idle blocks beyond the bound, which the
    /// caller frees.
    #[must_use]
    pub(super) fn give_back(&mut self, block: B) -> Vec<B> {
        self.lent_bytes = self.lent_bytes.saturating_sub(block.bytes());
        self.blocks.push(block);
        self.take_surplus()
    }

    fn take_surplus(&mut self) -> Vec<B> {
        let allowed = (self.peak_lent_bytes + self.peak_lent_bytes / 2).saturating_sub(self.lent_bytes);
        let bound = self.max_bound.min(self.min_bound.max(allowed));
        let mut idle: u64 = self.blocks.iter().map(Block::bytes).sum();
        let mut freed = 0;
        while idle > bound {
            idle -= self.blocks[freed].bytes();
            freed += 1;
        }
        self.blocks.drain(..freed).collect()
    }

    /// Subtracts a freed block from the lent bytes.
    pub(super) fn forget(&mut self, bytes: u64) {
        self.lent_bytes = self.lent_bytes.saturating_sub(bytes);
    }

    /// Removes the largest usable idle block from the free list; the caller frees it.
    pub(super) fn remove_largest(&mut self, is_usable: impl Fn(&B) -> bool) -> Option<B> {
        let candidates = self.blocks.iter().enumerate().filter(|(_, block)| is_usable(block));
        let largest = candidates.max_by_key(|(_, block)| block.bytes())?.0;
        Some(self.blocks.swap_remove(largest))
    }

    /// Removes all idle blocks, which the caller frees, and resets the peak of the lent bytes.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = B> {
        self.peak_lent_bytes = self.lent_bytes;
        self.blocks.drain(..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_class_holds_request_and_wastes_at_most_one_eighth() {
        let mut last_size = 0;
        for bytes in (0..5000).chain((20..40).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) + 1])) {
            let size = size_class(bytes);
            assert!(size >= bytes && size >= last_size && size.is_multiple_of(8), "{bytes} bytes: {size}");
            assert!(size <= (bytes + bytes.div_ceil(8)).max(bytes + 8), "{bytes} bytes: {size}");
            assert_eq!(size_class(size), size);
            last_size = size;
        }
        assert_eq!(size_class(u64::MAX), u64::MAX);
    }

    /// Simulates a loop that holds one block while it requests the next one.
    #[test]
    fn requests_of_changing_sizes_hold_at_most_1_5_times_the_lent_bytes() {
        let mut idle = IdleBlocks::<Vec<u64>>::new(64, 1 << 40);
        let (mut state, mut held, mut peak_lent) = (1_u64, Vec::new(), 0);
        for _ in 0..2000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let bytes = 8 * (1 + (state >> 40) % 10_000);
            let block = idle.take(bytes, max_reusable_bytes(bytes), |_| true).unwrap_or_else(|| {
                drop(idle.lend_new(bytes));
                vec![0; (bytes / 8) as usize]
            });
            assert!(block.bytes() >= bytes);
            peak_lent = peak_lent.max(block.bytes() + held.iter().map(Block::bytes).sum::<u64>());
            held.push(block);
            let all: u64 = idle.iter().chain(&held).map(Block::bytes).sum();
            assert!(2 * all <= 3 * peak_lent, "{all} bytes in total, at most {peak_lent} lent");
            if held.len() == 2 {
                drop(idle.give_back(held.remove(0)));
            }
        }
    }

    #[test]
    fn repeated_requests_create_no_new_block() {
        let mut idle = IdleBlocks::<Vec<u64>>::new(0, 1 << 20);
        let mut made = 0;
        for round in 0..5 {
            let mut held = Vec::new();
            for words in [10_usize, 500, 30] {
                let bytes = 8 * words as u64;
                held.push(idle.take(bytes, max_reusable_bytes(bytes), |_| true).unwrap_or_else(|| {
                    made += 1;
                    drop(idle.lend_new(bytes));
                    vec![0; words]
                }));
            }
            held.into_iter().for_each(|block| assert!(idle.give_back(block).is_empty()));
            assert_eq!(made, 3, "round {round}");
        }
    }
}
