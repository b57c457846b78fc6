//! [`HostBins`]: counts of numbers in bins on the host.

use super::super::number::Number;
use super::blocks::BLOCK;
use crate::algorithms::vector_loop::{VectorLoop, run_vectorized};

/// Number of counters per bin: additions to equal bins do not wait for each other.
const LANES: usize = 4;
/// Maximum number of bins with several counters each: the counters fit in the first-level cache.
const MAX_BINS_WITH_LANES: usize = 1 << 10;

/// Bins of numbers: one below the first threshold, and one from each threshold on.
pub(crate) struct HostBins<S> {
    /// Thresholds in ascending order.
    thresholds: Vec<S>,
    guess: Option<BinGuess>,
}

/// Counts of one component of some cells.
pub(crate) struct HostBinCounts {
    counters: Counters,
    nans: u64,
}

struct Counters {
    counts: Vec<u64>,
    bins: usize,
}

impl Counters {
    fn new(bins: usize) -> Self {
        let lanes = if bins <= MAX_BINS_WITH_LANES { LANES } else { 1 };
        Self { counts: vec![0; bins * lanes], bins }
    }

    /// Counts numbers, given by the indices of their bins.
    #[inline(always)]
    fn count(&mut self, bins: impl Iterator<Item = usize>) {
        let mask = self.counts.len() / self.bins.max(1) - 1;
        for (i, bin) in bins.enumerate() {
            self.counts[(i & mask) * self.bins + bin] += 1;
        }
    }

    fn into_counts(mut self) -> Vec<u64> {
        let (all, lanes) = self.counts.split_at_mut(self.bins);
        for lane in lanes.chunks(self.bins.max(1)) {
            all.iter_mut().zip(lane).for_each(|(all, more)| *all += more);
        }
        self.counts.truncate(self.bins);
        self.counts
    }
}

/// Linear function through equidistant thresholds: the bin of a number is the rounded value, or the
/// next one.
#[derive(Debug, Clone, Copy)]
struct BinGuess {
    low: f64,
    scale: f64,
    most: f64,
}

impl BinGuess {
    /// Guessed bin of a number; ascends with the number.
    #[inline(always)]
    fn of(self, number: f64) -> u32 {
        /// Addition of this number rounds to an integer.
        const INTEGERS: f64 = (1_u64 << 52) as f64;
        let line = (number - self.low) * self.scale;
        let line = if line > 0.0 { line } else { 0.0 };
        let line = if line < self.most { line } else { self.most };
        (line + INTEGERS).to_bits() as u32
    }
}

struct GuessBlock<'a, S> {
    guess: BinGuess,
    numbers: &'a [S],
    into: &'a mut [u32; BLOCK],
}

impl<S: Number> VectorLoop for GuessBlock<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.into.iter_mut().zip(self.numbers).for_each(|(into, number)| *into = self.guess.of(number.to_f64()));
    }
}

struct CountNans<'a, S>(&'a [S]);

impl<S: Number> VectorLoop for CountNans<'_, S> {
    type Output = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        #[expect(clippy::eq_op, reason = "a NaN differs from itself")]
        self.0.iter().map(|number| u32::from(number != number)).sum()
    }
}

impl<S: Number> HostBins<S> {
    /// Bins between ascending thresholds that are not NaNs.
    pub(crate) fn new(thresholds: Vec<S>) -> Self {
        let guess = Self::guess(&thresholds);
        Self { thresholds, guess }
    }

    /// Linear function through the thresholds; `None` if its guesses are wrong for some number.
    fn guess(thresholds: &[S]) -> Option<BinGuess> {
        let last = thresholds.len().checked_sub(1).filter(|&last| last > 0 && last < 1 << 31)?;
        let low = thresholds[0].to_f64();
        let scale = last as f64 / (thresholds[last].to_f64() - low);
        let guess = BinGuess { low, scale, most: last as f64 };
        // GuessBlock ascend with the numbers, so it suffices to check both ends of a bin.
        let right = |(bin, &threshold): (usize, &S)| {
            let at = guess.of(threshold.to_f64()) as usize;
            let below = threshold.next_below().map_or(0, |below| guess.of(below.to_f64()) as usize);
            at >= bin && below <= bin
        };
        (scale.is_finite() && scale > 0.0 && thresholds.iter().enumerate().all(right)).then_some(guess)
    }

