//! [`Group::sparse_exchange`]: an exchange in which receivers do not know their senders.
//!
//! A rank acknowledges each message that arrives, and enters a non-blocking barrier after the
//! acknowledgements of its own messages. When the barrier ends, no message is in flight (Hoefler,
//! Siebert, Lumsdaine, *Scalable Communication Protocols for Dynamic Sparse Data Exchange*, PPoPP
//! 2010, with acknowledgements instead of synchronous sends).

use super::calls::CollectiveCall;
use super::payload::copied;
use super::{Group, Payload};
use zippy_base::error::{CallSite, Result};

impl Group {
    /// Sends each payload to its rank and returns the received (sender, payload) pairs, sorted by
    /// sender; messages of one sender keep their order. Any number of messages to any ranks is
    /// possible, including the sender.
    ///
    /// Collective; two messages per payload to another rank, and log₂ P messages per rank.
    ///
    /// # Errors
    /// [`TransportError::NoSuchRank`](zippy_base::error::TransportError::NoSuchRank) on all ranks
    /// for a destination outside of the group, and the errors of every collective (see
    /// [`barrier`](Self::barrier)).
    #[track_caller]
    pub fn sparse_exchange(&self, messages: Vec<(usize, Payload)>) -> Result<Vec<(usize, Payload)>> {
        let _call = CallSite::enter();
        self.check_collective(CollectiveCall::new("sparse_exchange"))?;
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
                if self.poll_running("sparse_exchange", to, answer)?.is_none() {
                    return Ok(None);
                }
                unanswered.pop();
            }
            while distance < size {
                if !announced {
                    self.send((rank + distance) % size, done, copied::<u8>(&[]))?;
                    announced = true;
                }
                if self.poll_running("sparse_exchange", (rank + size - distance) % size, done)?.is_none() {
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
