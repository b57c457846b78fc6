//! Reverse ghost updates: values of ghost cells replace the copied cells of their owners, or are
//! combined with them.

use std::collections::BTreeSet;
use std::sync::Mutex;

use zippy::Exchange;
use zippy::extents::Index;
use zippy::region::Region;
use zippy::{GlobalArray, Layout, Operator, Result};

use crate::support::cells::{Value, code, cuts, expect, fill, position};
use crate::support::ghosts::{STALE, direction, image, outside};
use crate::support::{RANKS, ranks};

/// All pairs of a ghost cell and the owned cell that it copies, over all chunks of an array.
fn ghost_and_owned_cells<const D: usize>(
    array: &GlobalArray<i32, D>,
    periodic: [bool; D],
    faces: bool,
) -> Vec<(usize, [i64; D], [i64; D])> {
    let chunks = array.core().chunks();
    let mut pairs = Vec::new();
    for chunk in 0..chunks.count() {
        let own = chunks.region(chunk);
        for at in chunks.storage(chunk).points().map(|at| position::<D>(&at)) {
            let outside = outside(direction(at, &own));
            if let Some(from) = image(at, array.shape(), periodic)
                && outside > 0
                && (!faces || outside == 1)
            {
                pairs.push((chunk, at, from));
            }
        }
    }
    pairs
}

/// Value of the ghost cell at `at` of a chunk before the reverse update.
fn ghost_value<const D: usize>(chunk: usize, at: [i64; D]) -> i32 {
    i32::of(code(100 + chunk as u64, at))
}

fn fill_ghosts<const D: usize>(array: &GlobalArray<i32, D>) -> Result<()> {
    for chunk in array.chunks() {
        let all = chunk.with_ghosts();
        let values: Vec<i32> = all.region()?.points().map(|at| ghost_value(chunk.id(), position::<D>(&at))).collect();
        all.write(&values)?;
    }
    fill(array, 4)
}

#[test]
fn reverse_update_sums_or_replaces_owned_cells() {
    ranks(RANKS, |world| {
        let (widths, periodic) = ([(1, 2), (2, 1)], [true, false]);
        for (cut, faces) in cuts([9, 8], world.size()).into_iter().zip([false, true].into_iter().cycle()) {
            let cut = cut.with(|layout| layout.ghost_sides(widths).periodic(periodic));
            let label = format!("{} on {} ranks", cut.name, world.size());
            let array = cut.array::<i32, 2>(world, "array")?;
            let pairs = ghost_and_owned_cells(&array, periodic, faces);
            let update = || {
                let update = Exchange::new().ghosts(&array);
                if faces { update.faces_only() } else { update }
            };
            fill_ghosts(&array)?;
            world.exchange(update().reverse_with(Operator::Add))?;
            expect(&array, &format!("sums, {label}"), |at| {
                let back = pairs.iter().filter(|(_, _, from)| *from == at);
                back.fold(i32::of(code(4, at)), |sum, &(chunk, ghost, _)| sum.wrapping_add(ghost_value(chunk, ghost)))
            })?;
            fill_ghosts(&array)?;
            world.exchange(update().reverse_with(Operator::Max))?;
            expect(&array, &format!("largest, {label}"), |at| {
                let back = pairs.iter().filter(|(_, _, from)| *from == at);
                back.map(|&(chunk, ghost, _)| ghost_value(chunk, ghost)).chain([i32::of(code(4, at))]).max().unwrap()
            })?;
            fill_ghosts(&array)?;
            world.exchange(update().reverse())?;
            for chunk in array.chunks() {
                for (at, value) in chunk.region().points().zip(chunk.all().read()?) {
                    let at = position::<2>(&at);
                    let mut back = pairs.iter().filter(|(_, _, from)| *from == at).peekable();
                    let expected = match back.peek() {
                        None => value == i32::of(code(4, at)),
                        Some(_) => back.any(|&(chunk, ghost, _)| value == ghost_value(chunk, ghost)),
                    };
                    assert!(expected, "replaced, {label}: {value} at {at:?}");
                }
            }
        }
        Ok(())
    });
}

#[test]
fn reverse_update_has_same_order_on_any_number_of_ranks() {
    let observed: Mutex<BTreeSet<Vec<Vec<u32>>>> = Mutex::default();
    ranks(RANKS, |world| {
        let boxes = [([0, 0], [4, 9]), ([4, 0], [10, 3]), ([4, 3], [6, 9]), ([6, 3], [10, 8]), ([6, 8], [10, 9])];
        let boxes = boxes.map(|(start, end)| Region::new(&start, &end).unwrap()).to_vec();
        let layout = Layout::new([10, 9]).boxes(boxes).ghost([2, 2]).periodic([true, true]);
        let array = world.array::<f32, 2>("array", &layout)?;
        // The operator is neither associative nor commutative, and rounds.
        let mix = Operator::custom("mix", "fn combine(src: T, dst: T) -> T { return 0.3 * dst - src; }");
        let mut results = Vec::new();
        for update in [Exchange::new().ghosts(&array).reverse_with(mix), Exchange::new().ghosts(&array).reverse()] {
            for chunk in array.chunks() {
                let all = chunk.with_ghosts();
                let at = |p: Index| (code(chunk.id() as u64, position::<2>(&p)) >> 40) as f32;
                all.write(&all.region()?.points().map(at).collect::<Vec<_>>())?;
            }
            world.exchange(update)?;
            let ticket = world.get(array.at(..))?;
            results.push(world.fence()?.redeem(ticket)?.into_iter().map(f32::to_bits).collect());
        }
        observed.lock().unwrap().insert(results);
        Ok(())
    });
    assert_eq!(observed.into_inner().unwrap().len(), 1, "results differ between numbers of ranks");
}

#[test]
fn ghost_cells_may_change_after_reverse_update_has_started() {
    ranks(RANKS, |world| {
        for cut in cuts([9, 8], world.size()) {
            let cut = cut.with(|layout| layout.ghost_sides([(1, 2), (2, 1)]).periodic([true, false]));
            let array = cut.array::<i32, 2>(world, "array")?;
            let own = || array.chunks().map(|chunk| chunk.all().read()).collect::<Result<Vec<_>>>();
            for update in
                [Exchange::new().ghosts(&array).reverse(), Exchange::new().ghosts(&array).reverse_with(Operator::Add)]
            {
                fill_ghosts(&array)?;
                world.exchange(update.clone())?;
                let expected = own()?;
                fill_ghosts(&array)?;
                let pending = world.start(update)?;
                for chunk in array.chunks() {
                    for ghosts in chunk.with_ghosts().region()?.subtract(&chunk.region()) {
                        chunk.at_global(ghosts).fill(i32::of(STALE))?;
                    }
                }
                pending.wait()?;
                assert_eq!(own()?, expected, "{} on {} ranks", cut.name, world.size());
            }
        }
        Ok(())
    });
}
