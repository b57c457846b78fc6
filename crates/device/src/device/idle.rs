//! [`IdleBlocks`]: memory that was lent, came back and waits for the next request.

/// Classes of sizes within each power of two.
const CLASSES: u64 = 8;

/// A piece of memory that can be lent again.
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

/// The size of a new block for a request: the least of the classes, eight within each power of two,
/// so that requests of about the same size are served by the same block.
pub(super) fn class(bytes: u64) -> u64 {
    let power = bytes.checked_next_power_of_two().unwrap_or(0);
    let step = (power / (2 * CLASSES)).max(8);
    bytes.checked_next_multiple_of(step).unwrap_or(bytes)
}

/// The largest block that serves a request without much waste: one eighth more memory, as a class
/// has at most.
pub(super) fn largest_fit(bytes: u64) -> u64 {
    bytes.saturating_add(bytes / CLASSES)
}

/// Blocks that are idle, the oldest first, and how much is lent.
///
/// Idle and lent blocks together hold at most one and a half times the bytes that were ever lent at
/// a time, so that requests whose sizes change do not fill the memory with blocks that no request
/// fits.
pub(super) struct IdleBlocks<B> {
    blocks: Vec<B>,
    /// Bytes that are kept in any case.
    least: u64,
    /// Bytes beyond which no block is kept.
    most: u64,
    lent: u64,
    most_lent: u64,
}

impl<B: Block> IdleBlocks<B> {
    /// No blocks. Idle ones are kept up to `most` bytes, and up to `least` bytes however little is
    /// lent.
    pub fn new(least: u64, most: u64) -> Self {
        Self { blocks: Vec::new(), least, most, lent: 0, most_lent: 0 }
    }

    pub fn iter(&self) -> impl Iterator<Item = &B> {
        self.blocks.iter()
    }

    /// Counts a block as lent that is made next, and returns the idle blocks that are too much
    /// then.
    #[must_use]
    pub fn lend_new(&mut self, bytes: u64) -> Vec<B> {
        self.lend(bytes);
        self.surplus()
    }

    fn lend(&mut self, bytes: u64) {
        self.lent += bytes;
        self.most_lent = self.most_lent.max(self.lent);
    }

    /// Takes the smallest idle block of `bytes` to `largest` bytes that is usable, of equal ones
    /// the latest.
    pub fn take(&mut self, bytes: u64, largest: u64, usable: impl Fn(&B) -> bool) -> Option<B> {
        let fits = |block: &B| (bytes..=largest).contains(&block.bytes()) && usable(block);
        let candidates = self.blocks.iter().enumerate().rev().filter(|(_, block)| fits(block));
        let found = candidates.min_by_key(|(_, block)| block.bytes())?.0;
        let block = self.blocks.remove(found);
        self.lend(block.bytes());
        Some(block)
    }

    /// Takes a lent block back, and returns the idle blocks that are too much then.
    #[must_use]
    pub fn keep(&mut self, block: B) -> Vec<B> {
        self.lent = self.lent.saturating_sub(block.bytes());
        self.blocks.push(block);
        self.surplus()
    }

    fn surplus(&mut self) -> Vec<B> {
        let kept = self.most.min(self.least.max((self.most_lent + self.most_lent / 2).saturating_sub(self.lent)));
        let mut idle: u64 = self.blocks.iter().map(Block::bytes).sum();
        let mut freed = 0;
        while idle > kept {
            idle -= self.blocks[freed].bytes();
            freed += 1;
        }
        self.blocks.drain(..freed).collect()
    }

    /// Counts a lent block as freed.
    pub fn forget(&mut self, bytes: u64) {
        self.lent = self.lent.saturating_sub(bytes);
    }

    /// Takes the largest usable idle block out, to free it.
    pub fn take_largest(&mut self, usable: impl Fn(&B) -> bool) -> Option<B> {
        let candidates = self.blocks.iter().enumerate().filter(|(_, block)| usable(block));
        let largest = candidates.max_by_key(|(_, block)| block.bytes())?.0;
        Some(self.blocks.swap_remove(largest))
    }

    /// Takes all idle blocks out, to free them.
    pub fn drain(&mut self) -> impl Iterator<Item = B> {
        self.most_lent = self.lent;
        self.blocks.drain(..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_their_request_with_at_most_an_eighth_of_waste() {
        let mut before = 0;
        for bytes in (0..5000).chain((20..40).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) + 1])) {
            let size = class(bytes);
            assert!(size >= bytes && size >= before && size.is_multiple_of(8), "{bytes} bytes: {size}");
            assert!(size <= (bytes + bytes.div_ceil(8)).max(bytes + 8), "{bytes} bytes: {size}");
            assert_eq!(class(size), size);
            before = size;
        }
        assert_eq!(class(u64::MAX), u64::MAX);
    }

    /// A loop that holds one block while it requests the next one.
    #[test]
    fn requests_of_changing_sizes_hold_at_most_half_more_than_the_lent_bytes() {
        let mut idle = IdleBlocks::<Vec<u64>>::new(64, 1 << 40);
        let (mut state, mut held, mut most_lent) = (1_u64, Vec::new(), 0);
        for _ in 0..2000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let bytes = 8 * (1 + (state >> 40) % 10_000);
            let block = idle.take(bytes, largest_fit(bytes), |_| true).unwrap_or_else(|| {
                drop(idle.lend_new(bytes));
                vec![0; (bytes / 8) as usize]
            });
            assert!(block.bytes() >= bytes);
            most_lent = most_lent.max(block.bytes() + held.iter().map(Block::bytes).sum::<u64>());
            held.push(block);
            let all: u64 = idle.iter().chain(&held).map(Block::bytes).sum();
            assert!(2 * all <= 3 * most_lent, "{all} bytes for {most_lent} that were lent");
            if held.len() == 2 {
                drop(idle.keep(held.remove(0)));
            }
        }
    }

    #[test]
    fn repeated_requests_need_no_new_block() {
        let mut idle = IdleBlocks::<Vec<u64>>::new(0, 1 << 20);
        let mut made = 0;
        for round in 0..5 {
            let mut held = Vec::new();
            for words in [10_usize, 500, 30] {
                let bytes = 8 * words as u64;
                held.push(idle.take(bytes, largest_fit(bytes), |_| true).unwrap_or_else(|| {
                    made += 1;
                    drop(idle.lend_new(bytes));
                    vec![0; words]
                }));
            }
            held.into_iter().for_each(|block| assert!(idle.keep(block).is_empty()));
            assert_eq!(made, 3, "round {round}");
        }
    }
}
