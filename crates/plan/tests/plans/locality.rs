//! Chunks, neighbours, holders, and conversion of coordinates, for random layouts of 1 to 7 axes
//! and random owners. No number of a user makes a layout panic.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use proptest::prelude::*;
use zippy::chunks::{Chunks, Neighbour};
use zippy::extents::Index;
use zippy::layout::{Layout, Split};
use zippy::locate::{LocalCell, Placement};
use zippy::plan::{CopySpec, GhostSpec, copy, ghosts};
use zippy::region::Region;

use super::random;

fn chunks() -> impl Strategy<Value = Arc<Chunks>> {
    random::axes().prop_flat_map(random::shape).prop_flat_map(|shape| random::chunks(shape, None))
}

fn array() -> impl Strategy<Value = Placement> {
    random::ranks().prop_flat_map(random::array)
}

/// Cell of the array for a stored cell or ghost cell; `None` beyond an axis that is not periodic.
fn image_cell(chunks: &Chunks, cell: &Index) -> Option<Index> {
    let wrap =
        |axis: usize| if chunks.periodic()[axis] { cell[axis].rem_euclid(chunks.shape()[axis]) } else { cell[axis] };
    let image = Index::from_fn(chunks.axes(), wrap);
    (0..chunks.axes()).all(|axis| (0..chunks.shape()[axis]).contains(&image[axis])).then_some(image)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn chunks_partition_the_shape(chunks in chunks()) {
        let mut holder = HashMap::new();
        for chunk in 0..chunks.count() {
            for cell in chunks.region(chunk).points() {
                prop_assert_eq!(holder.insert(cell, chunk), None);
                prop_assert_eq!(chunks.chunk_at(&cell), Some(chunk));
            }
        }
        prop_assert_eq!(holder.len() as u64, chunks.whole().cells());
        let boxes: Vec<_> = (0..chunks.count()).map(|chunk| chunks.region(chunk)).collect();
        let cover = Layout::from_shape(&chunks.shape()).boxes(boxes).resolve(3, 4, u64::MAX).unwrap();
        let query = chunks.whole().grow(&Index::splat(chunks.axes(), 2), &Index::splat(chunks.axes(), -1));
        let (mut a, mut b) = (Vec::new(), Vec::new());
        chunks.touching(&query, |chunk, part| a.push((chunk, part)));
        cover.touching(&query, |chunk, part| b.push((chunk, part)));
        prop_assert_eq!(a, b);
    }

    #[test]
    fn neighbours_own_all_ghost_cells(chunks in chunks()) {
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
            let (region, storage) = (chunks.region(chunk), chunks.storage(chunk));
            let ghosts = storage.points().filter(|cell| !region.contains(cell));
            let mut expected: Vec<_> = ghosts.filter(|cell| image_cell(&chunks, cell).is_some()).collect();
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

    #[test]
    fn to_global_and_to_local_are_inverse(array in array()) {
        let chunks = array.chunks();
        let mut cells = vec![0; array.ranks()];
        for (rank, cells) in cells.iter_mut().enumerate() {
            for (slot, (chunk, region)) in array.held_by(rank).enumerate() {
                let owner = array.ownership().owner(chunk);
                prop_assert_eq!((owner.rank, owner.slot), (rank, slot));
                prop_assert_eq!(region, chunks.region(chunk));
                for cell in region.points() {
                    let local = LocalCell { chunk, owner, cell: cell - region.start };
                    prop_assert_eq!(array.to_local(&cell), Some(local));
                    prop_assert_eq!(array.holder(&cell), Some(owner));
                    *cells += 1;
                }
                // One layer more than the storage.
                let layer = Index::splat(chunks.axes(), 1);
                let storage = chunks.storage(chunk);
                for cell in storage.grow(&layer, &layer).points().take(3000) {
                    let expected = storage.contains(&cell).then(|| image_cell(chunks, &cell)).flatten();
                    prop_assert_eq!(array.to_global(owner, &(cell - region.start)), expected);
                }
            }
        }
        prop_assert_eq!(&cells, &(0..array.ranks()).map(|rank| array.cells_of(rank)).collect::<Vec<_>>());
        prop_assert_eq!(cells.iter().sum::<u64>(), chunks.whole().cells());
        let outside = chunks.whole().grow(&Index::splat(chunks.axes(), 1), &Index::zeros(chunks.axes())).start;
        prop_assert_eq!((array.to_local(&outside), array.holder(&outside)), (None, None));
    }

    #[test]
    fn holders_partition_a_region(
        (array, region) in array().prop_flat_map(|array| {
            let region = random::region(array.chunks().shape().to_vec());
            (Just(array), region)
        })
    ) {
        let holders = array.holders(&region);
        prop_assert!(holders.is_sorted_by(|a, b| a.chunk < b.chunk));
        let mut seen = BTreeSet::new();
        for holder in &holders {
            prop_assert_eq!(holder.owner, array.ownership().owner(holder.chunk));
            prop_assert!(!holder.part.is_empty());
            for cell in holder.part.points() {
                prop_assert!(array.chunks().region(holder.chunk).contains(&cell) && seen.insert(cell));
            }
        }
        prop_assert!(seen.into_iter().eq(region.points().collect::<BTreeSet<_>>()));
    }

    #[test]
    fn re_arrangement_keeps_every_rank_and_slot(array in array(), seed in any::<u64>()) {
        let count = array.chunks().count();
        // A permutation may exchange only chunks with equal extents.
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&chunk| (chunk as u64 + 1).wrapping_mul(seed | 1) >> 7);
        let extents = |chunk| array.chunks().region(chunk).extents();
        let fits = order.iter().enumerate().all(|(chunk, &was)| extents(chunk) == extents(was));
        let moved = array.reassigned(&order);
        prop_assert_eq!(moved.is_ok(), fits);
        if let Ok(moved) = moved {
            for (chunk, &was) in order.iter().enumerate() {
                prop_assert_eq!(moved.ownership().owner(chunk), array.ownership().owner(was));
            }
        }
    }
}

