//! Summaries: statistics, histograms and percentiles of the numbers of an array, computed where the
//! cells are.
use std::rc::Rc;

use zippy_protocol::{Component, ElementType, Numbers, Summary, SummaryRequest};

use super::measure::{Measure, Scalars, exact, of_type};
use super::percentiles::percentiles;
use crate::World;
use crate::algorithms::reduce::{Bins, Histogram, Number, Reduced};
use crate::array::ArrayCore;
use crate::error::Result;

/// Summarizes the numbers in all cells that an array's chunks own; of a growable array, in the
/// cells in use.
///
/// For a global array, all ranks must call it with the same request, inside an operation that all
/// ranks have compared; all return the same. For another array only its owner calls, and no
/// messages are sent.
///
/// Bins have equal widths; those of integers differ by at most one number. The range is rounded to
/// numbers of the array's type. If all numbers are equal, they are in the last bin.
///
/// # Errors
/// A failure of this or of another rank. The inner error is the text for an invalid request.
pub(super) fn summary(
    world: &World,
    array: &Rc<ArrayCore>,
    request: &SummaryRequest,
    step: u64,
) -> Result<Result<Summary, String>> {
    let numbers = match requested_numbers(array, request) {
        Ok(numbers) => numbers,
        Err(text) => return Ok(Err(text)),
    };
    let components = of_type!(numbers.scalar, components, world, array, &numbers, request)?;
    let SummaryRequest { array, numbers, length, .. } = *request;
    Ok(Ok(Summary { array, numbers, length, step, components }))
}

/// The numbers that the request selects, or the reason why it is invalid.
fn requested_numbers(array: &ArrayCore, request: &SummaryRequest) -> Result<Numbers, String> {
    let element = ElementType::from(array.element());
    match request.of_type(&element) {
        Ok(numbers) => Ok(numbers.clone()),
        Err(text) => Err(format!("array {:?}: {text}", array.name())),
    }
}

fn components<S: Number>(
    world: &World,
    array: &Rc<ArrayCore>,
    numbers: &Numbers,
    request: &SummaryRequest,
) -> Result<Vec<Component>> {
    let measure = Scalars::<S>::new(world, array, numbers)?;
    if request.length {
        component_summaries(&measure.lengths(), request)
    } else {
        component_summaries(&measure, request)
    }
}

fn component_summaries<R: Reduced>(measure: &Measure<'_, R>, request: &SummaryRequest) -> Result<Vec<Component>> {
    let stats = measure.stats(request.positive)?;
    let nearest = <R::Of as Number>::nearest;
    let requested = request.range.map(|(low, high)| (nearest(low), nearest(high)));
    let nothing = (nearest(0.0), nearest(0.0));
    let ranges: Vec<(R::Of, R::Of)> =
        stats.iter().map(|component| requested.or(component.finite_extremes).unwrap_or(nothing)).collect();
    let histograms = match usize::from(request.bins) {
        0 => vec![Histogram::default(); ranges.len()],
        count => {
            let bins = ranges.iter().map(|&(low, high)| Bins::even(low, high, count)).collect::<Result<Vec<_>>>()?;
            measure.histograms(&bins)?
        }
    };
    let percentiles = percentiles(|bins| measure.histograms(bins), &stats, &request.percentiles)?;
    let ends = |(low, high): (R::Of, R::Of)| (exact(low), exact(high));
    let mut all = Vec::new();
    for (((component_stats, range), histogram), percentiles) in
        stats.iter().zip(ranges).zip(histograms).zip(percentiles)
    {
        all.push(Component {
            count: component_stats.count,
            nans: component_stats.nans,
            infinities: component_stats.infinities,
            extremes: component_stats.finite_extremes.map(ends),
            range: ends(range),
            bins: histogram.counts,
            outside: (histogram.below, histogram.above),
            percentiles: percentiles.into_iter().map(exact).collect(),
        });
    }
    Ok(all)
}
