//! What must come after what, where accesses to boxes conflict.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::{Region, RegionTree};

/// For an ordered list of accesses `(what, region, writes)`: the level of each, such that an access comes at
/// a later level than every earlier one that it conflicts with (same `what`, common cells, and at
/// least one of the two writes). Costs n log n and the overlaps between *different* boxes.
pub fn levels<W: std::hash::Hash + Eq + Copy>(accesses: &[(W, Region, bool)]) -> Vec<usize> {
    let mut groups: HashMap<W, Vec<usize>> = HashMap::new();
    for (index, (what, _, _)) in accesses.iter().enumerate() {
        groups.entry(*what).or_default().push(index);
    }
    let mut out = vec![0; accesses.len()];
    for members in groups.into_values() {
        // Equal boxes share one entry, so that many operations on one cell stay cheap.
        let mut number: HashMap<Region, usize> = HashMap::new();
        let mut boxes = Vec::new();
        for &index in &members {
            number.entry(accesses[index].1).or_insert_with(|| {
                boxes.push(accesses[index].1);
                boxes.len() - 1
            });
        }
        let tree = RegionTree::new(&boxes);
        // First level that is free after the reads, and after the writes, of each box.
        let (mut reads, mut writes) = (vec![0; boxes.len()], vec![0; boxes.len()]);
        for &index in &members {
            let (_, region, writing) = accesses[index];
            let mut level = 0;
            let _ = tree.visit(&region, &mut |other, _| {
                level = level.max(writes[other]);
                if writing {
                    level = level.max(reads[other]);
                }
                ControlFlow::Continue(())
            });
            let own = if writing { &mut writes } else { &mut reads };
            let own = &mut own[number[&region]];
            *own = (*own).max(level + 1);
            out[index] = level;
        }
    }
    out
}
