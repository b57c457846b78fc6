//! Histograms with arbitrary bins.

use super::format::Format;
use super::host::HostBins;
use super::number::{Number, Reducible};
use super::operand::{Stride, collective};
use super::reduced::Reduced;
use super::source::HISTOGRAM;
use crate::World;
use crate::error::{ArrayError, CallSite, Result};
use crate::world::{CollectiveWorld, IntoSection, hash};

/// Maximum number of edges per pass of the kernel.
const MAX_EDGES_PER_PASS: usize = HISTOGRAM.words - 2;

/// Adjacent bins: bin *i* contains the numbers from edge *i* to edge *i* + 1, exclusive; the last
/// bin also contains the last edge. −0 equals +0.
#[derive(Debug, Clone, PartialEq)]
pub struct Bins<S> {
    edges: Vec<S>,
}

/// Counts of numbers per bin.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Histogram {
    /// The number of cells in each bin.
    pub counts: Vec<u64>,
    /// The number of cells smaller than the first edge.
    pub below: u64,
    /// The number of cells larger than the last edge.
    pub above: u64,
    /// The number of NaNs.
    pub nans: u64,
}

impl<S: Number> Bins<S> {
    /// `count` bins of equal width from `low` to `high`, both inclusive. Edges are rounded to `S`;
    /// the widths of integer bins differ by at most one number (256 bins from 0 to 255 have one
    /// `u8` each).
    ///
    /// # Errors
    /// No bins, a bound that is a NaN or infinite, or `low` above `high`.
    #[track_caller]
    pub fn even(low: S, high: S, count: usize) -> Result<Self> {
        let _call = CallSite::enter();
        Self::edges(vec![low, high])?;
        let mut edges: Vec<S> = (0..=count).map(|i| S::edge(low, high, i, count.max(1))).collect();
        // Rounded edges must stay ascending and must not exceed the last one.
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

    /// The bins between these edges: one bin fewer than edges. Edges may be infinite.
    ///
    /// # Errors
    /// Fewer than two edges, a NaN, or edges that are not ascending.
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

    /// The edges: one more than bins.
    pub fn as_edges(&self) -> &[S] {
        &self.edges
    }

    /// Bins for the host: below the first edge, between edges, and above the last one. The bin
    /// above is absent if no number is larger than the last edge.
    fn host_bins(&self) -> HostBins<S> {
        let mut thresholds: Vec<S> = self.edges.iter().map(|edge| edge.with_one_zero()).collect();
        let last = thresholds.pop().and_then(S::next_above);
        thresholds.extend(last);
        HostBins::new(thresholds)
    }

    /// Number of bins.
    pub fn count(&self) -> usize {
        self.edges.len() - 1
    }
}

/// Key of a number, with −0 equal to +0; `None` for a NaN.
fn order<S: Number>(number: S) -> Option<u64> {
    number.with_one_zero().key()
}

/// [`World::histogram`] of the cells of a stride. Collective.
///
/// # Errors
/// As [`World::histogram`].
#[track_caller]
pub fn strided_histogram<T: Reducible, const D: usize>(
    world: &World,
    section: impl IntoSection<T, D>,
    stride: Stride,
    bins: &Bins<T::Scalar>,
) -> Result<T::Each<Histogram>> {
    let _call = CallSite::enter();
    let keys: Vec<u64> = bins.edges.iter().filter_map(|&edge| order(edge)).collect();
    collective(world, "histogram", &[section.into()], hash((keys, stride)), |operand| {
        let mut counts = local_histogram(&operand.strided(stride), &vec![bins; T::COMPONENTS])?;
        world.inner_group().all_reduce(&mut counts, |sum, more| *sum += more)?;
        let each = counts.len() / T::COMPONENTS;
        Ok(T::each(|component| Histogram::of(&counts[component * each..][..each])))
    })
}

impl World {
    /// Counts the cells of a section in bins, component by component; numbers outside of all bins
    /// and NaNs are counted separately. Edges are compared exactly, so that the counts are the same
    /// for every decomposition and device. Collective; every rank passes the same bins.
    ///
    /// Every rank passes the same global section, or a local section of its own; ghost cells are
    /// included only if a local section contains them. Cost: one pass over the cells per 1021 bins,
    /// on the device that holds them (a single pass on the host for 64-bit types and on software
    /// adapters), and one all-reduce of 8 bytes per bin.
    ///
    /// # Errors
    /// An invalid region, or a failure of any rank.
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
        strided_histogram(self, section, Stride::ALL, bins)
    }
}

