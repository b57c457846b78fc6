//! How often a volume takes which value.

use std::ops::Range;

use zippy::Result;
use zippy::algorithms::reduce::{Bins, Extremes, Histogram, Number, Reducible, Stride};
use zippy::array::GlobalArray;
use zippy::error::CallSite;
use zippy::world::World;

use crate::error::RenderError;

/// Values of a volume, counted by bins.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// Voxels in each bin; the bins are of equal width and go from `min` to `max`.
    pub counts: Vec<u64>,
}

/// What stands for infinite values, and its negative for NaN: beyond every useful value, and such that single precision
/// still interpolates between the two. Values from it on, and those that are not finite, are left out of distributions.
pub const FAR: f64 = 1e30;

/// A number that a volume can hold for each voxel: 8 to 32 bits, whole or floating.
pub trait Voxel:
    Number
    + Into<f64>
    + Reducible<Scalar = Self, Each<Option<Extremes<Self>>> = Option<Extremes<Self>>, Each<Histogram> = Histogram>
{
    /// The smallest and the largest number that counts as a value.
    const USEFUL: (Self, Self);
}

macro_rules! voxels {
    ($($type:ty: $useful:expr;)*) => { $(impl Voxel for $type { const USEFUL: (Self, Self) = $useful; })* };
}
voxels! {
    u8: (u8::MIN, u8::MAX);
    i8: (i8::MIN, i8::MAX);
    u16: (u16::MIN, u16::MAX);
    i16: (i16::MIN, i16::MAX);
    u32: (u32::MIN, u32::MAX);
    i32: (i32::MIN, i32::MAX);
    f32: (-(FAR as f32).next_down(), (FAR as f32).next_down());
}

/// As many as an 8-bit volume can have values.
const BINS: usize = 256;

/// How often a volume takes which value, component by component.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// The distribution of each component.
    pub components: Vec<Distribution>,
    /// How many numbers are in none of them, since they are not finite or at least [`FAR`].
    pub left_out: u64,
}

impl Values {
    /// Counts all voxels of a distributed volume, whose `components` lie side by side on axis 0. Where there is no
    /// value at all, the range is 0 to 1. Collective; the same on every rank and for every decomposition. Cost: two
    /// looks at every voxel and, for each component, two all-reduces, the larger one of 2 KiB.
    ///
    /// # Errors
    /// No components, or a failure of this or of another rank.
    #[track_caller]
    pub fn measure<T: Voxel>(world: &World, volume: &GlobalArray<T, 3>, components: usize) -> Result<Self> {
        let _call = CallSite::enter();
        if components == 0 {
            return Err(RenderError::Volume("voxels of 0 components; at least one is needed".into()).into());
        }
        let mut left_out = 0;
        let measure = |first: usize| {
            let stride = Stride { every: components as i64, first: first as i64 };
            let all = || volume.at((.., .., ..));
            let Some(Extremes { min, max, .. }) = world.extremes_of(all(), stride, T::USEFUL)? else {
                let none = world.histogram_of(all(), stride, &Bins::edges(vec![T::zeroed(); 2])?)?;
                left_out += none.below + none.above + none.nans;
                return Ok(Distribution { min: 0.0, max: 1.0, counts: vec![0] });
            };
            let bins = Bins::even(min, max, if min == max { 1 } else { BINS })?;
            let Histogram { counts, below, above, nans } = world.histogram_of(all(), stride, &bins)?;
            left_out += below + above + nans;
            Ok(Distribution { min: min.into(), max: max.into(), counts })
        };
        let components = (0..components).map(measure).collect::<Result<Vec<_>>>()?;
        Ok(Self { components, left_out })
    }

    /// The values that give colours: those of the first component.
    ///
    /// # Panics
    /// Without components.
    pub fn colour(&self) -> &Distribution {
        &self.components[0]
    }

    /// The values that give opacities: those of the last component.
    ///
    /// # Panics
    /// Without components.
    pub fn opacity(&self) -> &Distribution {
        &self.components[self.components.len() - 1]
    }

