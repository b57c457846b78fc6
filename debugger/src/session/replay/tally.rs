//! Summaries and comparisons of whole recorded arrays.

use std::cmp::Ordering;

use zippy::debug::protocol::{
    ArrayEntry, Component, Difference, ElementType, ScalarValue, Summary, SummaryRequest, View,
};

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
            let value = cell.get(first..).and_then(|bytes| numbers.scalar.number(bytes));
            values.push(value.ok_or_else(damaged)?);
        }
    }
    if request.length {
        // As programs have them: rounded once, to f32.
        let length = |place: usize| all.iter().map(|values| values[place].to_f64().powi(2)).sum::<f64>().sqrt() as f32;
        let nan = |place: usize| all.iter().any(|values| values[place].is_nan());
        let of = |place| ScalarValue::Float(if nan(place) { f64::NAN } else { f64::from(length(place)) });
        all = vec![(0..all[0].len()).map(of).collect()];
    }
    let components = all.iter().map(|values| of(values, request)).collect();
    let SummaryRequest { array, numbers, length, .. } = *request;
    Ok(Summary { array, numbers, length, step: view.step, components })
}

fn of(values: &[ScalarValue], request: &SummaryRequest) -> Component {
    let bins = usize::from(request.bins);
    let zero = ScalarValue::Integer(0);
    let used = || values.iter().copied().filter(|value| value.is_finite() && (!request.positive || *value > zero));
    let extremes =
        used().map(|value| (value, value)).reduce(|(low, high), (value, _)| (low.min(value), high.max(value)));
    let asked = request.range.map(|(low, high)| (low.into(), high.into()));
    let (low, high) = asked.or(extremes).unwrap_or((0.0.into(), 0.0.into()));
    let edge = |place: usize| match (low, high) {
        _ if place == bins => high,
        // As programs have them: bins of whole numbers, as equal as they can be.
        (ScalarValue::Integer(low), ScalarValue::Integer(high)) => {
            let (steps, bins) = ((high - low + 1) * place as i128, bins.max(1) as i128);
            ScalarValue::Integer((low + (steps + bins - 1) / bins).min(high))
        }
        // Halves, as the whole may be more than there is.
        _ => {
            let (low, high, share) = (low.to_f64(), high.to_f64(), place as f64 / bins.max(1) as f64);
            ScalarValue::Float(low + 2.0 * ((high / 2.0 - low / 2.0) * share))
        }
    };
    let edges: Vec<ScalarValue> = (0..=bins).map(edge).collect();
    let mut found = Component {
        count: values.len() as u64,
        nans: values.iter().filter(|value| value.is_nan()).count() as u64,
        infinities: values.iter().filter(|value| !value.is_finite() && !value.is_nan()).count() as u64,
        extremes,
        range: (low, high),
        bins: vec![0; bins],
        outside: (0, 0),
        percentiles: percentiles(used().collect(), &request.percentiles),
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
fn percentiles(mut finite: Vec<ScalarValue>, percents: &[f64]) -> Vec<ScalarValue> {
    let Some(last) = finite.len().checked_sub(1) else { return Vec::new() };
    let mut at = |percent: &f64| {
        let place = (percent / 100.0 * last as f64).round() as usize;
        let order = |one: &ScalarValue, other: &ScalarValue| one.partial_cmp(other).unwrap_or(Ordering::Equal);
        *finite.select_nth_unstable_by(place.min(last), order).1
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
