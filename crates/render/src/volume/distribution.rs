//! Histograms of volumes.

use std::ops::Range;

use zippy::Result;
use zippy::World;
use zippy::algorithms::reduce::{
    Bins, Extremes, Histogram, Number, Reducible, Stride, strided_extremes, strided_histogram,
};
use zippy::array::GlobalArray;
use zippy::error::CallSite;

use crate::error::RenderError;

/// Histogram of a volume's values.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// Number of voxels per bin. Bins have equal width and span `min` to `max`.
    pub counts: Vec<u64>,
}

/// Replacement for infinite values, negated for NaN: beyond every useful value, with exact
/// interpolation in single precision. Distributions exclude non-finite values and values of at
/// least this magnitude.
pub const FAR: f64 = 1e30;

/// Type of a voxel: integers or floats of 8 to 32 bits.
pub trait Voxel:
    Number
    + Into<f64>
    + Reducible<Scalar = Self, Each<Option<Extremes<Self>>> = Option<Extremes<Self>>, Each<Histogram> = Histogram>
{
    /// Least and greatest number that counts as a value.
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

/// Number of different values of an 8-bit volume.
const BINS: usize = 256;

/// Histograms of a volume, one per component.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// Histogram of each component.
    pub components: Vec<Distribution>,
    /// Number of uncounted voxel components: not finite, or at least [`FAR`] in magnitude.
    pub left_out: u64,
}

impl Values {
    /// Counts all voxels of a distributed volume, whose `components` are interleaved on axis 0.
    /// Collective; the result is equal on all ranks and for every decomposition. Without values,
    /// the range is 0 to 1.
    ///
    /// Cost: two passes over the voxels, and two all-reduces per component, the larger one of 2
    /// KiB.
    ///
    /// # Errors
    /// No components, or a failure of this or another rank.
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
            let Some(Extremes { min, max, .. }) = strided_extremes(world, all(), stride, T::USEFUL)? else {
                let none = strided_histogram(world, all(), stride, &Bins::edges(vec![T::zeroed(); 2])?)?;
                left_out += none.below + none.above + none.nans;
                return Ok(Distribution { min: 0.0, max: 1.0, counts: vec![0] });
            };
            let bins = Bins::even(min, max, if min == max { 1 } else { BINS })?;
            let Histogram { counts, below, above, nans } = strided_histogram(world, all(), stride, &bins)?;
            left_out += below + above + nans;
            Ok(Distribution { min: min.into(), max: max.into(), counts })
        };
        let components = (0..components).map(measure).collect::<Result<Vec<_>>>()?;
        Ok(Self { components, left_out })
    }

    /// Histogram that determines colours: that of the first component.
    ///
    /// # Panics
    /// There are no components.
    pub fn colour(&self) -> &Distribution {
        &self.components[0]
    }

    /// Histogram that determines opacities: that of the last component.
    ///
    /// # Panics
    /// There are no components.
    pub fn opacity(&self) -> &Distribution {
        &self.components[self.components.len() - 1]
    }

    /// Least and greatest value of all components; 0 and 1 if there are no values.
    pub fn range(&self) -> (f64, f64) {
        let counted = self.components.iter().filter(|component| component.counts.iter().any(|&count| count > 0));
        let ends = counted.map(|component| (component.min, component.max));
        ends.reduce(|(low, high), (min, max)| (low.min(min), high.max(max))).unwrap_or((0.0, 1.0))
    }
}

impl Distribution {
    /// Value at the middle of a bin.
    pub fn middle(&self, bin: usize) -> f64 {
        self.min + (self.max - self.min) * (bin as f64 + 0.5) / self.counts.len().max(1) as f64
    }

