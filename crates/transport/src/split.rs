//! [`Group::split`]: creation of sub-groups.

use super::calls::CollectiveCall;
use super::contexts::WORDS;
use super::payload::{copied, values};
use super::{Group, Tag};
use zippy_base::error::{CallSite, Result, TransportError};

impl Group {
    /// Returns the sub-group of all ranks with the same `color`, ordered by `key` and, for equal
    /// keys, by rank in this group.
    ///
    /// Collective; log₂ P messages per rank. At most 255 sub-groups may exist on a rank at the same
    /// time.
    ///
    /// # Errors
    /// [`TransportError::TooManyGroups`] on all ranks, and the errors of every collective (see
    /// [`barrier`](Self::barrier)).
    #[track_caller]
    pub fn split(&self, color: u64, key: i64) -> Result<Self> {
        let _call = CallSite::enter();
        self.check_collective(CollectiveCall::new("split"))?;
        self.sub_group_history().record_split();
        let used = self.rank_state().contexts.used();
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
        // All ranks of all colours compute the same context.
        let limit = 1_usize << Tag::CONTEXT_BITS;
        let free = (0..limit).find(|&id| all_used[id / 64] >> (id % 64) & 1 == 0);
        match free {
            Some(id) => Ok(self.of_members(&ranks, id as u8, start)),
            None => Err(TransportError::TooManyGroups { limit }.into()),
        }
    }
}
