//! Copies of which only the source's owner knows how long they are.

use super::{Call, Moved, Named, World, hash};
use crate::array::{ArrayCore, GlobalSection};
use crate::chunks::ChunkId;
use crate::device::{BoxOf, Piece, Strided};
use crate::element::Element;
use crate::error::{ArrayError, Result};
use crate::extents::Index;
use crate::region::Region;
use crate::trace::Span;

/// Either end of a copy.
struct End<'a> {
    core: &'a ArrayCore,
    region: Region,
    chunk: ChunkId,
    rank: usize,
}

impl<'a> End<'a> {
    fn new<T>(section: &'a GlobalSection<T, 1>) -> Result<Self> {
        let (core, region) = (&*section.core, section.region.clone()?);
        match core.placement().holders(&region)[..] {
            [holder] if holder.part == region => {
                Ok(Self { core, region, chunk: holder.chunk, rank: holder.owner.rank })
            }
            _ => {
                let text = format!("{} must have cells, and all in one chunk", core.label(&region));
                Err(ArrayError::Other(text).into())
            }
        }
    }

    fn named(&self) -> Named {
        Named::of(self.core)
    }

    /// Its first cells.
    fn view(&self, length: u64) -> Strided {
        let end = Index::new(&[self.region.start[0] + length as i64]);
        self.core.strided(self.chunk, &Region { start: self.region.start, end })
    }

    fn box_of(&self, length: u64) -> BoxOf<'a> {
        let buffer = self.core.buffer(self.chunk).expect("a chunk of this rank with cells");
        BoxOf { buffer, view: self.view(length) }
    }

    fn piece(&self, length: u64, payload_offset: u64) -> Piece<'a> {
        let BoxOf { buffer, view } = self.box_of(length);
        Piece { buffer, view, payload_offset }
    }
}

impl World {
    /// Copies the first cells of sections onto others, how many only the owner of each source knows: `lengths` has a number
    /// for each pair, of which a rank looks at those of its own sources. For data that is as long as it turns out to be,
    /// in slots that are as long as it can be: nobody has to be told the lengths beforehand, and only the data travels.
    /// Collective: all ranks name the same pairs; on return this rank's part is done.
    ///
    /// Every section lies in one chunk. No source may be another pair's destination. Costs one message for each pair whose
    /// ends are on two ranks.
    ///
    /// # Errors
    /// A bad region, a section without cells or in several chunks, cells of 1 or 2 bytes, a length that either end cannot hold, or a failure of
    /// this or of another rank.
    ///
    /// ```
    /// # use zippy::{Layout, Split, World};
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let layout = Layout::new([8]).split([Split::Even(2)]);
    /// let (found, all) = (world.array::<u32, 1>("found", &layout)?, world.array::<u32, 1>("all", &layout)?);
    /// found.fill_with(|[x]| x as u32)?;
    /// // Each half goes to the other one; the lower has found three numbers, the upper one.
    /// let pairs = [(found.at(0..4), all.at(4..8)), (found.at(4..8), all.at(0..4))];
    /// world.copy_prefixes(&pairs, &[3, 1])?;
    /// let ticket = world.get(all.at(..))?;
    /// assert_eq!(world.fence()?.redeem(ticket)?, [4, 0, 0, 0, 0, 1, 2, 0]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(2), program).unwrap();
    /// ```
    pub fn copy_prefixes<T: Element>(
        &self,
        pairs: &[(GlobalSection<T, 1>, GlobalSection<T, 1>)],
        lengths: &[u64],
    ) -> Result<Moved> {
        self.alive()?;
        if lengths.len() != pairs.len() {
            let text = format!("copy_prefixes was given {} pairs and {} lengths", pairs.len(), lengths.len());
            return Err(ArrayError::Other(text).into());
        }
        if !T::INFO.bytes.is_multiple_of(4) {
            let text = format!("copy_prefixes moves cells of whole words, not of {}", T::INFO.name);
            return Err(ArrayError::Other(text).into());
        }
        let ends = pairs.iter().map(|(from, to)| Ok((End::new(from)?, End::new(to)?)));
        let ends = ends.collect::<Result<Vec<_>>>()?;
        let call = Call::new("copy_prefixes");
        let call = match ends.first() {
            Some((from, to)) => call.of(from.named(), Some(from.region)).of(to.named(), Some(to.region)),
            None => call,
        };
        let all: Vec<_> = ends.iter().map(|(from, to)| [from, to].map(|end| (end.named(), end.region))).collect();
        let content = hash(&all);
        let comma = if ends.is_empty() { "" } else { ", " };
        let call = call.and(format!("{comma}{} pairs #{:04x}", ends.len(), content as u16));
        self.collective(call, content, || self.move_prefixes(T::INFO.bytes, &ends, lengths))
    }

    fn move_prefixes(&self, element_bytes: usize, ends: &[(End, End)], lengths: &[u64]) -> Result<Moved> {
        let (tag, mut moved) = (self.inner().next_sequence(), Moved::default());
        let size = |length: u64| length * element_bytes as u64;
        let mine = || ends.iter().zip(lengths).filter(|((from, _), _)| from.rank == self.rank());
        for ((from, to), &length) in mine() {
            let room = from.region.cells().min(to.region.cells());
            if length > room {
                let text = format!("{length} cells do not fit {}", to.core.label(&to.region));
                return Err(ArrayError::Other(text).into());
            }
        }
        let (mut pieces, mut bytes) = (Vec::new(), 0);
        for ((from, _), &length) in mine().filter(|((_, to), _)| to.rank != self.rank()) {
            pieces.push(from.piece(length, bytes));
            bytes += size(length);
        }
        let staged = self.tracer().span(Span::Pack, || self.device().gather(element_bytes, &pieces, bytes))?;
        let mut at = 0;
        for ((_, to), &length) in mine().filter(|((_, to), _)| to.rank != self.rank()) {
            let range = at as usize..(at + size(length)) as usize;
            at = range.end as u64;
            let part = staged.part(range).expect("a range of this payload");
            self.inner().send(to.rank, tag, Box::new(part))?;
            moved.bytes_network += size(length);
            moved.messages += 1;
        }
        let local = mine().filter(|((_, to), _)| to.rank == self.rank());
        let local: Vec<_> = local.map(|((from, to), &length)| (from.box_of(length), to.box_of(length))).collect();
        moved.bytes_local += local.iter().map(|(from, _)| size(from.view.cells())).sum::<u64>();
        self.tracer().span(Span::Local, || self.device().copy_boxes(element_bytes, &local))?;
        let arriving = ends.iter().filter(|(from, to)| to.rank == self.rank() && from.rank != self.rank());
        for (from, to) in arriving {
            let payload = self.tracer().span(Span::Wait, || self.inner().receive(from.rank, tag))?;
            let payload = (*payload).as_ref();
            let (room, found) = (size(from.region.cells().min(to.region.cells())), payload.len() as u64);
            if found > room || !found.is_multiple_of(element_bytes as u64) {
                return Err(self.wrong_message(from.rank, room, found).into());
            }
            let piece = to.piece(found / element_bytes as u64, 0);
            self.tracer().span(Span::Unpack, || self.device().scatter(element_bytes, payload, &[piece]))?;
            moved.rounds = 1;
        }
        moved.rounds = moved.rounds.max(moved.messages.min(1));
        Ok(moved)
    }
}
