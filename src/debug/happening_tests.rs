//! Moves against plans by hand, and timelines of all ranks.

use super::moves::moves;
use super::protocol::{ArrayRef, MOST_MOVES, MoveEntry, Moves, SpanKind, Timeline};
use super::timeline::timeline;
use crate::error::Result;
use crate::world::{Config, DebugPoint, Exchange, Observer, World};
use crate::{GlobalArray, Layout, Operator, Split, run_with};

/// What rank 0 is told, and the others not.
fn of_rank_0<T: Send>(ranks: usize, program: impl Fn(&World) -> Result<Option<T>> + Send + Sync) -> T {
    let told = run_with(Config::apart(ranks), program).unwrap();
    assert!(told[1..].iter().all(Option::is_none));
    told.into_iter().next().flatten().expect("rank 0 is told")
}

fn by_number(mut moves: Moves) -> Moves {
    moves.moves.sort_by(|a, b| (&a.to, &a.from).cmp(&(&b.to, &b.from)));
    moves
}

fn entry(from: (u64, u64, u32, &[i64]), to: (u64, u64, u32, &[i64]), extents: &[i64], bytes: u64) -> MoveEntry {
    let end = |(number, chunk, rank, first): (u64, u64, u32, &[i64])| {
        (Some(ArrayRef { rank: None, number }), chunk, rank, first.to_vec())
    };
    MoveEntry { from: end(from), to: end(to), extents: extents.to_vec(), bytes }
}

/// Chunks 0..4, 4..7 and 7..10 of ranks 0, 1 and 2, with two ghost cells before and one behind, no neighbour at the ends.
fn three_chunks(world: &World) -> Result<GlobalArray<f64, 1>> {
    let layout = Layout::new([10]).split([Split::Sizes(vec![4, 3, 3])]).ghost_sides([(2, 1)]);
    world.array("line", &layout)
}

#[test]
fn a_ghost_update_moves_what_its_plan_says() {
    let told = of_rank_0(3, |world| {
        let line = three_chunks(world)?;
        assert_eq!(moves(world)?.unwrap_or_default(), Moves::default(), "nothing has moved");
        world.ghosts(&line)?;
        moves(world)
    });
    let told = by_number(told);
    let expected = [
        entry((1, 1, 1, &[4]), (1, 0, 0, &[4]), &[1], 8),
        entry((1, 0, 0, &[2]), (1, 1, 1, &[2]), &[2], 16),
        entry((1, 2, 2, &[7]), (1, 1, 1, &[7]), &[1], 8),
        entry((1, 1, 1, &[5]), (1, 2, 2, &[5]), &[2], 16),
    ];
    assert_eq!(told.moves, expected);
    assert_eq!((told.count, told.bytes_local, told.bytes_network), (4, 0, 48));
    let named = told.operation.starts_with("ghosts(") && told.operation.contains("line");
    assert!(named && told.operation.contains("happening_tests.rs:"), "{}", told.operation);
}

#[test]
fn on_one_rank_all_moves_stay() {
    let told = of_rank_0(1, |world| {
        world.ghosts(&three_chunks(world)?)?;
        // Of this world, and of no operation before: started ones are told, too.
        let layout = Layout::new([6]).split([Split::Even(3)]).ghost([1]);
        world.start_ghosts(&world.array::<u16, 1>("halves", &layout)?)?.wait()?;
        moves(world)
    });
    let told = by_number(told);
    let ghost = |from: u64, to: u64, cell: i64| entry((2, from, 0, &[cell]), (2, to, 0, &[cell]), &[1], 2);
    assert_eq!(told.moves, [ghost(1, 0, 2), ghost(0, 1, 1), ghost(2, 1, 4), ghost(1, 2, 3)]);
    assert_eq!((told.count, told.bytes_local, told.bytes_network), (4, 8, 0));
}

/// `to[j, i + 1] = from[i, j]` where rank 0 has the rows y < 2 of `from` and rank 1 the others, and of `to` the columns.
#[test]
fn a_copy_that_permutes_is_told_in_the_axes_of_both_ends() {
    let told = of_rank_0(2, |world| {
        let layout = |shape: [u64; 2]| Layout::new(shape).split([Split::Whole, Split::Even(2)]);
        let from = world.array::<u32, 2>("from", &layout([5, 4]))?;
        let to = world.array::<u32, 2>("to", &layout([4, 8]))?;
        from.fill_with(|[x, y]| (x + 100 * y) as u32)?;
        world.exchange(Exchange::new().copy(from.at(..), to.at((.., 1..6))).permuted([1, 0]))?;
        // Sources in cells of `to` behind the same ends.
        if world.rank() == 0 {
            assert_eq!(to.local()?.at((0..4, 1..2)).read()?, [0, 100, 200, 300]);
        }
        moves(world)
    });
    // Of `to` rank 0 has y < 4: x < 3 of `from`.
    let expected = [
        entry((1, 0, 0, &[0, 0]), (2, 0, 0, &[0, 1]), &[2, 3], 24),
        entry((1, 1, 1, &[0, 2]), (2, 0, 0, &[2, 1]), &[2, 3], 24),
        entry((1, 0, 0, &[3, 0]), (2, 1, 1, &[0, 4]), &[2, 2], 16),
        entry((1, 1, 1, &[3, 2]), (2, 1, 1, &[2, 4]), &[2, 2], 16),
    ];
    let told = by_number(told);
    assert_eq!(told.moves, expected);
    assert_eq!((told.count, told.bytes_local, told.bytes_network), (4, 40, 40));
}

