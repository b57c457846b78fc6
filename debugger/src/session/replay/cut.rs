//! Views cut from recorded views.

use zippy_protocol::{ElementType, MOST_VIEW_BYTES, View, ViewRequest};

/// Largest magnitude of recorded indices and strides.
const MAX_INDEX: i64 = 1 << 60;

/// Selected cells along an axis: `start`, `end` and `stride` in cells of the array, their number,
/// and the position of the first one and the stride in the recorded view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AxisSelection {
    start: i64,
    end: i64,
    stride: i64,
    count: i64,
    position: i64,
    step: i64,
}

/// Selects recorded cells along an axis. If the recording does not contain every requested cell,
/// selects recorded cells in the requested interval with the next larger possible stride, or the
/// nearest earlier cell if the interval contains no recorded cell.
fn select_along(requested: (i64, i64, i64), recorded: (i64, i64), count: i64) -> Option<AxisSelection> {
    let ((start, end, stride), (first, step)) = (requested, recorded);
    let stride = stride.min(MAX_INDEX);
    let last = first.checked_add((count - 1).checked_mul(step)?)?;
    if count < 1 {
        return None;
    }
    let wanted = (end - start - 1) / stride + 1;
    let reaches = start + (wanted - 1) * stride;
    let fits = start >= first && (start - first) % step == 0 && reaches <= last;
    if fits && (stride % step == 0 || wanted == 1) {
        return Some(AxisSelection {
            start,
            end,
            stride,
            count: wanted,
            position: (start - first) / step,
            step: (stride / step).max(1),
        });
    }
    let stride = (stride - 1) / step + 1;
    let position = (start - first).max(0);
    let position = position / step + i64::from(position % step > 0);
    let position = if first.checked_add(position.checked_mul(step)?)? < end && position < count {
        position
    } else {
        // The box is between two recorded cells, or after the last one.
        ((start - first).max(0) / step).min(count - 1)
    };
    let begin = first + position * step;
    let within = if begin < end { (end - 1).min(last).max(begin) } else { begin };
    let count = (within - begin) / (step * stride) + 1;
    let stride_cells = step * stride;
    // The same end as that of a requested view with these cells.
    let finish = begin + (count - 1) * stride_cells + 1;
    Some(AxisSelection { start: begin, end: finish, stride: stride_cells, count, position, step: stride })
}

/// Bounds of valid indices along each axis: of an array, or of a chunk with its ghost cells.
#[derive(Clone, Copy)]
pub(super) struct IndexBounds<'a> {
    pub first: &'a [i64],
    /// Index after the last valid one.
    pub end: &'a [i64],
}

/// Cuts the requested view from a recorded view of the same array. The `of` of the result describes
/// its cells.
///
/// # Errors
/// The request is invalid, or the recording does not contain its cells.
pub(super) fn cut(
    recorded: &View,
    element: &ElementType,
    bounds: IndexBounds<'_>,
    requested: &ViewRequest,
) -> Result<View, String> {
    let IndexBounds { first, end } = bounds;
    let axes = first.len();
    let extents = requested.extents().filter(|extents| extents.len() == axes);
    let extents =
        extents.ok_or_else(|| format!("a view of an array of {axes} axes needs a box and a stride along each"))?;
    if !extents.contains(&0)
        && (0..axes).any(|axis| requested.start[axis] < first[axis] || requested.end[axis] > end[axis])
    {
        let of = |start: &[i64], end: &[i64]| {
            let along: Vec<String> = (0..axes).map(|axis| format!("{}..{}", start[axis], end[axis])).collect();
            along.join(" x ")
        };
        let (requested, there) = (of(&requested.start, &requested.end), of(first, end));
        return Err(format!("the box {requested} lies outside of {there}"));
    }
    let damaged = || "the recorded view is invalid".to_string();
    let there = recorded.of.extents().filter(|extents| extents.len() == axes).ok_or_else(damaged)?;
    let (starts, ends, strides) = (&recorded.of.start, &recorded.of.end, &recorded.of.stride);
    if starts.iter().chain(ends).chain(strides).any(|number| !(-MAX_INDEX..=MAX_INDEX).contains(number)) {
        return Err(damaged());
    }
    if extents.contains(&0) {
        return Ok(View { of: requested.clone(), step: recorded.step, cells: Vec::new() });
    }
    let axis_of = |axis: usize| {
        let request = (requested.start[axis], requested.end[axis], requested.stride[axis]);
        select_along(request, (recorded.of.start[axis], recorded.of.stride[axis]), there[axis])
    };
    let found: Option<Vec<AxisSelection>> = (0..axes).map(axis_of).collect();
    let found = found.ok_or("the recording has no cell of it")?;

    let (whole, begins, bytes) = match (recorded.of.numbers, requested.numbers) {
        (None, None) => (element.bytes as usize, 0, element.bytes as usize),
        (there, wanted) => {
            let wanted = wanted.ok_or("the recording has only some of the numbers of its cells")?;
            let missing = || format!("cells of {} have no numbers {wanted}", element.name);
            let numbers = element.numbers.get(usize::from(wanted)).ok_or_else(missing)?;
            match there {
                None => (element.bytes as usize, numbers.offset as usize, numbers.bytes()),
                Some(there) if there == wanted => (numbers.bytes(), 0, numbers.bytes()),
                Some(there) => return Err(format!("the recording has the numbers {there} of its cells only")),
            }
        }
    };
    if recorded.of.bytes(whole) != Some(recorded.cells.len()) || begins + bytes > whole {
        return Err(damaged());
    }
    let count = found.iter().try_fold(1_i64, |count, along| count.checked_mul(along.count));
    let size = count.and_then(|count| usize::try_from(count).ok()?.checked_mul(bytes));
    let size = size.filter(|&size| size <= MOST_VIEW_BYTES).ok_or_else(|| {
        format!("a view has at most {MOST_VIEW_BYTES} bytes: ask for a smaller box, or with a larger stride")
    })?;

    let of = ViewRequest {
        array: requested.array,
        chunk: requested.chunk,
        start: found.iter().map(|along| along.start).collect(),
        end: found.iter().map(|along| along.end).collect(),
        stride: found.iter().map(|along| along.stride).collect(),
        numbers: requested.numbers,
    };
    let mut cells = Vec::with_capacity(size);
    let mut at = vec![0_i64; axes];
    while cells.len() < size {
        let (mut position, mut row) = (0, 1);
        for axis in 0..axes {
            position += (found[axis].position + at[axis] * found[axis].step) * row;
            row *= there[axis];
        }
        let begin = position as usize * whole + begins;
        cells.extend_from_slice(&recorded.cells[begin..begin + bytes]);
        for axis in 0..axes {
            at[axis] += 1;
            if at[axis] < found[axis].count {
                break;
            }
            at[axis] = 0;
        }
    }
    Ok(View { of, step: recorded.step, cells })
}

/// Returns true if a recorded view contains every cell of an array, with all numbers.
pub(super) fn is_whole(recorded: &View, shape: &[i64]) -> bool {
    let of = &recorded.of;
    of.numbers.is_none()
        && of.chunk.is_none()
        && of.stride.iter().all(|&stride| stride == 1)
        && of.start.iter().all(|&start| start == 0)
        && of.end == shape
}
