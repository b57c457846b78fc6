//! Checks of the data that a program sends. Invalid data is refused here, so that other modules
//! need no checks of their own.

use zippy_protocol::{Answer, ArrayEntry, Request, ScalarValue, Summary, SummaryRequest, ViewRequest};

/// Largest absolute value of an index. Sums and products of a few such values do not overflow.
const MAX_INDEX: i64 = 1 << 48;

/// Returns true if all indices are so small that computations with them do not overflow.
pub(super) fn are_in_range(at: &[i64]) -> bool {
    at.iter().all(|at| (-MAX_INDEX..=MAX_INDEX).contains(at))
}

/// Checks that an array can be shown.
///
/// # Errors
/// The array has no cells or no numbers, or its entry is invalid.
pub(super) fn array(array: &ArrayEntry) -> Result<(), String> {
    let axes = array.shape.len();
    let [before, after] = &array.ghosts;
    if axes == 0 || array.shape.contains(&0) {
        return Err(format!("{} has no cells", array.name));
    }
    if array.element.numbers.is_empty() {
        return Err(format!("cells of {} have no numbers", array.element.name));
    }
    let widths =
        [before, after].into_iter().all(|widths| widths.len() == axes && widths.iter().all(|width| *width >= 0));
    let shape = array.shape.iter().all(|&extent| extent > 0) && are_in_range(&array.shape);
    let chunk = |start: &[i64], end: &[i64]| {
        start.len() == axes
            && end.len() == axes
            && are_in_range(start)
            && are_in_range(end)
            && start.iter().zip(end).all(|(a, b)| a <= b)
    };
    let chunks = array.chunks.iter().all(|entry| chunk(&entry.start, &entry.end));
    if widths && shape && chunks && are_in_range(before) && are_in_range(after) {
        Ok(())
    } else {
        Err(format!("the program sent an invalid description of {}: shape {:?}", array.name, array.shape))
    }
}

/// Returns true if `answer` is a valid answer to `request`.
pub(super) fn answer(request: &Request, answer: &Answer) -> bool {
    match (request, answer) {
        (Request::View(request), Answer::View(view)) => self::view(request, &view.of),
        (Request::Summary(request), Answer::Summary(answered)) => summary(request, answered),
        (Request::Arrays, Answer::Arrays(_))
        | (Request::Ghosts(_), Answer::Ghosts(_))
        | (Request::Compare(..), Answer::Difference(_))
        | (Request::Moves, Answer::Moves(_))
        | (Request::Timeline(_), Answer::Timeline(_)) => true,
        _ => false,
    }
}

/// Returns true if a view answers a request. A recording may answer with larger strides.
fn view(request: &ViewRequest, answered: &ViewRequest) -> bool {
    let same = request.array == answered.array
        && request.chunk == answered.chunk
        && request.start.len() == answered.start.len();
    same && answered.extents().is_some()
        && [&answered.start, &answered.end, &answered.stride].into_iter().all(|at| are_in_range(at))
}

fn summary(request: &SummaryRequest, answered: &Summary) -> bool {
    let is_ordered = |(low, high): (ScalarValue, ScalarValue)| low.is_finite() && high.is_finite() && low <= high;
    let is_same =
        request.array == answered.array && request.numbers == answered.numbers && request.length == answered.length;
    is_same
        && answered.components.iter().all(|component| {
            component.extremes.is_none_or(is_ordered) && (component.bins.is_empty() || is_ordered(component.range))
        })
        && answered.components.iter().flat_map(|component| &component.percentiles).all(|value| value.is_finite())
}
