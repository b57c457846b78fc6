//! Costs of plans in a world of 65,536 ranks: moves, messages and allocated bytes. A rank's cost
//! must depend only on its neighbours.

use std::alloc::{GlobalAlloc, Layout as Bytes, System};
use std::cell::Cell;

use zippy::extents::Index;
use zippy::layout::{Layout, Split};
use zippy::locate::Placement;
use zippy::ownership::Ownership;
use zippy::plan::cache::{PlanCache, PlanKey};
use zippy::plan::{CopySpec, GhostSpec, RankPlan, copy, ghosts};
use zippy::region::Region;

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: all calls go to the system allocator unchanged, and counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, bytes: Bytes) -> *mut u8 {
        ALLOCATED.set(ALLOCATED.get() + bytes.size());
        // SAFETY: the caller's contract is that of the system allocator.
        unsafe { System.alloc(bytes) }
    }

    unsafe fn dealloc(&self, at: *mut u8, bytes: Bytes) {
        // SAFETY: `at` is a result of `alloc` above, with this layout.
        unsafe { System.dealloc(at, bytes) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn count_allocated<R>(f: impl FnOnce() -> R) -> (R, usize) {
    let before = ALLOCATED.get();
    let result = f();
    (result, ALLOCATED.get() - before)
}

/// Periodic block of chunks of 128³ cells with one ghost layer.
fn layout(chunks: [i64; 3]) -> Layout {
    let splits = chunks.map(|count| Split::Even(count as usize));
    Layout::new(chunks.map(|count| 128 * count)).split(splits).ghost([1, 1, 1]).periodic([true; 3])
}

fn placed(layout: &Layout, ranks: usize) -> Placement {
    Placement::balanced(layout.resolve(ranks, 4, 1 << 30).unwrap(), ranks)
}

fn boxes(plan: &RankPlan) -> usize {
    plan.sends.iter().chain(&plan.receives).map(|message| message.moves.len()).sum()
}

const SMALL: [i64; 3] = [4, 4, 4];
const LARGE: [i64; 3] = [64, 32, 32];

#[test]
fn cost_of_ghost_plan_depends_on_neighbours_only() {
    for (spec, neighbours) in [(GhostSpec::faces(), 6), (GhostSpec::all(), 26), (GhostSpec::all().reversed(), 26)] {
        let costs = [SMALL, LARGE].map(|chunks| {
            let ranks = chunks.iter().product::<i64>() as usize;
            let (plan, bytes) =
                count_allocated(|| ghosts(&[(&placed(&layout(chunks), ranks), &spec)], ranks / 2).unwrap());
            assert_eq!((plan.sends.len(), plan.receives.len()), (neighbours, neighbours));
            assert_eq!((boxes(&plan), plan.rounds), (2 * neighbours, neighbours));
            bytes
        });
        assert!(
            costs[1] <= costs[0] + costs[0] / 4,
            "{neighbours} neighbours: {costs:?} bytes for 64 and 65,536 ranks"
        );
    }
}

#[test]
fn tables_of_owners_and_boxes_add_no_cost_to_a_plan() {
    let grid = placed(&layout(LARGE), 65_536);
    let (expected, reference) = count_allocated(|| ghosts(&[(&grid, &GhostSpec::all())], 4711).unwrap());
    let table = Ownership::table((0..65_536).collect(), 65_536).unwrap();
    let table = Placement::new(grid.chunks().clone(), table.into()).unwrap();
    let boxes: Vec<Region> = (0..grid.chunks().count()).map(|chunk| grid.chunks().region(chunk)).collect();
    let cover = Layout::new(LARGE.map(|count| 128 * count)).boxes(boxes).ghost([1, 1, 1]).periodic([true; 3]);
    let cover = placed(&cover, 65_536);
    for placement in [table, cover] {
        let (plan, bytes) = count_allocated(|| ghosts(&[(&placement, &GhostSpec::all())], 4711).unwrap());
        assert_eq!(plan, expected);
        // Queries of boxes collect their results.
        assert!(bytes <= 4 * reference, "{bytes} bytes, {reference} for a grid");
    }
}

#[test]
fn cost_is_proportional_to_chunks_per_rank() {
    let cost = |ranks: usize| {
        let placement = placed(&layout(LARGE), ranks);
        let (plan, bytes) = count_allocated(|| ghosts(&[(&placement, &GhostSpec::all())], ranks / 2).unwrap());
        (boxes(&plan) + 2 * plan.local.len(), bytes)
    };
    let ((one, bytes), (many, more)) = (cost(65_536), cost(65_536 / 64));
    assert_eq!((one, many), (52, 64 * 52), "26 boxes out and 26 in for every chunk");
    assert!(more <= 64 * bytes * 5 / 4, "{more} bytes for 64 chunks, {bytes} for one");
}

#[test]
fn repeated_plan_costs_only_its_key() {
    let placement = placed(&layout(LARGE), 65_536);
    let spec = GhostSpec::all();
    let mut cache = PlanCache::new(4, |_, _| 1);
    let mut get = || {
        let build = || ghosts(&[(&placement, &spec)], 7).map(std::rc::Rc::new);
        count_allocated(|| cache.get_or_build(PlanKey::ghosts(&[(&placement, &spec)]), build).unwrap())
    };
    let ((first, built), (second, found)) = (get(), get());
    assert!(std::rc::Rc::ptr_eq(&first, &second));
    assert!(found < 1024 && built > 10 * found, "{built} bytes to build, {found} to find");
}

#[test]
fn cost_of_small_copy_is_independent_of_world_size() {
    let region = |start: i64| Region::at(Index::splat(3, start), Index::splat(3, 100));
    let costs = [SMALL, LARGE].map(|chunks| {
        let ranks = chunks.iter().product::<i64>() as usize;
        let array = placed(&layout(chunks), ranks);
        let spec = CopySpec {
            src: &array,
            src_region: region(100),
            dst: &array,
            dst_region: region(70),
            aliased: true,
            permutation: None,
        };
        let all: Vec<_> = [0, ranks - 1].iter().map(|&rank| count_allocated(|| copy(&spec, rank).unwrap())).collect();
        assert!(!all[0].0.is_empty() && all[1].0.is_empty());
        assert!(all[1].1 < 1024, "{} bytes for a rank without a part", all[1].1);
        all[0].1
    });
    assert!(costs[1] <= costs[0] * 5 / 4, "{costs:?} bytes for 64 and 65,536 ranks");
}

/// With too many edges the rounds follow from arithmetic, equally on both ranks of a message.
#[test]
fn transposition_of_4096_ranks_is_scheduled_by_arithmetic() {
    const RANKS: i64 = 4096;
    let even = Split::Even(RANKS as usize);
    let slabs = |splits| placed(&Layout::new([RANKS, RANKS]).split(splits), RANKS as usize);
    let (columns, rows) = (slabs([even.clone(), Split::Whole]), slabs([Split::Whole, even]));
    let whole = columns.chunks().whole();
    let spec =
        CopySpec { src: &columns, src_region: whole, dst: &rows, dst_region: whole, aliased: false, permutation: None };
    let plans = [17, 4000].map(|rank| copy(&spec, rank).unwrap());
    for plan in &plans {
        for messages in [&plan.sends, &plan.receives] {
            let rounds: Vec<usize> = messages.iter().map(|message| message.round).collect();
            assert_eq!(rounds, (0..RANKS as usize - 1).collect::<Vec<_>>(), "one message a round");
        }
        assert_eq!((plan.local.len(), plan.rounds), (1, RANKS as usize - 1));
    }
    let sent = plans[0].sends.iter().find(|message| message.peer == 4000).unwrap();
    let received = plans[1].receives.iter().find(|message| message.peer == 17).unwrap();
    assert_eq!((sent.round, &sent.moves), (received.round, &received.moves));
    assert_eq!(sent.moves[0].dst.to_string(), "[17..18, 4000..4001]");
}
