//! Properties of decompositions that are not grids.

use ::volume::cut::{self, Decomposition};
use zippy::chunks::Chunks;
use zippy::extents::Index;
use zippy::ownership::Ownership;
use zippy::region::Region;

const SHAPE: [i64; 3] = [37, 29, 41];
const BUFFER: u64 = 1 << 30;

fn decompose(name: &str, per_rank: Option<usize>, ranks: usize, idle: usize) -> (Chunks, Ownership) {
    let cut = if name == "auto" { cut::parse_split(name) } else { cut::parse_cut(name) }.unwrap();
    let (layout, owners) = Decomposition { cut, per_rank, idle }.layout(SHAPE, ranks, 2, BUFFER).unwrap();
    // `resolve` also checks that the boxes cover the volume once.
    (layout.resolve(ranks, 2, BUFFER).unwrap(), owners)
}

/// Non-empty boxes of a rank.
fn parts(chunks: &Chunks, owners: &Ownership, rank: usize) -> Vec<Region> {
    owners.of_rank(rank).map(|chunk| chunks.region(chunk)).filter(|region| !region.is_empty()).collect()
}

#[test]
fn every_working_rank_has_its_share() {
    let whole = Region::whole(Index::new(&SHAPE)).cells();
    for (name, per_rank) in
        [("auto", None), ("auto", Some(3)), ("kd", Some(2)), ("bars", None), ("bars", Some(5)), ("ell", None)]
    {
        for (ranks, idle) in [(1, 0), (2, 0), (3, 1), (5, 0), (7, 0), (8, 3)] {
            let (chunks, owners) = decompose(name, per_rank, ranks, idle);
            for rank in 0..ranks {
                let parts = parts(&chunks, &owners, rank);
                let cells: u64 = parts.iter().map(Region::cells).sum();
                if rank >= ranks - idle {
                    assert_eq!(cells, 0, "{name}: rank {rank} of {ranks}");
                } else {
                    let share = cells as f64 / whole as f64 * (ranks - idle) as f64;
                    assert!((0.4..2.0).contains(&share), "{name}: rank {rank} of {ranks} has {share}");
                }
                if let Some(count) = per_rank.filter(|_| rank < ranks - idle) {
                    assert!(parts.len() >= count.min(2), "{name}: {parts:?}");
                }
            }
        }
    }
}

/// A convex union of boxes would fill its bounding box.
#[test]
fn bars_and_l_shapes_are_not_convex() {
    for (name, ranks) in [("bars", 2), ("bars", 3), ("bars", 8), ("ell", 2), ("ell", 5)] {
        let (chunks, owners) = decompose(name, None, ranks, 0);
        // The last rank owns one box.
        for rank in 0..if name == "ell" { ranks - 1 } else { ranks } {
            let parts = parts(&chunks, &owners, rank);
            let around = parts.iter().skip(1).fold(parts[0], |all, part| all.bounding(part));
            assert!(parts.iter().map(Region::cells).sum::<u64>() < around.cells(), "{name}: rank {rank} of {ranks}");
        }
    }
}

/// Along the third axis, each of two ranks has a bar above a bar of the other rank.
#[test]
fn bars_of_two_ranks_occlude_each_other() {
    let (chunks, owners) = decompose("bars", None, 2, 0);
    let [one, other] = [0, 1].map(|rank| parts(&chunks, &owners, rank));
    let flat = |region: &Region| Region { start: Index::new(&region.start[..2]), end: Index::new(&region.end[..2]) };
    let above = |high: &[Region], low: &[Region]| {
        high.iter().any(|h| low.iter().any(|l| h.start[2] >= l.end[2] && flat(h).intersects(&flat(l))))
    };
    assert!(above(&one, &other) && above(&other, &one));
}

#[test]
fn trees_have_the_requested_leaves_of_unequal_sizes() {
    for leaves in [1, 2, 9, 16] {
        let (chunks, _) = decompose(&format!("kd:{leaves}"), None, 3, 0);
        assert_eq!(chunks.count(), leaves);
    }
    let (chunks, _) = decompose("kd:8", None, 8, 0);
    let mut cells: Vec<u64> = (0..8).map(|chunk| chunks.region(chunk).cells()).collect();
    cells.dedup();
    assert!(cells.len() > 4, "{cells:?}");
    let cut = cut::parse_cut("kd:99999").unwrap();
    let error = Decomposition { cut, per_rank: None, idle: 0 }.layout(SHAPE, 2, 2, BUFFER).unwrap_err();
    assert!(error.to_string().contains("65536"), "{error}");
}