impl Histogram {
    /// Converts the counts of one component from [`local_histogram`].
    pub(crate) fn of(counts: &[u64]) -> Self {
        let [below, counts @ .., above, nans] = counts else { return Self::default() };
        Self { counts: counts.to_vec(), below: *below, above: *above, nans: *nans }
    }
}

/// Counts of this rank, one component after another, each with its own bins: numbers below the
/// bins, in each bin, above the bins, NaNs.
pub(crate) fn local_histogram<R: Reduced>(operand: &R, bins: &[&Bins<R::Of>]) -> Result<Vec<u64>> {
    let mut counts: Vec<Vec<u64>> = bins.iter().map(|bins| vec![0; bins.count() + 3]).collect();
    if let Some(format) = operand.format() {
        for (component, (bins, counts)) in bins.iter().zip(&mut counts).enumerate() {
            count_on_device(operand, (format, bins), component, counts)?;
        }
        return Ok(counts.concat());
    }
    let host_bins: Vec<_> = bins.iter().map(|bins| bins.host_bins()).collect();
    // A task clears and adds as many counters as there are bins.
    let least = host_bins.iter().map(|host_bins| 4 * host_bins.count() as u64).sum();
    let start = || -> Vec<_> { host_bins.iter().map(HostBins::counts).collect() };
    let found = operand.fold_on_host(least, start, |found, component, numbers| {
        host_bins[component].count_block(numbers, &mut found[component]);
    })?;
    for (component, of_component) in found.into_iter().flat_map(|found| found.into_iter().enumerate()) {
        let mut found = of_component.into_counts();
        // If no number is larger than the last edge, there is no bin above.
        let nans = counts[component].len() - 1;
        found.resize(nans + 1, 0);
        found.swap(host_bins[component].count(), nans);
        counts[component].iter_mut().zip(found).for_each(|(count, more)| *count += more);
    }
    Ok(counts.concat())
}

/// Adds this rank's counts of one component from the device: numbers below the bins, in each bin,
/// above the bins, NaNs.
fn count_on_device<R: Reduced>(
    operand: &R,
    (format, bins): (Format, &Bins<R::Of>),
    component: usize,
    counts: &mut [u64],
) -> Result<()> {
    let mut keys: Vec<u32> = bins.edges.iter().map(|&edge| edge.with_one_zero().device_key()).collect();
    // The last edge belongs to the last bin, so the bin above begins at the next larger number, if
    // any.
    let last = keys.pop().unwrap_or_default();
    keys.extend(last.checked_add(1));
    let mut from = 0;
    loop {
        let edges = &keys[from..keys.len().min(from + MAX_EDGES_PER_PASS)];
        let end = from + edges.len() == keys.len();
        let constants: Vec<u32> = std::iter::once(edges.len() as u32).chain(edges.iter().copied()).collect();
        let mut add = |words: &[u32]| {
            // The first window alone counts numbers below its edges, and the last window alone
            // those above.
            let window_bins = if from == 0 { 0 } else { 1 }..if end { edges.len() + 1 } else { edges.len() };
            for bin in window_bins {
                counts[from + bin] += u64::from(words[bin]);
            }
            if from == 0 {
                *counts.last_mut().expect("counts end in NaNs") += u64::from(words[HISTOGRAM.words - 1]);
            }
        };
        operand.fold(format, (&HISTOGRAM, &constants), component, &mut add)?;
        if end {
            return Ok(());
        }
        // Consecutive windows share an edge.
        from += edges.len() - 1;
    }
}