    /// The smallest and the largest value of all components; 0 and 1 where there is none.
    pub fn range(&self) -> (f64, f64) {
        let counted = self.components.iter().filter(|component| component.counts.iter().any(|&count| count > 0));
        let ends = counted.map(|component| (component.min, component.max));
        ends.reduce(|(low, high), (min, max)| (low.min(min), high.max(max))).unwrap_or((0.0, 1.0))
    }
}

impl Distribution {
    /// The value in the middle of a bin.
    pub fn middle(&self, bin: usize) -> f64 {
        self.min + (self.max - self.min) * (bin as f64 + 0.5) / self.counts.len().max(1) as f64
    }

    /// The value that best parts the voxels into two classes, the background and what is to be seen: the largest
    /// variance between the classes. The middle of the range where there is nothing to part.
    ///
    /// N. Otsu, A threshold selection method from gray-level histograms, IEEE Trans. SMC 9(1), 1979.
    pub fn threshold(&self) -> f64 {
        let all: f64 = self.counts.iter().map(|&count| count as f64).sum();
        // Counted in bins: squares of values may leave the range of floats.
        let moment: f64 = self.counts.iter().enumerate().map(|(bin, &count)| count as f64 * bin as f64).sum();
        let (mut below, mut moment_below) = (0.0, 0.0);
        // Where no voxel lies between two classes every value in between parts them alike: the middle one is taken.
        let (mut best, mut first, mut last) = (0.0, 0, 0);
        for bin in 0..self.counts.len().saturating_sub(1) {
            below += self.counts[bin] as f64;
            moment_below += self.counts[bin] as f64 * bin as f64;
            let above = all - below;
            if below == 0.0 || above == 0.0 {
                continue;
            }
            let apart = moment_below / below - (moment - moment_below) / above;
            let variance = below * above * apart * apart;
            if variance > best {
                (best, first, last) = (variance, bin, bin);
            } else if variance == best && best > 0.0 {
                last = bin;
            }
        }
        if best == 0.0 {
            return (self.min + self.max) / 2.0;
        }
        (self.middle(first) + self.middle(last + 1)) / 2.0
    }

    /// Where the noise of the background ends, whose values lie below `threshold`: behind the narrowest range that
    /// holds half of them, one and a half times as far as that is wide (2.7 standard deviations of normal noise). `min`
    /// where there is no such heap: that would be more than half-way to the threshold, or more than a twentieth lies as
    /// far below, where there is only what scanners fill the unseen with, the minimum.
    pub fn noise(&self, threshold: f64) -> f64 {
        let background = self.min..threshold;
        let halves =
            (0..=32).map(|start| [0.0, 0.5].map(|more| self.quantile(start as f64 / 64.0 + more, &background)));
        let [low, high] = halves.min_by(|a, b| (a[1] - a[0]).total_cmp(&(b[1] - b[0]))).expect("several ranges");
        let reach = 1.5 * (high - low);
        let seen = self.edge(1)..threshold;
        let lower = self.held(&(seen.start..low - reach)) / self.held(&seen).max(1.0);
        if reach <= (threshold - high) / 2.0 && lower <= 0.05 { high + reach } else { self.min }
    }

    /// The value that a `share` (0 to 1) of the voxels within a range does not exceed; within a bin voxels count as
    /// evenly spread. The end of the range where there are none.
    pub fn quantile(&self, share: f64, within: &Range<f64>) -> f64 {
        let wanted = share.clamp(0.0, 1.0) * self.held(within);
        let mut seen = 0.0;
        for (from, to, voxels) in self.parts(within) {
            if voxels > 0.0 && seen + voxels >= wanted {
                return from + (to - from) * ((wanted - seen) / voxels).clamp(0.0, 1.0);
            }
            seen += voxels;
        }
        within.end
    }

    /// Voxels within a range.
    fn held(&self, within: &Range<f64>) -> f64 {
        self.parts(within).map(|(_, _, voxels)| voxels).sum()
    }