    /// Threshold that best separates background and foreground: it maximises the variance between
    /// the two classes. The middle of the range if all voxels are in one class.
    ///
    /// Source: N. Otsu, A threshold selection method from gray-level histograms, IEEE Trans. SMC
    /// 9(1), 1979.
    pub fn threshold(&self) -> f64 {
        let all: f64 = self.counts.iter().map(|&count| count as f64).sum();
        // In bins: squares of values may overflow.
        let moment: f64 = self.counts.iter().enumerate().map(|(bin, &count)| count as f64 * bin as f64).sum();
        let (mut below, mut moment_below) = (0.0, 0.0);
        // Without voxels between the classes, all thresholds there are equal: the middle one is
        // used.
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

    /// Upper end of the background's noise, for a background below `threshold`: one and a half
    /// widths above the narrowest range that holds half of the background (2.7 standard deviations
    /// of normal noise). Returns `min` if the background has no such peak:
    ///
    /// - the end would be more than half-way to the threshold; or
    /// - more than a twentieth of the background lies equally far below, where only the scanner's
    ///   fill value, the minimum, can lie.
    pub fn noise(&self, threshold: f64) -> f64 {
        let background = self.min..threshold;
        let halves =
            (0..=32).map(|start| [0.0, 0.5].map(|more| self.quantile(start as f64 / 64.0 + more, &background)));
        let [low, high] = halves.min_by(|a, b| (a[1] - a[0]).total_cmp(&(b[1] - b[0]))).expect("several ranges");
        let reach = 1.5 * (high - low);
        let seen = self.edge(1)..threshold;
        let lower = self.voxels_within(&(seen.start..low - reach)) / self.voxels_within(&seen).max(1.0);
        if reach <= (threshold - high) / 2.0 && lower <= 0.05 { high + reach } else { self.min }
    }

    /// Quantile: a `share` (0 to 1) of the voxels within a range has at most this value. Voxels
    /// count as evenly spread within a bin. The end of the range if it holds no voxels.
    pub fn quantile(&self, share: f64, within: &Range<f64>) -> f64 {
        let wanted = share.clamp(0.0, 1.0) * self.voxels_within(within);
        let mut seen = 0.0;
        for (from, to, voxels) in self.parts(within) {
            if voxels > 0.0 && seen + voxels >= wanted {
                return from + (to - from) * ((wanted - seen) / voxels).clamp(0.0, 1.0);
            }
            seen += voxels;
        }
        within.end
    }

    fn voxels_within(&self, within: &Range<f64>) -> f64 {
        self.parts(within).map(|(_, _, voxels)| voxels).sum()
    }

    /// Part of each bin within a range, and its number of voxels.
    fn parts(&self, within: &Range<f64>) -> impl Iterator<Item = (f64, f64, f64)> {
        let width = self.edge(1) - self.min;
        self.counts.iter().enumerate().map(move |(bin, &count)| {
            let [from, to] = [bin, bin + 1].map(|edge| self.edge(edge).max(within.start).min(within.end));
            (from, to, if width > 0.0 { count as f64 * (to - from) / width } else { 0.0 })
        })
    }

    /// Lower edge of a bin.
    pub(super) fn edge(&self, bin: usize) -> f64 {
        self.min + (self.max - self.min) * bin as f64 / self.counts.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threshold_lies_between_two_peaks() {
        let mut counts = vec![0; 100];
        (counts[10], counts[11], counts[70], counts[72]) = (900, 100, 30, 20);
        let heaps = Distribution { min: 0.0, max: 100.0, counts };
        let threshold = heaps.threshold();
        assert!((40.0..42.0).contains(&threshold), "{threshold}");
        // Above the threshold: the 50 voxels of the second peak, 30 in 70..71 and 20 in 72..73.
        assert!((heaps.quantile(0.3, &(threshold..100.0)) - 70.5).abs() < 1e-9);
        assert!((heaps.quantile(0.8, &(threshold..100.0)) - 72.5).abs() < 1e-9);
        assert!((heaps.quantile(1.0, &(threshold..100.0)) - 73.0).abs() < 1e-9);
        assert!((heaps.quantile(450.0 / 1050.0, &(0.0..100.0)) - 10.5).abs() < 1e-9);
        // The first peak: 900 in 10..11, 100 in 11..12.
        assert!((heaps.quantile(0.45, &(0.0..threshold)) - 10.5).abs() < 1e-9);
        assert!((heaps.quantile(0.5, &(10.5..11.5)) - (10.5 + 0.25 * 500.0 / 450.0)).abs() < 1e-9);
    }

    #[test]
    fn threshold_of_inseparable_values_is_the_middle() {
        for counts in [vec![7], vec![0, 0, 9, 0], vec![0, 0]] {
            let one = Distribution { min: 2.0, max: 6.0, counts };
            assert_eq!(one.threshold(), 4.0);
        }
        let constant = Distribution { min: 5.0, max: 5.0, counts: vec![64] };
        assert_eq!((constant.threshold(), constant.quantile(0.5, &(5.0..5.0))), (5.0, 5.0));
    }

    /// Air with noise around bin 30, half of it within three bins; its tail reaches the second
    /// peak.
    #[test]
    fn noise_ends_above_the_peak_of_air() {
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
            // The narrowest half of the voxels spans less than three bins.
            let noise = values.noise(threshold);
            assert!((1330.0..1370.0).contains(&noise), "tail of {tail}: {noise}");
            // A fill value for voxels that the scanner did not measure.
            let mut filled = values.clone();
            filled.counts[0] = 4000;
            let noise = filled.noise(filled.threshold());
            assert!((1330.0..1400.0).contains(&noise), "tail of {tail}, filled: {noise}");
        }
        // No peak of air: equally frequent values below the threshold, or two peaks.
        let even = Distribution { min: 1000.0, max: 2000.0, counts: vec![10; 100] };
        assert_eq!(even.noise(even.threshold()), 1000.0);
        let mut two = noisy(0);
        (two.counts[2], two.counts[3]) = (3000, 3000);
        assert_eq!(two.noise(two.threshold()), 1000.0);
        // Without noise, air ends at most one bin later.
        let mut clean = noisy(0);
        clean.counts[..40].fill(0);
        clean.counts[0] = 90_000;
        assert!(clean.noise(clean.threshold()) <= 1020.0);
    }
}
