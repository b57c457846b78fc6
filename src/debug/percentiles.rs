//! Percentiles: the number at a place in the order of all, by histograms that close in on it.

use super::measure::Spread;
use crate::algorithms::reduce::{Bins, Histogram, Number};
use crate::error::Result;

/// So many parts are counted in one look at the cells.
const PARTS: u64 = 1000;

/// A number that is looked for.
struct Sought {
    component: usize,
    /// How many finite numbers stand before it.
    place: u64,
    /// Between which keys it lies, both included.
    low: u64,
    high: u64,
}

impl Sought {
    /// Closes in on it by what was counted between edges. It stays between its keys, also where the counts do not agree with
    /// the extremes, as the arithmetic of two kernels may not; both keys are edges, so that there are fewer keys after each look.
    fn close_in(&mut self, edges: &[u64], histogram: &Histogram) {
        let mut reached = histogram.below;
        let bin = histogram.counts.iter().position(|count| {
            reached += count;
            reached > self.place
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

/// Of each component, the finite numbers that so many percent of the others lie below, the nearest ones; nothing where there is
/// no finite number. Exact: what is counted are numbers between keys, so that a few far away cost nothing. Looks at all cells,
/// by `count`, four times for numbers of 32 bits, and eight times for 64 bits.
///
/// # Errors
/// A failure of this or of another rank.
pub(super) fn percentiles<S: Number>(
    count: impl Fn(&[Bins<S>]) -> Result<Vec<Histogram>>,
    spreads: &[Spread<S>],
    percents: &[f64],
) -> Result<Vec<Vec<S>>> {
    let mut sought = Vec::new();
    for (component, spread) in spreads.iter().enumerate() {
        let ends = spread.used.and_then(|(low, high)| low.key().zip(high.key()));
        let last = spread.numbers.saturating_sub(1);
        let one = |percent: &f64| {
            let (low, high) = ends?;
            Some(Sought { component, place: (percent / 100.0 * last as f64).round() as u64, low, high })
        };
        sought.extend(percents.iter().filter_map(one));
    }
    let zero = S::zeroed().key().unwrap_or_default();
    let mut is_first = true;
    while sought.iter().any(|one| one.low < one.high) {
        let edges = edges(&sought, spreads.len(), zero);
        let bins = edges.iter().map(|keys| Bins::edges(keys.iter().map(|&key| S::from_key(key)).collect()));
        let found = count(&bins.collect::<Result<Vec<_>>>()?)?;
        for one in &mut sought {
            let (edges, histogram) = (&edges[one.component], &found[one.component]);
            // The first edges are the smallest numbers that count: infinities, and numbers that are
            // not above 0, stand before them.
            let Spread { extremes, used, .. } = &spreads[one.component];
            let least = |ends: &Option<(S, S)>| ends.and_then(|(least, _)| least.key());
            if is_first && least(extremes) < least(used) {
                one.place += histogram.below;
            }
            one.close_in(edges, histogram);
        }
        is_first = false;
    }
    let mut all = vec![Vec::new(); spreads.len()];
    for one in sought {
        all[one.component].push(S::from_key(one.low));
    }
    Ok(all)
}

/// Keys for each component that cut what is still open into parts: as many for each, the last one twice, so that it has a bin of
/// its own. Components without finite numbers have any.
fn edges(sought: &[Sought], components: usize, any: u64) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new(); components];
    for (component, edges) in all.iter_mut().enumerate() {
        let own = || sought.iter().filter(|one| one.component == component);
        let parts = PARTS / own().filter(|one| one.low < one.high).count().max(1) as u64;
        for one in own() {
            let parts = if one.low < one.high { parts } else { 1 };
            let cut = |part| (u128::from(one.high - one.low) * u128::from(part) / u128::from(parts)) as u64;
            edges.extend((0..=parts).map(|part| one.low + cut(part)));
        }
        edges.sort_unstable();
        edges.dedup();
        edges.extend(edges.last().copied());
    }
    let most = all.iter().map(Vec::len).max().unwrap_or(0).max(2);
    for edges in &mut all {
        let last = edges.last().copied().unwrap_or(any);
        edges.resize(most, last);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The percentiles of 1, 2, 3 and 4 where the extremes are said to be these.
    fn of_four(low: f32, high: f32, percents: &[f64]) -> Vec<f32> {
        let numbers = [3.0_f32, 1.0, 4.0, 2.0];
        let count = |bins: &[Bins<f32>]| {
            let (edges, mut found) = (bins[0].as_edges(), Histogram::default());
            found.counts = vec![0; bins[0].count()];
            let last = edges[edges.len() - 1];
            for number in numbers {
                match edges.partition_point(|edge| *edge <= number) {
                    0 => found.below += 1,
                    _ if number > last => found.above += 1,
                    place => found.counts[place.min(edges.len() - 1) - 1] += 1,
                }
            }
            Ok(vec![found])
        };
        let ends = Some((low, high));
        let spread = Spread { count: 4, nans: 0, infinities: 0, extremes: ends, used: ends, numbers: 4 };
        percentiles(count, &[spread], percents).unwrap().remove(0)
    }

    #[test]
    fn counts_that_do_not_agree_with_the_extremes_give_the_nearest_numbers() {
        let percents = [0.0, 33.0, 67.0, 100.0];
        assert_eq!(of_four(1.0, 4.0, &percents), [1.0, 2.0, 3.0, 4.0]);
        // An ulp further inside, and further outside.
        let (low, high) = (1.0_f32.next_up(), 4.0_f32.next_down());
        assert_eq!(of_four(low, high, &percents), [low, 2.0, 3.0, high]);
        assert_eq!(of_four(1.0_f32.next_down(), 4.0_f32.next_up(), &percents), [1.0, 2.0, 3.0, 4.0]);
        // No number lies between them.
        assert_eq!(of_four(5.0, 6.0, &percents), [5.0; 4]);
        assert_eq!(of_four(-2.0, -1.0, &percents), [-1.0; 4]);
        assert_eq!(of_four(2.5, 2.75, &percents), [2.5, 2.5, 2.75, 2.75]);
    }
}
