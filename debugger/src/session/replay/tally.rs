//! Summaries and comparisons of whole recorded arrays.

use zippy::debug::protocol::{ArrayEntry, Component, Difference, ElementType, Summary, SummaryRequest, View};

/// What the numbers of a view of a whole array are like.
///
/// # Errors
/// The request makes no sense.
pub fn summary(view: &View, element: &ElementType, request: &SummaryRequest) -> Result<Summary, String> {
    let numbers = request.of_type(element)?;
    let damaged = || "the recorded view makes no sense".to_string();
    let (width, count) = (numbers.scalar.bytes(), usize::from(numbers.components));
    let mut all = vec![Vec::new(); count];
    for cell in view.cells.chunks_exact((element.bytes as usize).max(1)) {
        for (component, values) in all.iter_mut().enumerate() {
            let first = numbers.offset as usize + component * width;
            let value = cell.get(first..).and_then(|bytes| numbers.scalar.value(bytes));
            values.push(value.ok_or_else(damaged)?);
        }
    }
    if request.length {
        // As programs have them: rounded once, to f32.
        let length = |place: usize| all.iter().map(|values| values[place].powi(2)).sum::<f64>().sqrt() as f32;
        let nan = |place: usize| all.iter().any(|values| values[place].is_nan());
        let of = |place| if nan(place) { f64::NAN } else { f64::from(length(place)) };
        all = vec![(0..all[0].len()).map(of).collect()];
    }
    let components = all.iter().map(|values| of(values, request)).collect();
    let SummaryRequest { array, numbers, length, .. } = *request;
    Ok(Summary { array, numbers, length, step: view.step, components })
}

fn of(values: &[f64], request: &SummaryRequest) -> Component {
    let bins = usize::from(request.bins);
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let extremes =
        finite().map(|value| (value, value)).reduce(|(low, high), (value, _)| (low.min(value), high.max(value)));
    let (low, high) = request.range.or(extremes).unwrap_or((0.0, 0.0));
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
        percentiles: percentiles(finite().collect(), &request.percentiles),
    };
    for &value in values.iter().filter(|value| bins > 0 && !value.is_nan()) {
        if value < low {
            found.outside.0 += 1;
        } else if value > high {
            found.outside.1 += 1;
        } else {
            // A bin has its lower edge, and the last one its upper edge, too.
            let above = edges.partition_point(|&edge| edge <= value);
            found.bins[above.saturating_sub(1).min(bins - 1)] += 1;
        }
    }
    found
}

/// The numbers that so many percent of the others lie below, the nearest ones.
fn percentiles(mut finite: Vec<f64>, percents: &[f64]) -> Vec<f64> {
    let Some(last) = finite.len().checked_sub(1) else { return Vec::new() };
    let mut at = |percent: &f64| {
        let place = (percent / 100.0 * last as f64).round() as usize;
        *finite.select_nth_unstable_by(place.min(last), f64::total_cmp).1
    };
    percents.iter().map(&mut at).collect()
}

/// Why two arrays cannot be compared, where they cannot.
pub fn unlike(one: &ArrayEntry, other: &ArrayEntry) -> Option<String> {
    let what = |entry: &ArrayEntry| format!("`{}` is {} of shape {:?}", entry.name, entry.element.name, entry.shape);
    let alike = one.element == other.element && one.shape == other.shape;
    (!alike).then(|| format!("{}, and {}: only arrays of one type and shape are compared", what(one), what(other)))
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
