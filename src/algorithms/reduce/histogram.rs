//! How many cells lie in which bin.

use super::host::Places;
use super::number::{Format, Number, Reducible};
use super::operand::{Stride, collective};
use super::reduced::Reduced;
use super::source::HISTOGRAM;
use crate::World;
use crate::error::{ArrayError, CallSite, Result};
use crate::world::{IntoSection, hash};

/// Edges that the kernel takes at a time.
const EDGES: usize = HISTOGRAM.words - 2;

/// Bins side by side: bin *i* holds the numbers from edge *i* on that are smaller than edge *i* + 1; the last bin holds
/// the last edge too. Both zeros are one number.
#[derive(Debug, Clone, PartialEq)]
pub struct Bins<S> {
    edges: Vec<S>,
}

/// Counts of numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Histogram {
    /// Numbers in each bin.
    pub counts: Vec<u64>,
    /// Numbers smaller than the first edge.
    pub below: u64,
    /// Numbers larger than the last edge.
    pub above: u64,
    /// NaNs.
    pub nans: u64,
}

impl<S: Number> Bins<S> {
    /// `count` bins of equal width from `low` to `high`, both included. Edges are rounded to `S`; of integers, bins
    /// differ by at most one number (256 bins from 0 to 255 have one `u8` each).
    ///
    /// # Errors
    /// No bins, a bound that is a NaN or infinite, or bounds that run backwards.
    #[track_caller]
    pub fn even(low: S, high: S, count: usize) -> Result<Self> {
        let _call = CallSite::enter();
        Self::edges(vec![low, high])?;
        let mut edges: Vec<S> = (0..=count).map(|i| S::edge(low, high, i, count.max(1))).collect();
        // Rounding must not make an edge smaller than the one before it, nor larger than the last one.
        for i in 1..count {
            if edges[i].key() < edges[i - 1].key() {
                edges[i] = edges[i - 1];
            }
            if edges[i].key() > high.key() {
                edges[i] = high;
            }
        }
        Self::edges(edges)
    }

    /// The bins between these edges, one bin fewer than there are edges. Infinite edges are fine.
    ///
    /// # Errors
    /// Fewer than two edges, a NaN, or edges that run backwards.
    #[track_caller]
    pub fn edges(edges: Vec<S>) -> Result<Self> {
        let _call = CallSite::enter();
        let wrong = |what: String| Err(ArrayError::Other(format!("a histogram needs {what}")).into());
        if edges.len() < 2 {
            return wrong(format!("at least two edges, and {} were given", edges.len()));
        }
        for (i, edge) in edges.iter().enumerate() {
            if edge.key().is_none() {
                return wrong(format!("edges that are numbers, but edge {i} is {edge:?}"));
            }
            if i > 0 && order(*edge) < order(edges[i - 1]) {
                return wrong(format!(
                    "rising edges, but edge {i}, {edge:?}, is smaller than {:?} before it",
                    edges[i - 1]
                ));
            }
        }
        Ok(Self { edges })
    }

    /// The edges, one more than bins.
    pub fn as_edges(&self) -> &[S] {
        &self.edges
    }

    /// Bins below, in, and above the range; none above where no number is larger than the last
    /// edge.
    fn places(&self) -> Places<S> {
        let mut thresholds: Vec<S> = self.edges.iter().map(|edge| edge.with_one_zero()).collect();
        let last = thresholds.pop().and_then(S::next_above);
        thresholds.extend(last);
        Places::new(thresholds)
    }

    /// Number of bins.
    pub fn count(&self) -> usize {
        self.edges.len() - 1
    }
}

/// The place of a number in the order, one for both zeros.
fn order<S: Number>(number: S) -> Option<u64> {
    number.with_one_zero().key()
}

impl World {
    /// Counts a section's cells by bins, component by component; what lies outside of all bins and NaNs are counted
    /// apart. Edges are compared exactly, so that the counts are the same for every decomposition and device.
    /// Collective; every rank gives the same bins.
    ///
    /// Every rank names the same global section, or a local section of its own; ghost cells count only where a local
    /// section names them. Cost: one look at every cell for every 1021 bins, on the device that holds it (once and by
    /// the host for 64-bit types and on software adapters), and one all-reduce of 8 bytes a bin.
    ///
    /// # Errors
    /// A bad region, or a failure of this or of another rank.
    ///
    /// # Examples
    /// ```
    /// # use zippy::{Layout, algorithms::reduce::Bins};
    /// zippy::run(|world| {
    ///     let a = world.array::<f32, 1>("a", &Layout::new([10]))?;
    ///     a.fill_with(|[x]| x as f32 / 4.0)?;
    ///     let found = world.histogram(a.at(..), &Bins::even(0.5, 1.5, 2)?)?;
    ///     assert_eq!((found.counts, found.below, found.above), (vec![2, 3], 2, 3));
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[track_caller]
    pub fn histogram<T: Reducible, const D: usize>(
        &self,
        section: impl IntoSection<T, D>,
        bins: &Bins<T::Scalar>,
    ) -> Result<T::Each<Histogram>> {
        let _call = CallSite::enter();
        self.histogram_of(section, Stride::ALL, bins)
    }

