//! Moves, compared with plans by hand, and timelines of all ranks.
use zippy_protocol::{ArrayRef, MOST_MOVES, MoveEntry, Moves, SpanKind, Timeline};

use super::moves::gather_moves;
use super::timeline::gather_timeline;
use crate::error::Result;
use crate::transport::Config;
use crate::world::{DebugPoint, Exchange, Observer, World};
use crate::{GlobalArray, Layout, Operator, Split, run_with};

fn result_of_rank_0<T: Send>(ranks: usize, program: impl Fn(&World) -> Result<Option<T>> + Send + Sync) -> T {
    let results = run_with(Config::apart(ranks), program).unwrap();
    assert!(results[1..].iter().all(Option::is_none));
    results.into_iter().next().flatten().expect("rank 0 has a result")
}

fn sort_by_array_number(mut moves: Moves) -> Moves {
    moves.moves.sort_by(|a, b| (&a.to, &a.from).cmp(&(&b.to, &b.from)));
    moves
}

fn move_entry(from: (u64, u64, u32, &[i64]), to: (u64, u64, u32, &[i64]), extents: &[i64], bytes: u64) -> MoveEntry {
    let end = |(number, chunk, rank, first): (u64, u64, u32, &[i64])| {
        (Some(ArrayRef { rank: None, number }), chunk, rank, first.to_vec())
    };
    MoveEntry { from: end(from), to: end(to), extents: extents.to_vec(), bytes }
}

/// An array with the chunks 0..4, 4..7 and 7..10 on ranks 0, 1 and 2. Chunks have two ghost cells
/// before and one after them, and no neighbour at the ends of the array.
fn three_chunk_array(world: &World) -> Result<GlobalArray<f64, 1>> {
    let layout = Layout::new([10]).split([Split::Sizes(vec![4, 3, 3])]).ghost_sides([(2, 1)]);
    world.array("line", &layout)
}

#[test]
fn ghost_update_reports_the_moves_of_its_plan() {
    let found = result_of_rank_0(3, |world| {
        let line = three_chunk_array(world)?;
        assert_eq!(gather_moves(world)?.unwrap_or_default(), Moves::default(), "nothing has moved");
        world.ghosts(&line)?;
        gather_moves(world)
    });
    let found = sort_by_array_number(found);
    let expected = [
        move_entry((1, 1, 1, &[4]), (1, 0, 0, &[4]), &[1], 8),
        move_entry((1, 0, 0, &[2]), (1, 1, 1, &[2]), &[2], 16),
        move_entry((1, 2, 2, &[7]), (1, 1, 1, &[7]), &[1], 8),
        move_entry((1, 1, 1, &[5]), (1, 2, 2, &[5]), &[2], 16),
    ];
    assert_eq!(found.moves, expected);
    assert_eq!((found.count, found.bytes_local, found.bytes_network), (4, 0, 48));
    let named = found.operation.starts_with("ghosts(") && found.operation.contains("line");
    assert!(named && found.operation.contains("activity_tests.rs:"), "{}", found.operation);
}

#[test]
fn moves_on_one_rank_are_local() {
    let found = result_of_rank_0(1, |world| {
        world.ghosts(&three_chunk_array(world)?)?;
        // The started operation replaces the moves of the earlier one.
        let layout = Layout::new([6]).split([Split::Even(3)]).ghost([1]);
        world.start_ghosts(&world.array::<u16, 1>("halves", &layout)?)?.wait()?;
        gather_moves(world)
    });
    let found = sort_by_array_number(found);
    let ghost = |from: u64, to: u64, cell: i64| move_entry((2, from, 0, &[cell]), (2, to, 0, &[cell]), &[1], 2);
    assert_eq!(found.moves, [ghost(1, 0, 2), ghost(0, 1, 1), ghost(2, 1, 4), ghost(1, 2, 3)]);
    assert_eq!((found.count, found.bytes_local, found.bytes_network), (4, 8, 0));
}

/// `to[j, i + 1] = from[i, j]`. Rank 0 has the rows y < 2 of `from` and the columns y < 4 of `to`;
/// rank 1 has the others.
#[test]
fn permuted_copy_reports_moves_in_the_axes_of_each_end() {
    let found = result_of_rank_0(2, |world| {
        let layout = |shape: [u64; 2]| Layout::new(shape).split([Split::Whole, Split::Even(2)]);
        let from = world.array::<u32, 2>("from", &layout([5, 4]))?;
        let to = world.array::<u32, 2>("to", &layout([4, 8]))?;
        from.fill_with(|[x, y]| (x + 100 * y) as u32)?;
        world.exchange(Exchange::new().copy(from.at(..), to.at((.., 1..6))).permuted([1, 0]))?;
        // Column `to[.., 1]` has row 0 of `from`.
        if world.rank() == 0 {
            assert_eq!(to.local()?.at((0..4, 1..2)).read()?, [0, 100, 200, 300]);
        }
        gather_moves(world)
    });
    // Of `to` rank 0 has y < 4: x < 3 of `from`.
    let expected = [
        move_entry((1, 0, 0, &[0, 0]), (2, 0, 0, &[0, 1]), &[2, 3], 24),
        move_entry((1, 1, 1, &[0, 2]), (2, 0, 0, &[2, 1]), &[2, 3], 24),
        move_entry((1, 0, 0, &[3, 0]), (2, 1, 1, &[0, 4]), &[2, 2], 16),
        move_entry((1, 1, 1, &[3, 2]), (2, 1, 1, &[2, 4]), &[2, 2], 16),
    ];
    let found = sort_by_array_number(found);
    assert_eq!(found.moves, expected);
    assert_eq!((found.count, found.bytes_local, found.bytes_network), (4, 40, 40));
}

