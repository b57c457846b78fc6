//! Validation of decoded messages and recordings, so that readers can rely on their consistency.
//!
//! Decoding only checks types and limits lengths. Invalid values still decode: cells without bytes,
//! a box that ends before it begins, or a view of a million cells in seven bytes.
use zippy_plan::extents::MAX_AXES;

use super::{
    Answer, ArrayEntry, Component, Difference, ElementType, GhostEntry, MOST_BINS, MOST_MOVES, MOST_PERCENTILES, Moves,
    Program, Recorded, Request, ScalarValue, Summary, Timeline, View, ViewRequest,
};

/// Maximum index, extent, width or stride: sums of two do not overflow, and products are checked.
const MAX_INDEX: i64 = 1 << 60;

impl Recorded {
    /// Validates an entry of a recording on its own.
    ///
    /// # Errors
    /// The reason why the entry is invalid.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Program(program) => program.check(),
            Self::Arrays(arrays) => arrays.iter().try_for_each(ArrayEntry::check),
            Self::View(view) => view.check(),
            Self::Ghosts(_, ghosts) => ghosts.iter().try_for_each(GhostEntry::check),
            Self::Moves(moves) => moves.check(),
            Self::Timeline(timeline) => timeline.check(),
            Self::Point(_) | Self::End(_) | Self::Unchanged(..) => Ok(()),
        }
    }
}

impl Answer {
    /// Validates the answer to a request.
    ///
    /// # Errors
    /// The answer is invalid, or answers another request.
    pub fn check(&self, request: &Request) -> Result<(), String> {
        match (self, request) {
            (Self::Arrays(arrays), Request::Arrays) => arrays.iter().try_for_each(ArrayEntry::check),
            (Self::View(view), Request::View(requested)) if view.of == *requested => view.check(),
            (Self::View(_), Request::View(_)) => Err("a view has other cells than its request".into()),
            (Self::Summary(summary), Request::Summary(requested)) => {
                let identity = (summary.array, summary.numbers, summary.length);
                let limits = (usize::from(requested.bins), requested.percentiles.len());
                let fits =
                    |component: &Component| component.bins.len() <= limits.0 && component.percentiles.len() <= limits.1;
                if identity == (requested.array, requested.numbers, requested.length)
                    && summary.components.iter().all(fits)
                {
                    summary.check()
                } else {
                    Err("a summary has other numbers than its request".into())
                }
            }
            (Self::Ghosts(ghosts), Request::Ghosts(_)) => ghosts.iter().try_for_each(GhostEntry::check),
            (Self::Difference(difference), Request::Compare(..)) => difference.check(),
            (Self::Moves(moves), Request::Moves) => moves.check(),
            (Self::Timeline(timeline), Request::Timeline(_)) => timeline.check(),
            (Self::Done, Request::Control(_) | Request::Rules(_) | Request::Alive) => Ok(()),
            _ => Err("the answer is one to something else".into()),
        }
    }
}

impl Program {
    /// Checks that the program has ranks.
    ///
    /// # Errors
    /// The program has no ranks.
    pub fn check(&self) -> Result<(), String> {
        if self.ranks > 0 { Ok(()) } else { Err("a program has no ranks".into()) }
    }
}

impl ElementType {
    fn check(&self) -> Result<(), String> {
        if self.bytes == 0 {
            return Err(format!("cells of {} have no bytes", quoted(&self.name)));
        }
        let beyond = self.numbers.iter().find(|numbers| {
            numbers.components == 0 || u64::from(numbers.offset) + numbers.bytes() as u64 > u64::from(self.bytes)
        });
        beyond.map_or(Ok(()), |numbers| {
            Err(format!("{} of {} does not lie in its cell", quoted(&numbers.name), quoted(&self.name)))
        })
    }
}

/// Name in quotes, escaped and truncated: a hostile name may contain control characters for a
/// terminal.
fn quoted(name: &str) -> String {
    format!("{:?}", name.chars().take(60).collect::<String>())
}

/// First entries of a list, at most the maximum number of axes.
fn first_axes<T>(list: &[T]) -> &[T] {
    &list[..list.len().min(MAX_AXES)]
}

fn is_index(index: &[i64]) -> bool {
    index.len() <= MAX_AXES && index.iter().all(|at| (-MAX_INDEX..=MAX_INDEX).contains(at))
}

fn is_extent(extents: &[i64]) -> bool {
    is_index(extents) && extents.iter().all(|&extent| extent >= 0)
}

