//! An exchange in which receivers do not know their senders.
//!
//! Every rank sends its messages, answers each message that arrives, and enters a non-blocking barrier once all of its own
//! are answered; when the barrier ends, nothing is on its way any more. (After Hoefler, Siebert, Lumsdaine, *Scalable
//! Communication Protocols for Dynamic Sparse Data Exchange*, PPoPP 2010, with answers in place of synchronous sends.)

use super::calls::Brief;
use super::payload::copied;
use super::{Group, Payload};
use crate::error::{CallSite, Result};

impl Group {
    /// Delivers each payload to its rank and returns what others sent to this one, sorted by sender, a sender's messages
    /// in the order of its list. Any number of messages to any ranks, this one included. Collective, but costs two
    /// messages per message and log₂ P for the barrier: ranks that one has nothing to do with cost nothing.
    ///
    /// # Errors
    /// [`TransportError::NoSuchRank`](crate::error::TransportError::NoSuchRank) for a destination outside the group, told to
    /// all ranks; and as every collective.
    #[track_caller]
    pub fn sparse_exchange(&self, messages: Vec<(usize, Payload)>) -> Result<Vec<(usize, Payload)>> {
        let _call = CallSite::enter();
        self.check_brief(Brief::new("sparse_exchange"))?;
        let (data, answer, done) = (self.next_sequence(), self.next_sequence(), self.next_sequence());
        if let Some(error) = messages.iter().find_map(|&(to, _)| self.check_rank(to).err()) {
            return Err(self.fail_in("sparse_exchange", error));
        }
        let (rank, size) = (self.rank(), self.size());
        let mut received = Vec::new();
        let mut unanswered = Vec::new();
        for (to, payload) in messages {
            if to == rank {
                received.push((rank, payload));
            } else {
                self.send(to, data, payload)?;
                unanswered.push(to);
            }
        }
        let mut distance = 1;
        let mut announced = false;
        self.wait_in("sparse_exchange", None, || {
            while let Some((from, payload)) = self.try_receive(None, data)? {
                self.send(from, answer, copied::<u8>(&[]))?;
                received.push((from, payload));
            }
            while let Some(&to) = unanswered.last() {
                if self.next_of("sparse_exchange", to, answer)?.is_none() {
                    return Ok(None);
                }
                unanswered.pop();
            }
            while distance < size {
                if !announced {
                    self.send((rank + distance) % size, done, copied::<u8>(&[]))?;
                    announced = true;
                }
                if self.next_of("sparse_exchange", (rank + size - distance) % size, done)?.is_none() {
                    return Ok(None);
                }
                announced = false;
                distance *= 2;
            }
            Ok(Some(()))
        })?;
        received.sort_by_key(|&(from, _)| from);
        Ok(received)
    }
}
