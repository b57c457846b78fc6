//! What layouts resolve to, whatever the cuts.

use super::{Layout, Split};
use crate::chunks::Neighbour;
use crate::extents::Index;
use proptest::prelude::*;

fn grid() -> impl Strategy<Value = Layout> {
    let axis = (0_i64..9, 0_usize..3, 1_usize..12, any::<bool>(), 0_i64..6, 0_i64..6).prop_flat_map(
        |(extent, kind, count, periodic, lo, hi)| {
            prop::collection::vec(0..=extent, count - 1).prop_map(move |mut cuts| {
                cuts.extend([0, extent]);
                cuts.sort_unstable();
                let sizes: Vec<_> = cuts.windows(2).map(|pair| pair[1] - pair[0]).collect();
                let split = [Split::Whole, Split::Even(count), sizes.into()][kind].clone();
                (extent, split, periodic, lo, hi)
            })
        },
    );
    prop::collection::vec(axis, 1..4).prop_map(|axes| {
        let pick = |f: fn(&(i64, Split, bool, i64, i64)) -> i64| axes.iter().map(f).collect::<Vec<_>>();
        Layout::from_shape(&pick(|axis| axis.0))
            .split_list(axes.iter().map(|axis| axis.1.clone()).collect())
            .periodic_list(&axes.iter().map(|axis| axis.2).collect::<Vec<_>>())
            .ghost_lists(&pick(|axis| axis.3), &pick(|axis| axis.4))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn chunks_partition_the_shape(layout in grid()) {
        let chunks = layout.resolve(3, 4, u64::MAX).unwrap();
        let mut holder = std::collections::HashMap::new();
        for chunk in 0..chunks.count() {
            for cell in chunks.region(chunk).points() {
                prop_assert_eq!(holder.insert(cell, chunk), None);
                prop_assert_eq!(chunks.chunk_at(&cell), Some(chunk));
            }
        }
        prop_assert_eq!(holder.len() as u64, chunks.whole().cells());
        // The same boxes as an explicit cover answer the same.
        let boxes: Vec<_> = (0..chunks.count()).map(|chunk| chunks.region(chunk)).collect();
        let cover = Layout::from_shape(&chunks.shape()).boxes(boxes).resolve(3, 4, u64::MAX).unwrap();
        let query = chunks.whole().grow(&Index::splat(chunks.axes(), 2), &Index::splat(chunks.axes(), -1));
        let (mut a, mut b) = (Vec::new(), Vec::new());
        chunks.touching(&query, |chunk, part| a.push((chunk, part)));
        cover.touching(&query, |chunk, part| b.push((chunk, part)));
        prop_assert_eq!(a, b);
    }

    #[test]
    fn neighbours_are_what_the_ghosts_show(layout in grid()) {
        let chunks = layout.resolve(3, 4, u64::MAX).unwrap();
        let mut seen = Vec::new();
        for chunk in 0..chunks.count() {
            let mut found = Vec::new();
            for near in chunks.neighbours(chunk) {
                seen.push((near.chunk, Neighbour { chunk, ..near }));
                for cell in near.part.points() {
                    prop_assert!(chunks.region(near.chunk).contains(&(cell - near.shift)));
                    found.push(cell);
                }
            }
            found.sort_unstable();
            let wrap = |cell: &Index| {
                let one = |axis: usize| match chunks.periodic()[axis] {
                    true => cell[axis].rem_euclid(chunks.shape()[axis]),
                    false => cell[axis],
                };
                chunks.whole().contains(&Index::from_fn(chunks.axes(), one))
            };
            let (region, storage) = (chunks.region(chunk), chunks.storage(chunk));
            let mut expected: Vec<_> = storage.points().filter(|cell| !region.contains(cell) && wrap(cell)).collect();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
        let mut mirrored = Vec::new();
        for chunk in 0..chunks.count() {
            mirrored.extend(chunks.seen_by(chunk).into_iter().map(|near| (chunk, near)));
        }
        seen.sort_unstable();
        mirrored.sort_unstable();
        prop_assert_eq!(seen, mirrored);
    }
}

#[test]
fn content_decides_equality() {
    let layout = |count| Layout::new([12, 6]).split([Split::Even(count), Split::Whole]);
    let (a, b) = (layout(3).resolve(1, 4, 1 << 20).unwrap(), layout(3).resolve(7, 8, 1 << 30).unwrap());
    assert_eq!(a, b);
    assert_eq!(a.fingerprint(), b.fingerprint());
    assert_ne!(a, layout(4).resolve(1, 4, 1 << 20).unwrap());
    assert_ne!(a, layout(3).ghost([1, 0]).resolve(1, 4, 1 << 20).unwrap());
    assert_ne!(a, layout(3).periodic([true, false]).resolve(1, 4, 1 << 20).unwrap());
}
