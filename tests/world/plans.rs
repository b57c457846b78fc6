//! Plans with predicted moves, and queries of ownership.

use std::collections::HashMap;

use zippy::Exchange;
use zippy::Plan;
use zippy::{ArrayOptions, Element, GlobalArray, Layout, Moved, Operator, Ownership, Result, Split, World};

use crate::support::{self, RANKS, ranks};

/// Checks that a plan predicts the result of the operation, and that its table has a line per
/// message.
fn check_prediction(world: &World, plan: &Plan, moved: Moved) {
    assert_eq!(plan.moved(), moved);
    let mut rank_plans = plan.rank_plans();
    let (text, rank_plan) = (plan.explain(), rank_plans.next().expect("one"));
    assert!(rank_plans.next().is_none(), "all share their messages");
    let bytes = format!("rank {}: {} moves inside ({} bytes)", world.rank(), rank_plan.local.len(), moved.bytes_local);
    assert!(text.starts_with(&bytes), "{text}");
    let messages = rank_plan
        .sends
        .iter()
        .map(|message| (message, "to"))
        .chain(rank_plan.receives.iter().map(|message| (message, "from")));
    for (message, way) in messages {
        let line = |line: &&str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (round, peer) = (message.round.to_string(), message.peer.to_string());
            words[..3] == [round.as_str(), way, peer.as_str()]
        };
        assert_eq!(text.lines().skip(2).filter(line).count(), 1, "{way} {}: {text}", message.peer);
    }
    assert_eq!(plan.to_string(), text);
}

/// Sums the moves of all ranks. Collective.
fn sum_over_ranks(world: &World, moved: Moved) -> Result<[u64; 3]> {
    let mut sums = [moved.bytes_local, moved.bytes_network, moved.messages];
    world.group().all_reduce(&mut sums, |sum, more| *sum += more)?;
    Ok(sums)
}

#[test]
fn plan_of_copy_predicts_its_result() {
    ranks(RANKS, |world| {
        let slabs = Layout::new([12, 10]).split([Split::Whole, Split::Even(5)]);
        let blocks = Layout::new([12, 10]).split([[5, 0, 7].into(), Split::Even(3)]);
        let (a, b) = (world.array::<[f32; 2], 2>("a", &slabs)?, world.array::<[f32; 2], 2>("b", &blocks)?);
        let plan = world.plan(Exchange::new().copy(a.at((1..11, ..)), b.at((2..12, ..))))?;
        let moved = world.copy(a.at((1..11, ..)), b.at((2..12, ..)))?;
        check_prediction(world, &plan, moved);
        let [local, network, messages] = sum_over_ranks(world, moved)?;
        assert_eq!(local + network, 10 * 10 * 8);
        assert_eq!(messages == 0, world.size() == 1);
        // A composite of the same regions moves the same boxes.
        check_prediction(world, &plan, world.composite(a.at((1..11, ..)), b.at((2..12, ..)), Operator::Add)?);
        assert!(world.plan(Exchange::new().copy(a.at((1..11, ..)), b.at((2..11, ..)))).is_err());
        // Transposed: ten by ten cells.
        let plan = world.plan(Exchange::new().copy(a.at((1..11, ..)), b.at((2..12, ..))).permuted([1, 0]))?;
        assert!(plan.explain().lines().next().expect("a line").contains("axes [1, 0]"));
        check_prediction(
            world,
            &plan,
            world.exchange(Exchange::new().copy(a.at((1..11, ..)), b.at((2..12, ..))).permuted([1, 0]))?,
        );
        assert!(world.plan(Exchange::new().copy(a.at((1..11, ..)), b.at((2..12, ..))).permuted([1, 1])).is_err());
        Ok(())
    });
}

