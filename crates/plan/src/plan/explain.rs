use std::fmt::Write;

use super::RankPlan;

impl RankPlan {
    /// The plan as a table for users: totals of local moves and messages, then the round, peer,
    /// boxes and bytes of each message. `element_bytes[a]` is the size of a cell of the operation's
    /// array `a`.
    pub fn explain(&self, element_bytes: &[usize]) -> String {
        let moved = self.moved(element_bytes);
        let mut out = format!(
            "rank {}: {} moves inside ({} bytes), {} messages out ({} bytes), {} in, {} rounds",
            self.rank,
            self.local.len(),
            moved.bytes_local,
            moved.messages,
            moved.bytes_network,
            self.receives.len(),
            moved.rounds
        );
        // Writing to a string cannot fail.
        if let Some(order) = &self.permutation {
            let _ = write!(out, ", axes {order:?}");
        }
        if self.overlap {
            out.push_str(", source and destination overlap");
        }
        if !self.waves.is_empty() {
            let _ = write!(out, ", applied in {} waves", self.waves.len());
        }
        out.push('\n');
        if self.sends.is_empty() && self.receives.is_empty() {
            return out;
        }
        out.push_str("round  direction  boxes         cells         bytes\n");
        let sends = self.sends.iter().map(|message| (message, "to  "));
        let receives = self.receives.iter().map(|message| (message, "from"));
        let mut lines: Vec<_> = sends.chain(receives).collect();
        lines.sort_by_key(|(message, direction)| (message.round, *direction == "from", message.peer));
        for (message, direction) in lines {
            let cells: u64 = message.moves.iter().map(super::Move::cells).sum();
            let (round, peer, boxes) = (message.round, message.peer, message.moves.len());
            let bytes = message.bytes(element_bytes);
            let _ = writeln!(out, "{round:>5}  {direction} {peer:>4}  {boxes:>5}  {cells:>12}  {bytes:>12}");
        }
        out
    }
}
