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

/// The plans of all ranks as one table: bytes and messages per pair of ranks, and per round.
pub fn explain_all(plans: &[RankPlan], element_bytes: &[usize]) -> String {
    let mut out = String::from("  from    to  round  boxes         bytes\n");
    let rounds = plans.iter().map(|plan| plan.rounds).max().unwrap_or(0);
    let mut per_round = vec![(0_u64, 0_u64); rounds];
    for plan in plans {
        for message in &plan.sends {
            let (bytes, boxes) = (message.bytes(element_bytes), message.moves.len());
            let _ =
                writeln!(out, "{:>6}  {:>4}  {:>5}  {boxes:>5}  {bytes:>12}", plan.rank, message.peer, message.round);
            per_round[message.round].0 += 1;
            per_round[message.round].1 += bytes;
        }
    }
    out.push_str(" round  messages         bytes\n");
    for (round, (messages, bytes)) in per_round.iter().enumerate().filter(|(_, (messages, _))| *messages > 0) {
        let _ = writeln!(out, "{round:>6}  {messages:>8}  {bytes:>12}");
    }
    let local: u64 = plans.iter().map(|plan| plan.moved(element_bytes).bytes_local).sum();
    let _ = writeln!(out, "inside ranks: {local} bytes");
    out
}

#[cfg(test)]
mod tests {
    use crate::layout::{Layout, Split};
    use crate::locate::Placement;
    use crate::plan::{CopySpec, GhostSpec, copy, ghosts};
    use crate::region::Region;

    #[test]
    fn explain_lists_messages_by_pair_and_round() {
        // Listing 2 of the paper: 8 x 6 x 6 in 3 x 2 x 2 chunks.
        let layout = Layout::new([8, 6, 6]).split([[3, 2, 3].into(), Split::Even(2), Split::Even(2)]).ghost([1, 1, 1]);
        let array = Placement::balanced(layout.resolve(4, 4, u64::MAX).unwrap(), 4);
        let spec = CopySpec {
            src: &array,
            src_region: Region::new(&[0, 0, 0], &[4, 2, 3]).unwrap(),
            dst: &array,
            dst_region: Region::new(&[2, 4, 2], &[6, 6, 5]).unwrap(),
            aliased: true,
            permutation: None,
        };
        let copies: Vec<_> = (0..4).map(|rank| copy(&spec, rank).unwrap()).collect();
        let halos: Vec<_> = (0..4).map(|rank| ghosts(&[(&array, &GhostSpec::faces())], rank).unwrap()).collect();
        insta::assert_snapshot!("copy", super::explain_all(&copies, &[4, 4]));
        insta::assert_snapshot!("ghosts_of_one_rank", halos[1].explain(&[4]));
        insta::assert_snapshot!("ghosts", super::explain_all(&halos, &[4]));
    }
}
