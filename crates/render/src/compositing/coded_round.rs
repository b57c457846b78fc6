//! Blends of a round as patches with one chunk at both ends, and the streams of these patches. Pure
//! functions, equal on all ranks.

use std::collections::BTreeMap;

use zippy::chunks::ChunkId;
use zippy::extents::Index;
use zippy::locate::{Holder, Placement};
use zippy::region::Region;

use super::plan::{Blend, BlendRule, Canvas, Round};
use super::stream::{capacity, line_count};
use crate::error::RenderError;

/// Source or destination of a patch: a box in one chunk of a canvas's array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PatchEnd {
    pub canvas: Canvas,
    pub chunk: ChunkId,
    pub region: Region,
    pub rank: usize,
}

/// Part of a blend with one source chunk and one destination chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Patch {
    pub from: PatchEnd,
    pub to: PatchEnd,
    pub way: BlendRule,
    /// First line of the patch in its stream.
    pub line: u64,
}

/// Stream from one rank to another: all patches of the round between the two ranks in sequence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Stream {
    /// Indices of the stream's patches.
    pub patches: Vec<usize>,
    pub lines: u64,
    /// Maximum length in words.
    pub capacity: u64,
    /// Offsets of the stream in the sender's outbox and the receiver's inbox, in words.
    pub outbox: u64,
    pub inbox: u64,
}

/// Round of blends, prepared for coding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CodedRound {
    /// Patches in the order in which they are blended.
    pub patches: Vec<Patch>,
    /// Streams by sender and receiver.
    pub streams: BTreeMap<(usize, usize), Stream>,
}

impl Patch {
    /// True if the stream stays on its rank.
    pub(super) fn is_local(&self) -> bool {
        self.from.rank == self.to.rank
    }
}