/// Populations with component lists and a density without lists, in one exchange: one message per
/// pair of ranks.
#[test]
fn component_list_applies_to_preceding_array() {
    ranks(RANKS, |world| {
        let along = |parts| Split::Even(parts);
        let lattice = Layout::new([12, 3]).split([along(4), Split::Whole]).ghost([1, 0]).periodic([true, false]);
        let line = Layout::new([12]).split([along(4)]).ghost([2]).periodic([true]);
        let (f, density) = (world.array::<f32, 2>("f", &lattice)?, world.array::<i32, 1>("density", &line)?);
        let list = |side: &[i8]| if side[0] > 0 { vec![2] } else { vec![1] };
        for update in [
            Exchange::new().ghosts(&f).components(1, list).ghosts(&density),
            Exchange::new().ghosts(&density).ghosts(&f).components(1, list),
        ] {
            f.fill(-1.0)?;
            density.fill(-1)?;
            f.fill_with(|[x, c]| (100 * c + x) as f32)?;
            density.fill_with(|[x]| x as i32)?;
            let plan = world.plan(&update)?;
            let peers: Vec<_> =
                plan.rank_plans().flat_map(|plan| plan.sends.iter().map(|message| message.peer)).collect();
            let count = peers.len();
            assert!(peers.into_iter().collect::<std::collections::BTreeSet<_>>().len() == count);
            let moved = world.exchange(update)?;
            check_prediction(world, &plan, moved);
            // Two ghost cells of f and four of the density for each of four chunks.
            let [local, network, _] = sum_over_ranks(world, moved)?;
            assert_eq!(local + network, 4 * (2 + 4) * 4);
            check_stored_cells(
                &f,
                |x, c, side| if c == (if side > 0 { 2 } else { 1 }) { (100 * c + x) as f32 } else { -1.0 },
            )?;
            for chunk in density.chunks() {
                let expected: Vec<i32> =
                    chunk.with_ghosts().region()?.points().map(|at| at[0].rem_euclid(12) as i32).collect();
                assert_eq!(chunk.with_ghosts().read()?, expected);
            }
        }
        Ok(())
    });
}

/// Checks all stored cells of `f`: owned cells are unchanged, and ghost cells are
/// `expected(position, component, side)`.
fn check_stored_cells(f: &GlobalArray<f32, 2>, expected: impl Fn(i64, i64, i64) -> f32) -> Result<()> {
    for chunk in f.chunks() {
        let (own, all) = (chunk.region(), chunk.with_ghosts());
        for (at, value) in all.region()?.points().zip(all.read()?) {
            let side = i64::from(at[0] >= own.end[0]) - i64::from(at[0] < own.start[0]);
            let image = at[0].rem_euclid(12);
            let value_of = if side == 0 { (100 * at[1] + image) as f32 } else { expected(image, at[1], side) };
            assert_eq!(value, value_of, "cell {at} of chunk {}", chunk.id());
        }
    }
    Ok(())
}

/// Checks that every cell is its value times the number of its stored copies, ghost cells included.
fn check_sums_of_copies<T: Element, const D: usize>(
    array: &GlobalArray<T, D>,
    value: impl Fn([i64; D]) -> i64,
) -> HashMap<[i64; D], i64> {
    let (chunks, owners) = (array.placement().chunks(), array.placement().ownership());
    let mut sums = HashMap::new();
    for chunk in 0..chunks.count() {
        for at in chunks.storage(chunk).points() {
            let inside = std::array::from_fn(|axis| at[axis] - chunks.region(chunk).start[axis]);
            if let Some(cell) = array.to_global(owners.owner(chunk), inside) {
                *sums.entry(cell).or_insert(0) += value(cell);
            }
        }
    }
    sums
}

/// Sets every stored cell to the value of the cell that it copies. A reverse ghost update sums
/// these values.
fn fill_with_copied_values<T: Element, const D: usize>(
    array: &GlobalArray<T, D>,
    value: impl Fn([i64; D]) -> T,
) -> Result<()> {
    for chunk in array.chunks() {
        let (own, all) = (chunk.region(), chunk.with_ghosts());
        let owner = array.placement().ownership().owner(chunk.id());
        let cells = all.region()?.points().map(|at| {
            let inside = std::array::from_fn(|axis| at[axis] - own.start[axis]);
            value(array.to_global(owner, inside).expect("all axes are periodic"))
        });
        all.write(&cells.collect::<Vec<_>>())?;
    }
    Ok(())
}

