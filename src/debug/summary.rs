//! Summaries: what the numbers of an array are like, found where they are.

use std::rc::Rc;

use super::measure::{Measure, Scalars, exact, of_type};
use super::percentiles::percentiles;
use super::protocol::{Component, ElementType, Numbers, Summary, SummaryRequest};
use crate::World;
use crate::algorithms::reduce::{Bins, Histogram, Number, Reduced};
use crate::array::ArrayCore;
use crate::error::Result;

/// What the numbers of an array are like: of all cells that its chunks own, of a growable array those in use.
///
/// Of a global array every rank calls, with the same request and inside an operation that was compared, and all have the same
/// answer. Of another array its rank alone calls, and nothing is sent. Bins are of equal width; those of integers differ by at
/// most one number. A range is rounded to numbers of the array's type. Where all numbers are one, they are in the last bin.
///
/// # Errors
/// A failure of this or of another rank; within, what is wrong with the request.
pub(super) fn summary(
    world: &World,
    array: &Rc<ArrayCore>,
    request: &SummaryRequest,
    step: u64,
) -> Result<Result<Summary, String>> {
    let numbers = match asked_for(array, request) {
        Ok(numbers) => numbers,
        Err(text) => return Ok(Err(text)),
    };
    let components = of_type!(numbers.scalar, components, world, array, &numbers, request)?;
    let SummaryRequest { array, numbers, length, .. } = *request;
    Ok(Ok(Summary { array, numbers, length, step, components }))
}

/// The numbers that are asked for, or what is wrong.
fn asked_for(array: &ArrayCore, request: &SummaryRequest) -> Result<Numbers, String> {
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
    if request.length { found(&measure.lengths(), request) } else { found(&measure, request) }
}

fn found<R: Reduced>(measure: &Measure<'_, R>, request: &SummaryRequest) -> Result<Vec<Component>> {
    let spreads = measure.spreads(request.positive)?;
    let nearest = <R::Of as Number>::nearest;
    let asked = request.range.map(|(low, high)| (nearest(low), nearest(high)));
    let nothing = (nearest(0.0), nearest(0.0));
    let ranges: Vec<(R::Of, R::Of)> = spreads.iter().map(|one| asked.or(one.used).unwrap_or(nothing)).collect();
    let histograms = match usize::from(request.bins) {
        0 => vec![Histogram::default(); ranges.len()],
        count => {
            let bins = ranges.iter().map(|&(low, high)| Bins::even(low, high, count)).collect::<Result<Vec<_>>>()?;
            measure.histograms(&bins)?
        }
    };
    let percentiles = percentiles(|bins| measure.histograms(bins), &spreads, &request.percentiles)?;
    let ends = |(low, high): (R::Of, R::Of)| (exact(low), exact(high));
    let mut all = Vec::new();
    for (((spread, range), histogram), percentiles) in spreads.iter().zip(ranges).zip(histograms).zip(percentiles) {
        all.push(Component {
            count: spread.count,
            nans: spread.nans,
            infinities: spread.infinities,
            extremes: spread.used.map(ends),
            range: ends(range),
            bins: histogram.counts,
            outside: (histogram.below, histogram.above),
            percentiles: percentiles.into_iter().map(exact).collect(),
        });
    }
    Ok(all)
}