#[test]
fn outermost_operation_is_named_and_moves_of_observers_are_not_reported() {
    let found = result_of_rank_0(2, |world| {
        let line = three_chunk_array(world)?;
        let image = world.array::<f64, 1>("image", &Layout::new([10]))?;
        world.composite(line.at(..), image.at(..), Operator::Add)?;
        world.debug().observe(|world, _| {
            let other = world.array::<f64, 1>("other", &Layout::new([4]).split([Split::Even(2)]).ghost([1]))?;
            world.ghosts(&other).map(drop)
        });
        world.debug_point("here")?;
        gather_moves(world)
    });
    assert!(found.operation.starts_with("composite(") && found.operation.contains("image"), "{}", found.operation);
    assert_eq!((found.count, found.bytes_local + found.bytes_network), (found.moves.len() as u64, 80));
}

struct IdleObserver;

impl Observer for IdleObserver {
    fn wants(&self, _: u64, _: &str) -> bool {
        false
    }

    fn process_point(&mut self, _: &World, _: &DebugPoint) -> Result<()> {
        Ok(())
    }

    fn end(&mut self, _: &str) {}
}

#[test]
fn fence_reports_the_moves_of_puts_and_gets() {
    let found = result_of_rank_0(3, |world| {
        let line = three_chunk_array(world)?;
        world.ghosts(&line)?;
        world.fence()?;
        assert_eq!(
            gather_moves(world)?.unwrap_or_default(),
            Moves::default(),
            "there is no observer, and the fence was the last operation"
        );
        world.attach(IdleObserver);
        if world.rank() == 1 {
            world.put(&[1.0, 2.0], line.at(3..5))?;
            let _ticket = world.get(line.at(8..10))?;
        }
        world.fence()?;
        gather_moves(world)
    });
    let chunk = |number, first| (Some(ArrayRef { rank: None, number: 1 }), number, number as u32, vec![first]);
    let origin = |first| (None, 0, 1, vec![first]);
    let expected = [
        MoveEntry { from: origin(3), to: chunk(0, 3), extents: vec![1], bytes: 8 },
        MoveEntry { from: origin(4), to: chunk(1, 4), extents: vec![1], bytes: 8 },
        MoveEntry { from: chunk(2, 8), to: origin(8), extents: vec![2], bytes: 16 },
    ];
    assert_eq!((&found.moves[..], found.count), (&expected[..], 3));
    assert_eq!((found.bytes_local, found.bytes_network), (8, 24));
    assert!(
        found.operation.starts_with("fence") && found.operation.contains("activity_tests.rs:"),
        "{}",
        found.operation
    );
}

#[test]
fn moves_beyond_the_limit_are_counted() {
    let found = result_of_rank_0(2, |world| {
        let chunks = MOST_MOVES as u64 + 10;
        let many = world.array::<u32, 1>("many", &Layout::new([chunks]).split([Split::Even(chunks as usize)]))?;
        let one = world.array::<u32, 1>("one", &Layout::new([chunks]))?;
        world.copy(many.at(..), one.at(..))?;
        gather_moves(world)
    });
    let moves_of = |rank: u32| found.moves.iter().filter(|moved| moved.from.2 == rank).count();
    assert_eq!(found.count, MOST_MOVES as u64 + 10);
    assert_eq!((moves_of(0), moves_of(1)), (MOST_MOVES / 2, MOST_MOVES / 2));
    assert_eq!(found.bytes_local + found.bytes_network, 4 * found.count);
}

#[test]
fn consecutive_timelines_have_each_span_once() {
    let parts: Vec<Timeline> = run_with(Config::apart(3), |world| {
        let line = three_chunk_array(world)?;
        // The first call makes the ranks keep spans, so it returns none.
        let mut parts: Vec<Timeline> = gather_timeline(world, 0, u64::MAX)?.into_iter().collect();
        for _ in 0..3 {
            world.ghosts(&line)?;
            let since = world.group().broadcast(0, parts.last().map(|part| crate::transport::copied(&[part.until])))?;
            let since = crate::transport::values::<u64>(&since)?[0];
            parts.extend(gather_timeline(world, since, u64::MAX)?);
        }
        parts.extend(gather_timeline(world, 0, u64::MAX)?);
        parts.extend(gather_timeline(world, u64::MAX, u64::MAX)?);
        Ok(parts)
    })
    .unwrap()
    .swap_remove(0);
    let [first, between @ .., all, none] = &parts[..] else { panic!("{} parts", parts.len()) };
    assert!(first.ranks.len() == 3 && none.ranks.iter().all(Vec::is_empty));
    for rank in 0..3 {
        let mut found: Vec<_> = between.iter().flat_map(|part| part.ranks[rank].clone()).collect();
        let last = between.last().unwrap().until;
        let mut expected = all.ranks[rank].clone();
        expected.retain(|span| span.start + span.length > first.until && span.start + span.length <= last);
        let key =
            |span: &zippy_protocol::Span| (span.start, span.start + span.length, span.kind as u8, span.what.clone());
        found.sort_by_key(key);
        expected.sort_by_key(key);
        assert_eq!(found, expected, "rank {rank}");
        let updates = found.iter().filter(|span| span.kind == SpanKind::Unpack && span.what.contains("line")).count();
        assert!(updates >= 2, "rank {rank} has {found:?}");
        assert!(all.ranks[rank].is_sorted_by_key(|span| span.start));
        assert!(found.iter().all(|span| span.peer.is_none_or(|peer| peer < 3 && peer as usize != rank)));
    }
}
