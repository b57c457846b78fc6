//! Percentiles by histograms whose bins narrow down to one number.

use super::measure::ComponentStats;
use crate::algorithms::reduce::{Bins, Histogram, Number};
use crate::error::Result;

/// Maximum number of bins in one pass over the cells.
const MAX_BINS: u64 = 1000;

struct PercentileSearch {
    component: usize,
    /// Index of the percentile in the ascending order of the finite numbers.
    index: u64,
    /// Smallest and largest possible [`Number::key`] of the percentile.
    low: u64,
    high: u64,
}

impl PercentileSearch {
    /// Narrows the range of keys by the counts between `edges`. The range never grows, even if the
    /// counts disagree with the extremes (the arithmetic of two kernels may differ). Both bounds
    /// are edges, so each pass makes the range smaller.
    fn narrow(&mut self, edges: &[u64], histogram: &Histogram) {
        let mut reached = histogram.below;
        let bin = histogram.counts.iter().position(|count| {
            reached += count;
            reached > self.index
        });
        let (low, high) = match bin {
            Some(bin) if bin + 2 == edges.len() => (edges[bin], edges[bin + 1]),
            Some(bin) => (edges[bin], edges[bin + 1].saturating_sub(1)),
            None => (self.high, self.high),
        };
        self.low = low.clamp(self.low, self.high);
        self.high = high.clamp(self.low, self.high);
    }
}

/// Computes the percentiles of each component: for each of `percents`, the finite number with this
/// percentage of the other finite numbers below it, rounded to the nearest index. Empty for a
/// component without finite numbers. Results are exact, and outliers do not slow the search: bins
/// are ranges of keys. `count` reads all cells, four times for 32-bit numbers and eight times for
/// 64-bit ones.
pub(super) fn percentiles<S: Number>(
    count: impl Fn(&[Bins<S>]) -> Result<Vec<Histogram>>,
    stats: &[ComponentStats<S>],
    percents: &[f64],
) -> Result<Vec<Vec<S>>> {
    let mut searches = Vec::new();
    for (component, component_stats) in stats.iter().enumerate() {
        let ends = component_stats.finite_extremes.and_then(|(low, high)| low.key().zip(high.key()));
        let last = component_stats.finite_count.saturating_sub(1);
        let search = |percent: &f64| {
            let (low, high) = ends?;
            Some(PercentileSearch { component, index: (percent / 100.0 * last as f64).round() as u64, low, high })
        };
        searches.extend(percents.iter().filter_map(search));
    }
    let zero = S::zeroed().key().unwrap_or_default();
    let mut is_first = true;
    while searches.iter().any(|search| search.low < search.high) {
        let edges = next_edges(&searches, stats.len(), zero);
        let bins = edges.iter().map(|keys| Bins::edges(keys.iter().map(|&key| S::from_key(key)).collect()));
        let found = count(&bins.collect::<Result<Vec<_>>>()?)?;
        for search in &mut searches {
            let (edges, histogram) = (&edges[search.component], &found[search.component]);
            // The first edge is the smallest finite number (above 0 with `positive`); smaller
            // numbers are counted below it.
            let ComponentStats { extremes, finite_extremes, .. } = &stats[search.component];
            let least = |ends: &Option<(S, S)>| ends.and_then(|(least, _)| least.key());
            if is_first && least(extremes) < least(finite_extremes) {
                search.index += histogram.below;
            }
            search.narrow(edges, histogram);
        }
        is_first = false;
    }
    let mut all = vec![Vec::new(); stats.len()];
    for search in searches {
        all[search.component].push(S::from_key(search.low));
    }
    Ok(all)
}

/// Edges of the bins of the next pass, per component: keys that divide the ranges of its searches.
/// All components have equal numbers of edges. The last edge occurs twice, so that the largest key
/// has its own bin. Components without finite numbers have the edge `any`.
fn next_edges(searches: &[PercentileSearch], components: usize, any: u64) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new(); components];
    for (component, edges) in all.iter_mut().enumerate() {
        let own_searches = || searches.iter().filter(|search| search.component == component);
        let bins = MAX_BINS / own_searches().filter(|search| search.low < search.high).count().max(1) as u64;
        for search in own_searches() {
            let bins = if search.low < search.high { bins } else { 1 };
            let cut = |part| (u128::from(search.high - search.low) * u128::from(part) / u128::from(bins)) as u64;
            edges.extend((0..=bins).map(|part| search.low + cut(part)));
        }
        edges.sort_unstable();
        edges.dedup();
        edges.extend(edges.last().copied());
    }
    let max_edges = all.iter().map(Vec::len).max().unwrap_or(0).max(2);
    for edges in &mut all {
        let last = edges.last().copied().unwrap_or(any);
        edges.resize(max_edges, last);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percentiles_of_1_to_4(low: f32, high: f32, percents: &[f64]) -> Vec<f32> {
        let numbers = [3.0_f32, 1.0, 4.0, 2.0];
        let count = |bins: &[Bins<f32>]| {
            let (edges, mut found) = (bins[0].as_edges(), Histogram::default());
            found.counts = vec![0; bins[0].count()];
            let last = edges[edges.len() - 1];
            for number in numbers {
                match edges.partition_point(|edge| *edge <= number) {
                    0 => found.below += 1,
                    _ if number > last => found.above += 1,
                    edge => found.counts[edge.min(edges.len() - 1) - 1] += 1,
                }
            }
            Ok(vec![found])
        };
        let ends = Some((low, high));
        let component_stats =
            ComponentStats { count: 4, nans: 0, infinities: 0, extremes: ends, finite_extremes: ends, finite_count: 4 };
        percentiles(count, &[component_stats], percents).unwrap().remove(0)
    }

    #[test]
    fn percentiles_with_wrong_extremes_are_nearest_numbers() {
        let percents = [0.0, 33.0, 67.0, 100.0];
        assert_eq!(percentiles_of_1_to_4(1.0, 4.0, &percents), [1.0, 2.0, 3.0, 4.0]);
        // Extremes one ulp too far inside, and too far outside.
        let (low, high) = (1.0_f32.next_up(), 4.0_f32.next_down());
        assert_eq!(percentiles_of_1_to_4(low, high, &percents), [low, 2.0, 3.0, high]);
        assert_eq!(percentiles_of_1_to_4(1.0_f32.next_down(), 4.0_f32.next_up(), &percents), [1.0, 2.0, 3.0, 4.0]);
        // No number is between the extremes.
        assert_eq!(percentiles_of_1_to_4(5.0, 6.0, &percents), [5.0; 4]);
        assert_eq!(percentiles_of_1_to_4(-2.0, -1.0, &percents), [-1.0; 4]);
        assert_eq!(percentiles_of_1_to_4(2.5, 2.75, &percents), [2.5, 2.5, 2.75, 2.75]);
    }
}
