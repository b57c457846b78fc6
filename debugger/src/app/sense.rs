//! Whether what a program says makes sense. What does not is not shown, so that nothing behind this has to ask again.

use zippy::debug::protocol::{Answer, ArrayEntry, Request, ScalarValue, Summary, SummaryRequest, ViewRequest};

/// Coordinates that are larger are nobody's: so sums and products of a few stay numbers.
const LARGEST: i64 = 1 << 48;

/// Whether coordinates are small enough to be computed with.
pub fn places(at: &[i64]) -> bool {
    at.iter().all(|at| (-LARGEST..=LARGEST).contains(at))
}

/// Whether an array can be looked at.
///
/// # Errors
/// It has no cells or no numbers, or its entry makes no sense.
pub fn array(array: &ArrayEntry) -> Result<(), String> {
    let axes = array.shape.len();
    let [before, behind] = &array.ghosts;
    if axes == 0 || array.shape.contains(&0) {
        return Err(format!("{} has no cells", array.name));
    }
    if array.element.numbers.is_empty() {
        return Err(format!("cells of {} have no numbers", array.element.name));
    }
    let widths =
        [before, behind].into_iter().all(|widths| widths.len() == axes && widths.iter().all(|width| *width >= 0));
    let shape = array.shape.iter().all(|&extent| extent > 0) && places(&array.shape);
    let chunk = |start: &[i64], end: &[i64]| {
        start.len() == axes
            && end.len() == axes
            && places(start)
            && places(end)
            && start.iter().zip(end).all(|(a, b)| a <= b)
    };
    let chunks = array.chunks.iter().all(|one| chunk(&one.start, &one.end));
    match widths && shape && chunks && places(before) && places(behind) {
        true => Ok(()),
        false => Err(format!("what the program says of {} makes no sense: shape {:?}", array.name, array.shape)),
    }
}

/// Whether this may be an answer to that.
pub fn answer(request: &Request, answer: &Answer) -> bool {
    match (request, answer) {
        (Request::View(asked), Answer::View(view)) => self::view(asked, &view.of),
        (Request::Summary(asked), Answer::Summary(told)) => summary(asked, told),
        (Request::Arrays, Answer::Arrays(_))
        | (Request::Ghosts(_), Answer::Ghosts(_))
        | (Request::Compare(..), Answer::Difference(_))
        | (Request::Moves, Answer::Moves(_))
        | (Request::Timeline(_), Answer::Timeline(_)) => true,
        _ => false,
    }
}

/// A recording may have other strides.
fn view(asked: &ViewRequest, told: &ViewRequest) -> bool {
    let same = asked.array == told.array && asked.chunk == told.chunk && asked.start.len() == told.start.len();
    same && told.extents().is_some() && [&told.start, &told.end, &told.stride].into_iter().all(|at| places(at))
}

fn summary(asked: &SummaryRequest, told: &Summary) -> bool {
    let rising = |(low, high): (ScalarValue, ScalarValue)| low.is_finite() && high.is_finite() && low <= high;
    let of = asked.array == told.array && asked.numbers == told.numbers && asked.length == told.length;
    of && told
        .components
        .iter()
        .all(|one| one.extremes.is_none_or(rising) && (one.bins.is_empty() || rising(one.range)))
        && told.components.iter().flat_map(|one| &one.percentiles).all(|value| value.is_finite())
}
