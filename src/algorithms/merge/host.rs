//! Sorted runs into one, by the host, some cells at a time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::algorithms::sort::KeyOrder;
use crate::array::Cells;
use crate::error::Result;

/// Bytes of a run that are at hand, at most.
const BYTES: usize = 128 << 10;

/// A sorted run while it is read.
struct RunReader<'a> {
    keys: &'a Cells,
    values: Option<&'a Cells>,
    /// What is at hand, from which place on.
    at_hand: (Vec<u32>, Vec<u8>),
    from: u64,
    next: u64,
}

impl RunReader<'_> {
    /// Moves on, and tells the key that comes next, as one number.
    fn key(&mut self, order: KeyOrder) -> Result<Option<u64>> {
        if self.next == self.keys.len() {
            return Ok(None);
        }
        let have = (self.at_hand.0.len() / order.words) as u64;
        if self.next == self.from + have {
            let end = self.keys.len().min(self.next + (BYTES / self.keys.element().bytes) as u64);
            let some = (end - self.next) as usize;
            self.at_hand.0.resize(some * order.words, 0);
            self.keys.read(self.next..end, bytemuck::cast_slice_mut(&mut self.at_hand.0))?;
            if let Some(values) = self.values {
                self.at_hand.1.resize(some * values.element().bytes, 0);
                values.read(self.next..end, &mut self.at_hand.1)?;
            }
            self.from = self.next;
        }
        let at = (self.next - self.from) as usize;
        Ok(Some(order.number(&self.at_hand.0[at * order.words..][..order.words])))
    }
}

/// Merges sorted runs, equal keys in the order of the runs, into cells that are none of theirs.
pub fn merge(order: KeyOrder, runs: &[(Cells, Option<Cells>)], keys: &Cells, values: Option<&Cells>) -> Result<()> {
    let mut runs: Vec<RunReader> = (runs.iter())
        .map(|(keys, values)| RunReader {
            keys,
            values: values.as_ref(),
            at_hand: Default::default(),
            from: 0,
            next: 0,
        })
        .collect();
    let mut heap = BinaryHeap::new();
    for (number, run) in runs.iter_mut().enumerate() {
        heap.extend(run.key(order)?.map(|key| Reverse((key, number))));
    }
    let size = values.map_or(0, |values| values.element().bytes);
    let (mut merged, mut beside) = (Vec::<u32>::new(), Vec::<u8>::new());
    for slice in keys.slices(BYTES, 1) {
        merged.clear();
        beside.clear();
        for _ in slice.clone() {
            let Some(Reverse((_, number))) = heap.pop() else { break };
            let run = &mut runs[number];
            let at = (run.next - run.from) as usize;
            merged.extend(&run.at_hand.0[at * order.words..][..order.words]);
            beside.extend(&run.at_hand.1[at * size..][..size]);
            run.next += 1;
            heap.extend(run.key(order)?.map(|key| Reverse((key, number))));
        }
        keys.write(slice.clone(), bytemuck::cast_slice(&merged))?;
        if let Some(values) = values {
            values.write(slice, &beside)?;
        }
    }
    Ok(())
}
