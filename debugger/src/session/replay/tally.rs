//! Summaries and comparisons of whole recorded arrays.

use zippy::debug::protocol::{Component, Difference, ElementType, Summary, SummaryRequest, View};

/// The most bins of a histogram.
const MOST_BINS: u16 = 1024;

/// What the numbers of a view of a whole array are like.
///
/// # Errors
/// The request makes no sense.
pub fn summary(view: &View, element: &ElementType, request: &SummaryRequest) -> Result<Summary, String> {
    let missing = || format!("cells of {} have no numbers {}", element.name, request.numbers);
    let numbers = element.numbers.get(usize::from(request.numbers)).ok_or_else(missing)?;
    if request.bins > MOST_BINS {
        return Err(format!("a histogram has at most {MOST_BINS} bins, and not {}", request.bins));
    }
    if let Some((low, high)) = request.range
        && !(low <= high && low.is_finite() && high.is_finite())
    {
        return Err(format!("bins go from a number to one that is not below it, and not from {low} to {high}"));
    }
    let width = numbers.scalar.bytes();
    let damaged = || "the recorded view makes no sense".to_string();
    let mut components = Vec::new();
    for component in 0..usize::from(numbers.components) {
        let first = numbers.offset as usize + component * width;
        let value = |cell: &[u8]| numbers.scalar.value(cell.get(first..)?);
        let values: Option<Vec<f64>> = view.cells.chunks_exact((element.bytes as usize).max(1)).map(value).collect();
        components.push(of(&values.ok_or_else(damaged)?, usize::from(request.bins), request.range));
    }
    Ok(Summary { array: request.array, numbers: request.numbers, step: view.step, components })
}

fn of(values: &[f64], bins: usize, range: Option<(f64, f64)>) -> Component {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let extremes =
        finite().map(|value| (value, value)).reduce(|(low, high), (value, _)| (low.min(value), high.max(value)));
    let (low, high) = range.or(extremes).unwrap_or((0.0, 0.0));
    // Halves, as the whole may be more than there is.
    let edge = |place: usize| {
        let share = place as f64 / bins.max(1) as f64;
        if place == bins { high } else { low + 2.0 * ((high / 2.0 - low / 2.0) * share) }
    };
    let edges: Vec<f64> = (0..=bins).map(edge).collect();
    let mut found = Component {
        count: values.len() as u64,
        nans: values.iter().filter(|value| value.is_nan()).count() as u64,
        infinities: values.iter().filter(|value| value.is_infinite()).count() as u64,
        extremes,
        range: (low, high),
        bins: vec![0; bins],
        outside: (0, 0),
    };
    for &value in values.iter().filter(|value| !value.is_nan()) {
        if value < low {
            found.outside.0 += 1;
        } else if value > high {
            found.outside.1 += 1;
        } else if bins > 0 {
            // A bin has its lower edge, and the last one its upper edge, too.
            let above = edges.partition_point(|&edge| edge <= value);
            found.bins[above.saturating_sub(1).min(bins - 1)] += 1;
        }
    }
    found
}

/// Where two views of whole arrays of the same type and shape differ.
pub fn difference(one: &View, other: &View, cell_bytes: usize, shape: &[i64]) -> Difference {
    let pairs = one.cells.chunks_exact(cell_bytes.max(1)).zip(other.cells.chunks_exact(cell_bytes.max(1)));
    let mut differing = pairs.enumerate().filter(|(_, (one, other))| one != other).map(|(place, _)| place);
    let index = |mut place: i64| {
        let along = |&extent: &i64| {
            let at = place % extent.max(1);
            place /= extent.max(1);
            at
        };
        shape.iter().map(along).collect()
    };
    let first = differing.next();
    let cells = first.map_or(0, |_| 1 + differing.count() as u64);
    Difference { cells, first: first.map(|place| index(place as i64)) }
}