    pub(crate) fn count(&self) -> usize {
        self.thresholds.len() + 1
    }

    pub(crate) fn counts(&self) -> HostBinCounts {
        HostBinCounts { counters: Counters::new(self.count()), nans: 0 }
    }

    pub(crate) fn count_block(&self, numbers: &[S], into: &mut HostBinCounts) {
        into.nans += u64::from(run_vectorized(CountNans(numbers)));
        let thresholds = &self.thresholds;
        let Some(guess) = self.guess else {
            let bin = |number| thresholds.partition_point(|threshold| threshold <= number);
            return into.counters.count(numbers.iter().map(bin));
        };
        let mut guesses = [0; BLOCK];
        for block in numbers.chunks(BLOCK) {
            run_vectorized(GuessBlock { guess, numbers: block, into: &mut guesses });
            into.counters.count(block.iter().zip(&guesses).map(|(number, &guess)| {
                let guess = guess as usize;
                guess + usize::from(*number >= thresholds[guess])
            }));
        }
    }
}

impl HostBinCounts {
    /// Counts of all bins, followed by the count of NaNs.
    pub(crate) fn into_counts(self) -> Vec<u64> {
        let mut all = self.counters.into_counts();
        // A NaN is below every threshold in comparisons, so the first bin has counted it.
        all[0] -= self.nans;
        all.push(self.nans);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts of numbers by a plain loop.
    fn expected_counts<S: Number>(numbers: &[S], thresholds: &[S]) -> Vec<u64> {
        let mut counts = vec![0; thresholds.len() + 2];
        for number in numbers {
            let bin = thresholds.iter().filter(|&threshold| threshold <= number).count();
            counts[if number.key().is_some() { bin } else { thresholds.len() + 1 }] += 1;
        }
        counts
    }

    fn check_counts<S: Number>(thresholds: Vec<S>, mut numbers: Vec<S>, guesses: bool) {
        let around = |&threshold: &S| [Some(threshold), threshold.next_below(), threshold.next_above()];
        numbers.extend(thresholds.iter().flat_map(around).flatten());
        let bins = HostBins::new(thresholds.clone());
        assert_eq!(bins.guess.is_some(), guesses, "{} thresholds", thresholds.len());
        let mut counts = bins.counts();
        numbers.chunks(BLOCK).for_each(|block| bins.count_block(block, &mut counts));
        assert_eq!(counts.into_counts(), expected_counts(&numbers, &thresholds));
    }

    #[test]
    fn numbers_near_thresholds_are_counted_in_their_bins() {
        let specials = [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, f32::MAX, f32::from_bits(1)];
        for count in [2, 3, 9, 257, 3001] {
            for (low, high) in [(-1.0, 1.0), (0.0, 1e-30), (-3e38, 3e38), (0.1, 0.7), (1e6, 1e6 + 500.0)] {
                let edge = |i: usize| <f32 as Number>::edge(low, high, i, count - 1);
                let edges: Vec<f32> = (0..count).map(edge).collect();
                if !edges.is_sorted_by(|a, b| a < b) {
                    continue;
                }
                let number = |i: u32| f32::from_bits(i.wrapping_mul(2_654_435_761));
                let spread = |i: u32| low + (high - low) * (i as f32 / 4e3);
                let numbers = (0..5000).flat_map(|i| [number(i), spread(i)]).chain(specials).collect();
                check_counts(edges, numbers, true);
            }
        }
        check_counts(vec![0.0_f64], vec![1.0, -0.0, f64::NAN], false);
        check_counts(vec![f64::NEG_INFINITY, 0.0, 1.0, f64::INFINITY], vec![0.5, -1.0, 2.0, f64::NAN], false);
        check_counts(vec![1.0_f64, 1.0, 1.0], vec![0.5, 1.0, 2.0], false);
        check_counts(vec![1.0_f64, 10.0, 11.0, 500.0], (0..2000).map(f64::from).collect(), false);
        check_counts((0..=255_u8).collect(), (0..=255).cycle().take(5000).collect(), true);
        check_counts((-100..100_i64).map(|i| i << 55).collect(), (-999..999).map(|i| i << 53).collect(), true);
        check_counts((0..50).map(|i| u64::MAX - 50 + i).collect(), (0..100).map(|i| u64::MAX - i).collect(), false);
    }
}
