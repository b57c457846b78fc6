//! Making sub-groups.

use super::calls::Brief;
use super::contexts::WORDS;
use super::payload::{copied, values};
use super::{Group, Tag};
use crate::error::{CallSite, Result, TransportError};

impl Group {
    /// The ranks of this group that give the same `color`, ordered by `key` and, where keys are equal, by rank here.
    /// Collective; log₂ P messages per rank. The sub-group has its own tags. Up to 255 may be alive at a time on a rank.
    ///
    /// # Errors
    /// [`TransportError::TooManyGroups`], the same on all ranks; and as every collective.
    #[track_caller]
    pub fn split(&self, color: u64, key: i64) -> Result<Self> {
        let _call = CallSite::enter();
        self.check_brief(Brief::new("split"))?;
        self.left().note_split();
        let used = self.station().contexts.used();
        let mut words = vec![color, key as u64, self.unused_sequence()];
        words.extend(used);
        let (mut all_used, mut start) = ([0_u64; WORDS], 0);
        let mut members = Vec::new();
        for (rank, payload) in self.all_gather_raw(copied(&words))?.iter().enumerate() {
            let words: Vec<u64> = values(payload)?;
            let [their_color, their_key, unused, used @ ..] = words.as_slice() else {
                return Err(TransportError::Other("split received a malformed message".into()).into());
            };
            start = start.max(*unused);
            all_used.iter_mut().zip(used).for_each(|(all, used)| *all |= used);
            if *their_color == color {
                members.push((*their_key as i64, rank));
            }
        }
        members.sort_unstable();
        let ranks: Vec<usize> = members.into_iter().map(|(_, rank)| rank).collect();
        // The lowest context that is free on every rank, whatever their colours: all ranks find the same.
        let limit = 1_usize << Tag::CONTEXT_BITS;
        let free = (0..limit).find(|&id| all_used[id / 64] >> (id % 64) & 1 == 0);
        match free {
            Some(id) => Ok(self.of_members(&ranks, id as u8, start)),
            None => Err(TransportError::TooManyGroups { limit }.into()),
        }
    }
}
