//! Summaries: what the numbers of an array are like, found where they are.

use std::rc::Rc;

use super::measure::{Measure, Spread, of_type};
use super::protocol::{Component, ElementType, Numbers, Summary, SummaryRequest};
use crate::World;
use crate::algorithms::reduce::{Bins, Histogram, Number};
use crate::array::ArrayCore;
use crate::error::Result;

/// The most bins of a histogram.
const MOST_BINS: u16 = 1024;

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
    Ok(Ok(Summary { array: request.array, numbers: request.numbers, step, components }))
}

/// The numbers that are asked for, or what is wrong.
fn asked_for(array: &ArrayCore, request: &SummaryRequest) -> Result<Numbers, String> {
    let SummaryRequest { numbers, bins, range, .. } = request;
    if *bins > MOST_BINS {
        return Err(format!("a histogram has at most {MOST_BINS} bins, and {bins} were asked for"));
    }
    if let Some((low, high)) = range {
        if !low.is_finite() || !high.is_finite() {
            return Err(format!("the bins are to go from {low} to {high}; both ends must be finite numbers"));
        }
        if low > high {
            return Err(format!("the bins are to go from {low} to {high}; the first end must not be the larger one"));
        }
    }
    let mut all = ElementType::from(array.element()).numbers;
    let (place, count) = (usize::from(*numbers), all.len());
    if place >= count {
        let (name, element) = (array.name(), array.element().name);
        return Err(format!(
            "numbers {place} of array {name:?} were asked for; its cells, of type {element}, have numbers 0 to {}",
            count - 1
        ));
    }
    Ok(all.swap_remove(place))
}

fn components<S: Number>(
    world: &World,
    array: &Rc<ArrayCore>,
    numbers: &Numbers,
    request: &SummaryRequest,
) -> Result<Vec<Component>> {
    let measure = Measure::<S>::new(world, array, numbers)?;
    let spreads = measure.spreads()?;
    let asked = request.range.map(|(low, high)| (S::nearest(low), S::nearest(high)));
    let nothing = (S::zeroed(), S::zeroed());
    let ranges: Vec<(S, S)> = spreads.iter().map(|one| asked.or(one.finite).unwrap_or(nothing)).collect();
    let histograms = match usize::from(request.bins) {
        0 => vec![Histogram::default(); ranges.len()],
        count => {
            let bins = ranges.iter().map(|&(low, high)| Bins::even(low, high, count)).collect::<Result<Vec<_>>>()?;
            measure.histograms(&bins)?
        }
    };
    let ends = |(low, high): (S, S)| (low.to_f64(), high.to_f64());
    let component = |((spread, range), histogram): ((Spread<S>, (S, S)), Histogram)| Component {
        count: spread.count,
        nans: spread.nans,
        infinities: spread.infinities,
        extremes: spread.finite.map(ends),
        range: ends(range),
        bins: histogram.counts,
        outside: (histogram.below, histogram.above),
    };
    Ok(spreads.into_iter().zip(ranges).zip(histograms).map(component).collect())
}