#[test]
fn the_outermost_operation_is_named_and_what_an_observer_moves_is_not_told() {
    let told = of_rank_0(2, |world| {
        let line = three_chunks(world)?;
        let image = world.array::<f64, 1>("image", &Layout::new([10]))?;
        world.composite(line.at(..), image.at(..), Operator::Add)?;
        world.observe(|world, _| {
            let other = world.array::<f64, 1>("other", &Layout::new([4]).split([Split::Even(2)]).ghost([1]))?;
            world.ghosts(&other).map(drop)
        });
        world.debug_point("here")?;
        moves(world)
    });
    assert!(told.operation.starts_with("composite(") && told.operation.contains("image"), "{}", told.operation);
    assert_eq!((told.count, told.bytes_local + told.bytes_network), (told.moves.len() as u64, 80));
}

/// A viewer that looks at nothing.
struct Nobody;

impl Observer for Nobody {
    fn wants(&self, _: u64, _: &str) -> bool {
        false
    }

    fn look(&mut self, _: &World, _: &DebugPoint) -> Result<()> {
        Ok(())
    }

    fn end(&mut self, _: &str) {}
}

/// Ranks get and put cells of line 0..4, 4..7, 7..10; the memory at their own end has no array.
#[test]
fn a_fence_moves_what_was_asked_for() {
    let told = of_rank_0(3, |world| {
        let line = three_chunks(world)?;
        world.ghosts(&line)?;
        world.fence()?;
        assert_eq!(moves(world)?.unwrap_or_default(), Moves::default(), "nobody looks at the fence, and it came last");
        world.attach(Nobody);
        if world.rank() == 1 {
            world.put(&[1.0, 2.0], line.at(3..5))?;
            let _ticket = world.get(line.at(8..10))?;
        }
        world.fence()?;
        moves(world)
    });
    let chunk = |number, first| (Some(ArrayRef { rank: None, number: 1 }), number, number as u32, vec![first]);
    let own = |first| (None, 0, 1, vec![first]);
    let expected = [
        MoveEntry { from: own(3), to: chunk(0, 3), extents: vec![1], bytes: 8 },
        MoveEntry { from: own(4), to: chunk(1, 4), extents: vec![1], bytes: 8 },
        MoveEntry { from: chunk(2, 8), to: own(8), extents: vec![2], bytes: 16 },
    ];
    assert_eq!((&told.moves[..], told.count), (&expected[..], 3));
    assert_eq!((told.bytes_local, told.bytes_network), (8, 24));
    assert!(
        told.operation.starts_with("fence") && told.operation.contains("happening_tests.rs:"),
        "{}",
        told.operation
    );
}

#[test]
fn more_moves_than_are_told_are_counted() {
    let told = of_rank_0(2, |world| {
        let chunks = MOST_MOVES as u64 + 10;
        let many = world.array::<u32, 1>("many", &Layout::new([chunks]).split([Split::Even(chunks as usize)]))?;
        let one = world.array::<u32, 1>("one", &Layout::new([chunks]))?;
        world.copy(many.at(..), one.at(..))?;
        moves(world)
    });
    let told_of = |rank: u32| told.moves.iter().filter(|of| of.from.2 == rank).count();
    assert_eq!(told.count, MOST_MOVES as u64 + 10);
    assert_eq!((told_of(0), told_of(1)), (MOST_MOVES / 2, MOST_MOVES / 2));
    assert_eq!(told.bytes_local + told.bytes_network, 4 * told.count);
}

#[test]
fn each_span_is_told_once() {
    let parts: Vec<Timeline> = run_with(Config::apart(3), |world| {
        let line = three_chunks(world)?;
        // From here on spans are kept.
        let mut parts: Vec<Timeline> = timeline(world, 0, u64::MAX)?.into_iter().collect();
        for _ in 0..3 {
            world.ghosts(&line)?;
            let since = world.group().broadcast(0, parts.last().map(|part| crate::transport::copied(&[part.until])))?;
            let since = crate::transport::values::<u64>(&since)?[0];
            parts.extend(timeline(world, since, u64::MAX)?);
        }
        parts.extend(timeline(world, 0, u64::MAX)?);
        parts.extend(timeline(world, u64::MAX, u64::MAX)?);
        Ok(parts)
    })
    .unwrap()
    .swap_remove(0);
    let [first, between @ .., all, none] = &parts[..] else { panic!("{} parts", parts.len()) };
    assert!(first.ranks.len() == 3 && none.ranks.iter().all(Vec::is_empty));
    for rank in 0..3 {
        let mut told: Vec<_> = between.iter().flat_map(|part| part.ranks[rank].clone()).collect();
        let last = between.last().unwrap().until;
        let mut expected = all.ranks[rank].clone();
        expected.retain(|span| span.start + span.length > first.until && span.start + span.length <= last);
        let key =
            |span: &super::protocol::Span| (span.start, span.start + span.length, span.kind as u8, span.what.clone());
        told.sort_by_key(key);
        expected.sort_by_key(key);
        assert_eq!(told, expected, "rank {rank}");
        let updates = told.iter().filter(|span| span.kind == SpanKind::Unpack && span.what.contains("line")).count();
        assert!(updates >= 2, "rank {rank} has {told:?}");
        assert!(all.ranks[rank].is_sorted_by_key(|span| span.start));
        assert!(told.iter().all(|span| span.peer.is_none_or(|peer| peer < 3 && peer as usize != rank)));
    }
}