    /// The part of each bin within a range, and its voxels.
    fn parts(&self, within: &Range<f64>) -> impl Iterator<Item = (f64, f64, f64)> {
        let width = self.edge(1) - self.min;
        self.counts.iter().enumerate().map(move |(bin, &count)| {
            let [from, to] = [bin, bin + 1].map(|edge| self.edge(edge).max(within.start).min(within.end));
            (from, to, if width > 0.0 { count as f64 * (to - from) / width } else { 0.0 })
        })
    }

    /// Where a bin begins.
    pub(super) fn edge(&self, bin: usize) -> f64 {
        self.min + (self.max - self.min) * bin as f64 / self.counts.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_heaps_are_parted_between_them() {
        let mut counts = vec![0; 100];
        (counts[10], counts[11], counts[70], counts[72]) = (900, 100, 30, 20);
        let heaps = Distribution { min: 0.0, max: 100.0, counts };
        let threshold = heaps.threshold();
        assert!((40.0..42.0).contains(&threshold), "{threshold}");
        // Above it are the 50 voxels of the second heap: 30 in 70..71, 20 in 72..73.
        assert!((heaps.quantile(0.3, &(threshold..100.0)) - 70.5).abs() < 1e-9);
        assert!((heaps.quantile(0.8, &(threshold..100.0)) - 72.5).abs() < 1e-9);
        assert!((heaps.quantile(1.0, &(threshold..100.0)) - 73.0).abs() < 1e-9);
        // Of all: 1050 voxels.
        assert!((heaps.quantile(450.0 / 1050.0, &(0.0..100.0)) - 10.5).abs() < 1e-9);
        // Of the first heap: 900 in 10..11, 100 in 11..12.
        assert!((heaps.quantile(0.45, &(0.0..threshold)) - 10.5).abs() < 1e-9);
        assert!((heaps.quantile(0.5, &(10.5..11.5)) - (10.5 + 0.25 * 500.0 / 450.0)).abs() < 1e-9);
    }

    #[test]
    fn what_cannot_be_parted_is_halved() {
        for counts in [vec![7], vec![0, 0, 9, 0], vec![0, 0]] {
            let one = Distribution { min: 2.0, max: 6.0, counts };
            assert_eq!(one.threshold(), 4.0);
        }
        let constant = Distribution { min: 5.0, max: 5.0, counts: vec![64] };
        assert_eq!((constant.threshold(), constant.quantile(0.5, &(5.0..5.0))), (5.0, 5.0));
    }

    /// Air with noise around bin 30, half of it within three bins; a tail of it up to the second heap.
    #[test]
    fn noise_ends_behind_the_heap_of_air() {
        let noisy = |tail: u64| {
            let mut counts = vec![0; 100];
            for (bin, count) in [(25, 150), (28, 2000), (29, 2850), (30, 100), (31, 2900), (32, 2050)] {
                counts[bin] = count;
            }
            counts[33..60].fill(tail);
            counts[80..90].fill(500);
            Distribution { min: 1000.0, max: 2000.0, counts }
        };
        for tail in [0, 5, 20] {
            let values = noisy(tail);
            let threshold = values.threshold();
            assert!((1330.0..1800.0).contains(&threshold), "{threshold}");
            // Bins 28 to 32 hold nearly all, the narrowest half is less than three of them wide.
            let noise = values.noise(threshold);
            assert!((1330.0..1370.0).contains(&noise), "tail of {tail}: {noise}");
            // Where the scanner has seen nothing.
            let mut filled = values.clone();
            filled.counts[0] = 4000;
            let noise = filled.noise(filled.threshold());
            assert!((1330.0..1400.0).contains(&noise), "tail of {tail}, filled: {noise}");
        }
        // No heap of air: below the threshold is as much of one value as of another, or two things are there.
        let even = Distribution { min: 1000.0, max: 2000.0, counts: vec![10; 100] };
        assert_eq!(even.noise(even.threshold()), 1000.0);
        let mut two = noisy(0);
        (two.counts[2], two.counts[3]) = (3000, 3000);
        assert_eq!(two.noise(two.threshold()), 1000.0);
        // Without noise air ends with the bin behind it at most.
        let mut clean = noisy(0);
        clean.counts[..40].fill(0);
        clean.counts[0] = 90_000;
        assert!(clean.noise(clean.threshold()) <= 1020.0);
    }
}