    /// [`histogram`](Self::histogram) of some cells. Collective.
    ///
    /// # Errors
    /// As [`histogram`](Self::histogram).
    #[track_caller]
    pub fn histogram_of<T: Reducible, const D: usize>(
        &self,
        section: impl IntoSection<T, D>,
        stride: Stride,
        bins: &Bins<T::Scalar>,
    ) -> Result<T::Each<Histogram>> {
        let _call = CallSite::enter();
        let keys: Vec<u64> = bins.edges.iter().filter_map(|&edge| order(edge)).collect();
        collective(self, "histogram", &[section.into()], hash((keys, stride)), |operand| {
            let mut counts = local(&operand.strided(stride), &vec![bins; T::COMPONENTS])?;
            self.inner().all_reduce(&mut counts, |sum, more| *sum += more)?;
            let each = counts.len() / T::COMPONENTS;
            Ok(T::each(|component| Histogram::of(&counts[component * each..][..each])))
        })
    }
}

impl Histogram {
    /// What [`local`] says of one component.
    pub(crate) fn of(counts: &[u64]) -> Self {
        let [below, counts @ .., above, nans] = counts else { return Self::default() };
        Self { counts: counts.to_vec(), below: *below, above: *above, nans: *nans }
    }
}

/// What this rank has, one component after the other, each with bins of its own: numbers below, in bins, above, NaNs.
pub fn local<R: Reduced>(operand: &R, bins: &[&Bins<R::Of>]) -> Result<Vec<u64>> {
    let mut counts: Vec<Vec<u64>> = bins.iter().map(|bins| vec![0; bins.count() + 3]).collect();
    if let Some(format) = operand.format() {
        for (component, (bins, counts)) in bins.iter().zip(&mut counts).enumerate() {
            count_on_device(operand, (format, bins), component, counts)?;
        }
        return Ok(counts.concat());
    }
    let places: Vec<_> = bins.iter().map(|bins| bins.places()).collect();
    // Counters are cleared and added for each task.
    let least = places.iter().map(|places| 4 * places.count() as u64).sum();
    let start = || -> Vec<_> { places.iter().map(Places::counts).collect() };
    let found = operand.fold_on_host(least, start, |found, component, numbers| {
        places[component].count_block(numbers, &mut found[component]);
    })?;
    for (component, of_component) in found.into_iter().flat_map(|found| found.into_iter().enumerate()) {
        let mut found = of_component.into_counts();
        // Without numbers above the last edge there is no bin for them.
        let nans = counts[component].len() - 1;
        found.resize(nans + 1, 0);
        found.swap(places[component].count(), nans);
        counts[component].iter_mut().zip(found).for_each(|(count, more)| *count += more);
    }
    Ok(counts.concat())
}

/// Adds what this rank's device finds in one component: numbers below, in bins, above, NaNs.
fn count_on_device<R: Reduced>(
    operand: &R,
    (format, bins): (Format, &Bins<R::Of>),
    component: usize,
    counts: &mut [u64],
) -> Result<()> {
    let mut keys: Vec<u32> = bins.edges.iter().map(|&edge| edge.with_one_zero().device_key()).collect();
    // The last edge belongs to the last bin: what lies above begins with the next number, if there is one.
    let last = keys.pop().unwrap_or_default();
    keys.extend(last.checked_add(1));
    let mut from = 0;
    loop {
        let edges = &keys[from..keys.len().min(from + EDGES)];
        let end = from + edges.len() == keys.len();
        let constants: Vec<u32> = std::iter::once(edges.len() as u32).chain(edges.iter().copied()).collect();
        let mut add = |words: &[u32]| {
            // Before the first edge and from the last on, only the first and the last window say something new.
            let places = if from == 0 { 0 } else { 1 }..if end { edges.len() + 1 } else { edges.len() };
            for place in places {
                counts[from + place] += u64::from(words[place]);
            }
            if from == 0 {
                *counts.last_mut().expect("counts end in NaNs") += u64::from(words[HISTOGRAM.words - 1]);
            }
        };
        operand.fold(format, (&HISTOGRAM, &constants), component, &mut add)?;
        if end {
            return Ok(());
        }
        // Windows share an edge, between the last bin of one and the first of the next.
        from += edges.len() - 1;
    }
}
