//! Views of what was recorded.

use zippy::debug::protocol::{ElementType, MOST_VIEW_BYTES, View, ViewRequest};

/// No recorded index or stride is larger.
const MOST: i64 = 1 << 60;

/// Which cells of an axis are told: the first and the stride in cells of the array, how many, and the place of the first among
/// the recorded ones and the stride there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Along {
    start: i64,
    end: i64,
    stride: i64,
    count: i64,
    place: i64,
    step: i64,
}

/// What there is of what was asked for along an axis: all of it, or else those recorded cells that lie there, at the next larger
/// stride that there is; where none lies there the one before.
fn along(asked: (i64, i64, i64), recorded: (i64, i64), count: i64) -> Option<Along> {
    let ((start, end, stride), (first, step)) = (asked, recorded);
    let stride = stride.min(MOST);
    let last = first.checked_add((count - 1).checked_mul(step)?)?;
    if count < 1 {
        return None;
    }
    let wanted = (end - start - 1) / stride + 1;
    let reaches = start + (wanted - 1) * stride;
    let fits = start >= first && (start - first) % step == 0 && reaches <= last;
    if fits && (stride % step == 0 || wanted == 1) {
        return Some(Along {
            start,
            end,
            stride,
            count: wanted,
            place: (start - first) / step,
            step: (stride / step).max(1),
        });
    }
    let stride = (stride - 1) / step + 1;
    let place = (start - first).max(0);
    let place = place / step + i64::from(place % step > 0);
    let place = match first.checked_add(place.checked_mul(step)?)? < end && place < count {
        true => place,
        // The box lies between two recorded cells, or behind the last one.
        false => ((start - first).max(0) / step).min(count - 1),
    };
    let begin = first + place * step;
    let within = if begin < end { (end - 1).min(last).max(begin) } else { begin };
    let count = (within - begin) / (step * stride) + 1;
    let stride_cells = step * stride;
    // An end that says the same of a view asked for and a view told.
    let finish = begin + (count - 1) * stride_cells + 1;
    Some(Along { start: begin, end: finish, stride: stride_cells, count, place, step: stride })
}

/// The view asked for, cut from a recorded one of the same array; its `of` says what it is. Indices go from a first to a last
/// one along each axis: those of the array, or of a chunk with its ghost cells.
///
/// # Errors
/// The recording does not have it.
pub fn cut(
    recorded: &View,
    element: &ElementType,
    (first, last): (&[i64], &[i64]),
    asked: &ViewRequest,
) -> Result<View, String> {
    let axes = first.len();
    let extents = asked.extents().filter(|extents| extents.len() == axes);
    let extents =
        extents.ok_or_else(|| format!("a view of an array of {axes} axes needs a box and a stride along each"))?;
    if !extents.contains(&0) && (0..axes).any(|axis| asked.start[axis] < first[axis] || asked.end[axis] > last[axis]) {
        let of = |start: &[i64], end: &[i64]| {
            let along: Vec<String> = (0..axes).map(|axis| format!("{}..{}", start[axis], end[axis])).collect();
            along.join(" x ")
        };
        let (asked, there) = (of(&asked.start, &asked.end), of(first, last));
        return Err(format!("the box {asked} lies outside of {there}"));
    }
    let damaged = || "the recorded view makes no sense".to_string();
    let there = recorded.of.extents().filter(|extents| extents.len() == axes).ok_or_else(damaged)?;
    let (starts, ends, strides) = (&recorded.of.start, &recorded.of.end, &recorded.of.stride);
    if starts.iter().chain(ends).chain(strides).any(|number| !(-MOST..=MOST).contains(number)) {
        return Err(damaged());
    }
    if extents.contains(&0) {
        return Ok(View { of: asked.clone(), step: recorded.step, cells: Vec::new() });
    }
    let axis_of = |axis: usize| {
        let request = (asked.start[axis], asked.end[axis], asked.stride[axis]);
        along(request, (recorded.of.start[axis], recorded.of.stride[axis]), there[axis])
    };
    let found: Option<Vec<Along>> = (0..axes).map(axis_of).collect();
    let found = found.ok_or("the recording has no cell of it")?;

    let (whole, begins, bytes) = match (recorded.of.numbers, asked.numbers) {
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
        array: asked.array,
        chunk: asked.chunk,
        start: found.iter().map(|along| along.start).collect(),
        end: found.iter().map(|along| along.end).collect(),
        stride: found.iter().map(|along| along.stride).collect(),
        numbers: asked.numbers,
    };
    let mut cells = Vec::with_capacity(size);
    let mut at = vec![0_i64; axes];
    while cells.len() < size {
        let (mut place, mut row) = (0, 1);
        for axis in 0..axes {
            place += (found[axis].place + at[axis] * found[axis].step) * row;
            row *= there[axis];
        }
        let begin = place as usize * whole + begins;
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

/// Whether a recorded view has every cell of an array, whole.
pub fn is_whole(recorded: &View, shape: &[i64]) -> bool {
    let of = &recorded.of;
    of.numbers.is_none()
        && of.chunk.is_none()
        && of.stride.iter().all(|&stride| stride == 1)
        && of.start.iter().all(|&start| start == 0)
        && of.end == shape
}