impl CodedRound {
    /// Prepares a round. `on` returns a canvas's placement and the position of an image region in
    /// its array.
    pub(super) fn new<'a, P>(round: &Round, on: &dyn Fn(Canvas, &Region) -> (&'a Placement, Region)) -> Self {
        let mut out = Self::default();
        // `BlendRule` orders its variants as blends must run: alone, in front, behind.
        let mut blends: Vec<&Blend> = round.blends.iter().collect();
        blends.sort_by_key(|blend| blend.way);
        for blend in blends {
            let (from, read) = on(blend.from, &blend.region);
            let (to, written) = on(blend.to, &blend.region);
            for source in from.holders(&read) {
                let offset = written.start - read.start;
                for target in to.holders(&source.part.translate(&offset)) {
                    let read = target.part.translate(&(Index::zeros(2) - offset));
                    out.add::<P>(blend, &source, read, &target);
                }
            }
        }
        out.assign_offsets();
        out
    }

    fn add<P>(&mut self, blend: &Blend, source: &Holder, read: Region, target: &Holder) {
        let end =
            |canvas, holder: &Holder, region| PatchEnd { canvas, chunk: holder.chunk, region, rank: holder.owner.rank };
        let (from, to) = (end(blend.from, source, read), end(blend.to, target, target.part));
        let first = || Stream { capacity: 1, ..Stream::default() };
        let stream = self.streams.entry((from.rank, to.rank)).or_insert_with(first);
        stream.patches.push(self.patches.len());
        self.patches.push(Patch { from, to, way: blend.way, line: stream.lines });
        stream.lines += line_count(&read);
        stream.capacity += capacity::<P>(&read);
    }

    fn assign_offsets(&mut self) {
        let (mut sent, mut received) = (BTreeMap::new(), BTreeMap::new());
        for ((from, to), stream) in &mut self.streams {
            let sent = sent.entry(*from).or_insert(0);
            stream.outbox = *sent;
            *sent += stream.capacity;
            if from != to {
                let received = received.entry(*to).or_insert(0);
                stream.inbox = *received;
                *received += stream.capacity;
            }
        }
    }

    /// Number of words of each rank's outbox and inbox.
    pub(super) fn sizes(&self, ranks: usize) -> [Vec<u64>; 2] {
        let mut sizes = [vec![0; ranks], vec![0; ranks]];
        for ((from, to), stream) in &self.streams {
            sizes[0][*from] += stream.capacity;
            if from != to {
                sizes[1][*to] += stream.capacity;
            }
        }
        sizes
    }

    /// Checks that the streams of each rank fit into a buffer of `limit` bytes, even without empty
    /// pixels.
    pub(super) fn check(&self, ranks: usize, limit: u64) -> Result<(), RenderError> {
        let [sent, received] = self.sizes(ranks);
        let largest = |words: Vec<u64>, verb| {
            words.into_iter().enumerate().map(move |(rank, words)| (words * size_of::<u32>() as u64, verb, rank))
        };
        match largest(sent, "sends").chain(largest(received, "receives")).max() {
            Some((bytes, verb, rank)) if bytes > limit => Err(RenderError::Setting(format!(
                "the run-length coded pixels that rank {rank} {verb} in a round may take {bytes} bytes, but a buffer \
                 holds {limit}; use Encoding::Dense (Encoding::Auto chooses it), more ranks or a smaller picture"
            ))),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use zippy::layout::{Layout, Split};
    use zippy::ownership::Ownership;

    fn placement(shape: [i64; 2], rows: Split, owners: Vec<usize>) -> Placement {
        let chunks = Layout::new(shape).split([Split::Whole, rows]).resolve(3, 4, 1 << 20).unwrap();
        Placement::new(Arc::new(chunks), Arc::new(Ownership::table(owners, 3).unwrap())).unwrap()
    }

    /// Layers of 300 x 5 pixels on rank 1 and of 300 x 3 on rank 0, and an image whose rows belong
    /// to ranks 0 and 2.
    fn coded<P>() -> CodedRound {
        let layers = placement([300, 8], Split::Sizes(vec![5, 3]), vec![1, 0]);
        let picture = placement([300, 5], Split::Sizes(vec![2, 3]), vec![0, 2]);
        let region = |y0, y1| Region::new(&[0, y0], &[300, y1]).unwrap();
        let blend =
            |layer, region| Blend { from: Canvas::Layer(layer), to: Canvas::Picture, region, way: BlendRule::Behind };
        let round = Round { clears: Vec::new(), blends: vec![blend(0, region(0, 5)), blend(1, region(1, 4))] };
        CodedRound::new::<P>(&round, &|canvas, region| match canvas {
            Canvas::Layer(0) => (&layers, *region),
            Canvas::Layer(_) => (&layers, region.translate(&Index::new(&[0, 4]))),
            _ => (&picture, *region),
        })
    }

    #[test]
    fn streams_too_long_for_a_buffer_are_refused() {
        // Per row: two lines, each with one word in the table and one for its only run. One word
        // ends the table.
        let stream = |rows: u64, pixel: u64| 4 * (rows * (300 * pixel + 4) + 1);
        for (pixel, coded) in [(1, coded::<u32>()), (4, coded::<[f32; 4]>())] {
            // Rank 0 sends a row to itself and two to rank 2, rank 1 sends two rows to rank 0 and
            // three to rank 2.
            let sizes = [
                [stream(1, pixel) + stream(2, pixel), stream(2, pixel) + stream(3, pixel), 0],
                [stream(2, pixel), 0, stream(2, pixel) + stream(3, pixel)],
            ];
            assert_eq!(coded.sizes(3).map(|words| words.iter().map(|words| 4 * words).collect::<Vec<_>>()), sizes);
            let limit = sizes[0][1];
            assert_eq!(coded.check(3, limit), Ok(()));
            let error = coded.check(3, limit - 4).unwrap_err().to_string();
            let wanted = format!("may take {limit} bytes, but a buffer holds {}; use Encoding::Dense", limit - 4);
            assert!(error.contains("that rank 1 sends in a round") && error.contains(&wanted), "{error}");
        }
        assert_eq!(CodedRound::default().check(3, 0), Ok(()));
    }
}