#[test]
fn reverse_update_sums_arrays_of_several_types() {
    ranks(RANKS, |world| {
        // Ghost layers wider than chunks and than the axis: a cell has many ghost copies, even on
        // one rank.
        let line = Layout::new([7]).split([[2, 1, 4].into()]).ghost([9]).periodic([true]);
        let plane = Layout::new([6, 5]).split([Split::Even(3), Split::Even(2)]).ghost([2, 3]).periodic([true; 2]);
        let (a, b) = (world.array::<u16, 1>("a", &line)?, world.array::<f32, 2>("b", &plane)?);
        let (c, d) = (world.array::<i32, 2>("c", &plane)?, world.array::<f32, 1>("d", &line)?);
        let (on_line, on_plane) = (|[x]: [i64; 1]| 3 + 10 * x, |[x, y]: [i64; 2]| 1 + x + 7 * y);
        fill_with_copied_values(&a, |at| on_line(at) as u16)?;
        fill_with_copied_values(&b, |at| on_plane(at) as f32)?;
        fill_with_copied_values(&c, |at| -on_plane(at) as i32)?;
        fill_with_copied_values(&d, |at| on_line(at) as f32)?;
        let back = |all: Exchange| all.reverse_with(Operator::Add);
        let update = back(back(Exchange::new().ghosts(&a)).ghosts(&b));
        let update = back(back(update.ghosts(&c)).ghosts(&d));
        let plan = world.plan(&update)?;
        check_prediction(world, &plan, world.exchange(update)?);
        let (line, plane) = (check_sums_of_copies(&a, on_line), check_sums_of_copies(&b, on_plane));
        support::cells::expect(&a, &"a", |at| line[&at] as u16)?;
        support::cells::expect(&b, &"b", |at| plane[&at] as f32)?;
        support::cells::expect(&c, &"c", |at| -plane[&at] as i32)?;
        support::cells::expect(&d, &"d", |at| line[&at] as f32)
    });
}

#[test]
fn array_handle_returns_owners_of_cells() {
    ranks(RANKS, |world| {
        let layout =
            Layout::new([9, 8]).split([[4, 0, 5].into(), Split::Even(2)]).ghost([1, 2]).periodic([false, true]);
        let owners = Ownership::table((0..6).map(|chunk| (chunk * 5 + 1) % world.size()).collect(), world.size())?;
        let array = world.array::<i32, 2>("array", ArrayOptions::new(&layout).owned_by(owners))?;
        array.fill_with(|[x, y]| (10 * x + y) as i32)?;
        let held: Vec<_> = array.held_by(world.rank()).collect();
        assert_eq!(held, array.chunks().map(|chunk| (chunk.id(), chunk.region())).collect::<Vec<_>>());
        let section = array.at((2..7, 3..8));
        let mut cells = 0;
        for holder in section.holders()? {
            cells += holder.part.cells();
            for cell in holder.part.points() {
                let local = array.to_local([cell[0], cell[1]]).expect("inside");
                assert_eq!((local.chunk, local.owner), (holder.chunk, holder.owner));
                let at = [local.cell[0], local.cell[1]];
                assert_eq!(array.to_global(local.owner, at), Some([cell[0], cell[1]]));
                if local.owner.rank == world.rank() {
                    let chunk = array.chunks().nth(local.owner.slot).expect("its slot");
                    assert_eq!(chunk.at((at[0], at[1])).read()?, [(10 * cell[0] + cell[1]) as i32]);
                }
            }
        }
        assert_eq!(cells, 25);
        assert!(array.at((2..70, 3..8)).holders().is_err());
        let first = array.to_local([0, 0]).expect("inside");
        assert_eq!(array.to_global(first.owner, [0, -1]), Some([0, 7]), "the other end of a periodic axis");
        assert_eq!(array.to_global(first.owner, [-1, 0]), None, "beyond an axis that is not periodic");
        assert_eq!(array.to_local([9, 0]), None);
        Ok(())
    });
}