/// Critical numbers: negative, zero, small, and the ends of the range.
fn number() -> impl Strategy<Value = i64> {
    const ENDS: [i64; 10] =
        [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX / 8, i64::MAX / 4, i64::MAX / 2, i64::MAX - 1, i64::MAX];
    prop_oneof![8 => 0_i64..9, 1 => prop::sample::select(&ENDS[..]), 1 => (0_u32..63).prop_map(|bit| 1 << bit)]
}

fn any_split() -> impl Strategy<Value = Split> {
    let count = number().prop_map(|count| Split::Even(count.unsigned_abs() as usize));
    let sizes = prop::collection::vec(number(), 0..4).prop_map(Split::Sizes);
    prop_oneof![Just(Split::Whole), Just(Split::Auto), count, sizes]
}

fn any_region(axes: usize) -> impl Strategy<Value = Region> {
    let corner = move || prop::collection::vec(number(), axes).prop_map(|at| Index::new(&at));
    (corner(), corner()).prop_map(|(start, end)| Region { start, end })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Any numbers give an error, or chunks within the limit.
    #[test]
    fn layout_of_any_numbers_never_panics(
        shape in prop::collection::vec(number(), 1..4),
        lists in (prop::collection::vec(any_split(), 0..4), prop::collection::vec(number(), 3), prop::collection::vec(number(), 3)),
        cuts in 0..3,
        (boxes, regions) in (1_usize..4).prop_flat_map(|axes| (
            prop::collection::vec(any_region(axes), 0..4), (any_region(axes), any_region(axes))
        )),
        periodic in prop::collection::vec(any::<bool>(), 3),
    ) {
        const LIMIT: u64 = 1 << 12;
        let axes = shape.len();
        let (splits, lo, hi) = lists;
        let mut layout = Layout::from_shape(&shape).periodic_list(&periodic[..axes]);
        layout = layout.ghost_lists(&lo[..axes], &hi[..axes]);
        layout = match cuts {
            0 => layout,
            1 => layout.split_list(splits),
            _ => layout.boxes(boxes),
        };
        let Ok(chunks) = layout.resolve(3, 4, LIMIT) else { return Ok(()) };
        prop_assert_eq!(&chunks.shape()[..], &shape[..]);
        for chunk in 0..chunks.count().min(50) {
            prop_assert!(chunks.storage(chunk).cells() * 4 <= LIMIT);
        }
        if chunks.count() <= 1000 {
            let array = Placement::balanced(chunks, 3);
            prop_assert!(ghosts(&[(&array, &GhostSpec::all().reversed())], 1).is_ok());
            let (src_region, dst_region) = regions;
            let spec = CopySpec { src: &array, src_region, dst: &array, dst_region, aliased: true, permutation: None };
            if copy(&spec, 1).is_ok() {
                let whole = array.chunks().whole();
                prop_assert!(whole.covers(&src_region) && whole.covers(&dst_region));
                prop_assert_eq!(src_region.extents(), dst_region.extents());
            }
        }
    }
}

#[test]
fn chunks_with_equal_content_are_equal() {
    let layout = |count| Layout::new([12, 6]).split([Split::Even(count), Split::Whole]);
    let (a, b) = (layout(3).resolve(1, 4, 1 << 20).unwrap(), layout(3).resolve(7, 8, 1 << 30).unwrap());
    assert_eq!(a, b);
    assert_eq!(a.fingerprint(), b.fingerprint());
    assert_ne!(a, layout(4).resolve(1, 4, 1 << 20).unwrap());
    assert_ne!(a, layout(3).ghost([1, 0]).resolve(1, 4, 1 << 20).unwrap());
    assert_ne!(a, layout(3).periodic([true, false]).resolve(1, 4, 1 << 20).unwrap());
}
