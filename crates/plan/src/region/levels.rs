use std::collections::HashMap;
use std::ops::ControlFlow;

use super::{Region, RegionTree};

/// Level of each access `(memory, region, writes)` of an ordered list, greater than the levels of
/// all earlier conflicting accesses.
///
/// Accesses conflict if they have the same memory and common cells, and at least one of them
/// writes. Cost: n log n, and the number of overlaps between *different* boxes.
#[doc(hidden)]
pub fn levels<W: std::hash::Hash + Eq + Copy>(accesses: &[(W, Region, bool)]) -> Vec<usize> {
    let mut groups: HashMap<W, Vec<usize>> = HashMap::new();
    for (index, (memory, _, _)) in accesses.iter().enumerate() {
        groups.entry(*memory).or_default().push(index);
    }
    let mut out = vec![0; accesses.len()];
    for members in groups.into_values() {
        // Equal boxes share an entry, so that many operations on the same cell are cheap.
        let mut number: HashMap<Region, usize> = HashMap::new();
        let mut boxes = Vec::new();
        for &index in &members {
            number.entry(accesses[index].1).or_insert_with(|| {
                boxes.push(accesses[index].1);
                boxes.len() - 1
            });
        }
        let tree = RegionTree::new(&boxes);
        // Per box, the first level after all its reads, and after all its writes.
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
            let next_levels = if writing { &mut writes } else { &mut reads };
            let next_level = &mut next_levels[number[&region]];
            *next_level = (*next_level).max(level + 1);
            out[index] = level;
        }
    }
    out
}
