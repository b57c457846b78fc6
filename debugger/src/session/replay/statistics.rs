//! Summaries and comparisons of whole recorded arrays.

use std::cmp::Ordering;

use zippy_protocol::{ArrayEntry, Component, ElementType, ScalarValue, Summary, SummaryRequest, View};

/// Computes the statistics of a view of a whole array.
///
/// # Errors
/// The request is invalid.
pub(super) fn summary(view: &View, element: &ElementType, request: &SummaryRequest) -> Result<Summary, String> {
    let numbers = request.of_type(element)?;
    let damaged = || "the recorded view is invalid".to_string();
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
        // Rounded once to `f32`, as in running programs.
        let length = |index: usize| all.iter().map(|values| values[index].to_f64().powi(2)).sum::<f64>().sqrt() as f32;
        let nan = |index: usize| all.iter().any(|values| values[index].is_nan());
        let length_or_nan = |index| ScalarValue::Float(if nan(index) { f64::NAN } else { f64::from(length(index)) });
        all = vec![(0..all[0].len()).map(length_or_nan).collect()];
    }
    let components = all.iter().map(|values| component_summary(values, request)).collect();
    let SummaryRequest { array, numbers, length, .. } = *request;
    Ok(Summary { array, numbers, length, step: view.step, components })
}

fn component_summary(values: &[ScalarValue], request: &SummaryRequest) -> Component {
    let bins = usize::from(request.bins);
    let zero = ScalarValue::Integer(0);
    let used = || values.iter().copied().filter(|value| value.is_finite() && (!request.positive || *value > zero));
    let extremes =
        used().map(|value| (value, value)).reduce(|(low, high), (value, _)| (low.min(value), high.max(value)));
    let asked = request.range.map(|(low, high)| (low.into(), high.into()));
    let (low, high) = asked.or(extremes).unwrap_or((0.0.into(), 0.0.into()));
    let edge = |index: usize| match (low, high) {
        _ if index == bins => high,
        // Integer bins as equal as possible, as in running programs.
        (ScalarValue::Integer(low), ScalarValue::Integer(high)) => {
            let (steps, bins) = ((high - low + 1) * index as i128, bins.max(1) as i128);
            ScalarValue::Integer((low + (steps + bins - 1) / bins).min(high))
        }
        // Halves, because the difference of the ends may overflow.
        _ => {
            let (low, high, share) = (low.to_f64(), high.to_f64(), index as f64 / bins.max(1) as f64);
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
            // A bin contains its lower edge; the last bin also contains its upper edge.
            let above = edges.partition_point(|&edge| edge <= value);
            found.bins[above.saturating_sub(1).min(bins - 1)] += 1;
        }
    }
    found
}

/// Returns the nearest numbers to the percentiles.
fn percentiles(mut finite: Vec<ScalarValue>, percents: &[f64]) -> Vec<ScalarValue> {
    let Some(last) = finite.len().checked_sub(1) else { return Vec::new() };
    let mut at = |percent: &f64| {
        let index = (percent / 100.0 * last as f64).round() as usize;
        let order = |a: &ScalarValue, b: &ScalarValue| a.partial_cmp(b).unwrap_or(Ordering::Equal);
        *finite.select_nth_unstable_by(index.min(last), order).1
    };
    percents.iter().map(&mut at).collect()
}

/// Returns the reason if two arrays cannot be compared.
pub(super) fn incomparable(one: &ArrayEntry, other: &ArrayEntry) -> Option<String> {
    let description =
        |entry: &ArrayEntry| format!("`{}` is {} of shape {:?}", entry.name, entry.element.name, entry.shape);
    let alike = one.element == other.element && one.shape == other.shape;
    (!alike).then(|| {
        format!("{}, and {}: only arrays of one type and shape are compared", description(one), description(other))
    })
}