impl ArrayEntry {
    fn check(&self) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("array {} is described wrongly: {what}", quoted(&self.name)));
        if let Err(text) = self.element.check() {
            return wrong(&text);
        }
        let axes = self.shape.len();
        if axes == 0 || !is_extent(&self.shape) || ViewRequest::whole(self).bytes(self.element.bytes as usize).is_none()
        {
            return wrong(&format!("it has the shape {:?}", first_axes(&self.shape)));
        }
        if self.ghosts.iter().any(|widths| widths.len() != axes || !is_extent(widths)) {
            return wrong("its ghost widths are none");
        }
        if self.periodic.len() != axes || self.grid.as_ref().is_some_and(|grid| grid.len() != axes) {
            return wrong("what is said of its axes is not of as many");
        }
        if !self.chunks.is_empty() && self.chunks.len() as u64 != self.chunk_count {
            return wrong(&format!("{} chunks of {} are listed", self.chunks.len(), self.chunk_count));
        }
        let is_box = |start: &[i64], end: &[i64]| {
            [start, end].iter().all(|at| at.len() == axes && is_extent(at))
                && (0..axes).all(|axis| start[axis] <= end[axis])
        };
        match self.chunks.iter().position(|chunk| !is_box(&chunk.start, &chunk.end)) {
            Some(chunk) => wrong(&format!("chunk {chunk} is no box of it")),
            None => Ok(()),
        }
    }
}

impl View {
    fn check(&self) -> Result<(), String> {
        let ViewRequest { start, end, stride, .. } = &self.of;
        let cells = self.of.bytes(1).filter(|_| [start, end, stride].iter().all(|list| is_index(list)));
        let Some(cells) = cells else { return Err("a view is of no box".into()) };
        match self.cells.len() {
            0 if cells == 0 => Ok(()),
            bytes if cells > 0 && bytes > 0 && bytes.is_multiple_of(cells) => Ok(()),
            bytes => Err(format!("a view of {cells} cells has {bytes} bytes")),
        }
    }
}

impl Summary {
    fn check(&self) -> Result<(), String> {
        let ends = |(low, high): (ScalarValue, ScalarValue)| low <= high && low.is_finite() && high.is_finite();
        let is_valid = |component: &Component| {
            let special =
                component.nans.checked_add(component.infinities).is_some_and(|special| special <= component.count);
            let binned: u128 = component
                .bins
                .iter()
                .chain([&component.outside.0, &component.outside.1, &component.nans])
                .map(|&n| u128::from(n))
                .sum();
            let counted = special && binned <= u128::from(component.count).max(u128::from(component.nans));
            counted
                && component.extremes.is_none_or(ends)
                && ends(component.range)
                && component.bins.len() <= usize::from(MOST_BINS)
                && component.percentiles.len() <= MOST_PERCENTILES
                && component.percentiles.iter().all(|value| value.is_finite())
        };
        let few = (1..=usize::from(u8::MAX)).contains(&self.components.len());
        if few && self.components.iter().all(is_valid) {
            Ok(())
        } else {
            Err("a summary has invalid counts or too many components".into())
        }
    }
}

impl GhostEntry {
    fn check(&self) -> Result<(), String> {
        let is_valid = self.side.len() <= MAX_AXES && self.side.iter().all(|side| (-1..=1).contains(side));
        if is_valid { Ok(()) } else { Err(format!("chunk {} has no side {:?}", self.chunk, first_axes(&self.side))) }
    }
}

impl Difference {
    fn check(&self) -> Result<(), String> {
        let is_valid = self.first.as_ref().map_or(self.cells == 0, |first| self.cells > 0 && is_extent(first));
        if is_valid { Ok(()) } else { Err(format!("{} cells differ, the first of them none of an array", self.cells)) }
    }
}

impl Moves {
    fn check(&self) -> Result<(), String> {
        let boxes = self
            .moves
            .iter()
            .all(|moved| is_index(&moved.from.3) && is_index(&moved.to.3) && is_extent(&moved.extents));
        let count = self.moves.len();
        if boxes && count <= MOST_MOVES && count as u64 <= self.count {
            Ok(())
        } else {
            Err(format!("the moves of {} make no sense", quoted(&self.operation)))
        }
    }
}

impl Timeline {
    fn check(&self) -> Result<(), String> {
        let ends = |span: &super::Span| span.start.checked_add(span.length).is_some();
        if self.ranks.iter().flatten().all(ends) { Ok(()) } else { Err("the end of a span is out of range".into()) }
    }
}
