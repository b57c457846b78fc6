//! Percentiles: the number at a place in the order of all, by histograms that close in on it.

use super::measure::{Measure, Spread};
use crate::algorithms::reduce::{Bins, Number, Reduced};
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

/// Of each component, the finite numbers that so many percent of the others lie below, the nearest ones; nothing where there is
/// no finite number. Exact: what is counted are numbers between keys, so that a few far away cost nothing. Looks at all cells
/// four times for numbers of 32 bits, and eight times for 64 bits.
///
/// # Errors
/// A failure of this or of another rank.
pub(super) fn percentiles<R: Reduced>(
    measure: &Measure<'_, R>,
    spreads: &[Spread<R::Of>],
    percents: &[f64],
) -> Result<Vec<Vec<f64>>> {
    let mut sought = Vec::new();
    for (component, spread) in spreads.iter().enumerate() {
        let ends = spread.finite.and_then(|(low, high)| low.key().zip(high.key()));
        let last = (spread.count - spread.nans - spread.infinities).saturating_sub(1);
        let one = |percent: &f64| {
            let (low, high) = ends?;
            Some(Sought { component, place: (percent / 100.0 * last as f64).round() as u64, low, high })
        };
        sought.extend(percents.iter().filter_map(one));
    }
    // Infinities that stand before all finite numbers.
    let mut before: Option<Vec<u64>> = None;
    while sought.iter().any(|one| one.low < one.high) {
        let zero = <R::Of as bytemuck::Zeroable>::zeroed().key().unwrap_or_default();
        let edges = edges(&sought, spreads.len(), zero);
        let bins = edges.iter().map(|keys| Bins::edges(keys.iter().map(|&key| R::Of::from_key(key)).collect()));
        let found = measure.histograms(&bins.collect::<Result<Vec<_>>>()?)?;
        // The first edges are the smallest finite numbers.
        let before = before.get_or_insert_with(|| found.iter().map(|histogram| histogram.below).collect());
        for one in &mut sought {
            let (edges, histogram) = (&edges[one.component], &found[one.component]);
            let (place, mut reached) = (one.place + before[one.component], histogram.below);
            let bin = histogram.counts.iter().position(|count| {
                reached += count;
                reached > place
            });
            let Some(bin) = bin.filter(|_| one.low < one.high) else { continue };
            let end = if bin + 2 == edges.len() { edges[bin + 1] } else { edges[bin + 1].saturating_sub(1) };
            (one.low, one.high) = (one.low.max(edges[bin]), one.high.min(end));
        }
    }
    let mut all = vec![Vec::new(); spreads.len()];
    for one in sought {
        all[one.component].push(R::Of::from_key(one.low).to_f64());
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
