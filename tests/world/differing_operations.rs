//! Calls of an operation with different arguments on different ranks: for every argument, all ranks
//! get an error with both calls.

use zippy::Exchange;
use zippy::array::GlobalSection;
use zippy::error::ErrorKind;
use zippy::{Config, Error, GlobalArray, Layout, Operator, Result, Split, World, run_with};

use crate::support::launcher;

/// Two arrays of the same shape in four chunks, and a re-arranged handle of the second array.
struct Arrays {
    a: GlobalArray<f32, 2>,
    b: GlobalArray<f32, 2>,
    turned: GlobalArray<f32, 2>,
}

impl Arrays {
    fn new(world: &World) -> Result<Self> {
        let layout = Layout::new([8, 8]).split([Split::Whole, Split::Even(4)]).ghost([0, 1]).periodic([false, true]);
        let (a, b) = (world.array("a", &layout)?, world.array("b", &layout)?);
        let turned = b.reassigned(&[1, 2, 3, 0])?;
        Ok(Self { a, b, turned })
    }

    /// Ghost update across the faces of axis 1 with a list of components along axis 0.
    fn listed(&self, list: &'static [usize]) -> Exchange {
        Exchange::new().ghosts(&self.a).components(0, |_| list.to_vec())
    }

    /// Copies of two columns of the first array to two columns of the second, which start at
    /// `starts`.
    fn pairs(&self, starts: [i64; 2]) -> Vec<(GlobalSection<f32, 2>, GlobalSection<f32, 2>)> {
        starts.map(|x| (self.a.at((x..x + 2, ..)), self.b.at((0..2, ..)))).into()
    }
}

type Call = fn(&World, &Arrays) -> Result<()>;

/// Checks the error of each rank, which names both calls: rank `odd` calls `other`, and all other
/// ranks call `usual`.
fn check_error_of_differing_calls(usual: Call, other: Call, usual_text: &str, other_text: &str) {
    for ranks in launcher::counts(&[2, 3]) {
        for odd in 0..ranks {
            let result = run_with(Config::threads(ranks).check(true), |world| {
                let arrays = Arrays::new(world)?;
                let error =
                    if world.rank() == odd { other(world, &arrays) } else { usual(world, &arrays) }.unwrap_err();
                let ErrorKind::Differing { rank, call, other_rank, other_call } = error.kind() else {
                    panic!("{error}")
                };
                assert!(*rank == odd || *other_rank == odd, "odd is {odd}: {error}");
                for (rank, call) in [(*rank, call), (*other_rank, other_call)] {
                    assert_eq!(call, if rank == odd { other_text } else { usual_text }, "odd is {odd}");
                }
                Err::<(), _>(error)
            });
            assert!(matches!(result.as_ref().map_err(Error::kind), Err(ErrorKind::Differing { .. })), "{result:?}");
            // Without the comparison before each call, the next message or the end of the run
            // reveals the difference.
            let result = run_with(Config::threads(ranks).check(false), |world| {
                let arrays = Arrays::new(world)?;
                if world.rank() == odd { other(world, &arrays) } else { usual(world, &arrays) }
            });
            let Err(ErrorKind::Differing { rank, call, other_rank, other_call }) = result.as_ref().map_err(Error::kind)
            else {
                panic!("{result:?}")
            };
            assert!(*rank == odd || *other_rank == odd, "odd is {odd}: {rank}, {other_rank}");
            for (rank, call) in [(rank, call), (other_rank, other_call)] {
                assert_eq!(call, if *rank == odd { other_text } else { usual_text }, "odd is {odd}");
            }
        }
    }
}

fn copy(world: &World, arrays: &Arrays) -> Result<()> {
    world.copy(arrays.a.at((0..4, ..)), arrays.b.at((0..4, ..))).map(drop)
}

const COPY: &str = "copy(\"a\" [0..4, 0..8] -> \"b\" [0..4, 0..8])";

#[test]
fn different_regions_arrays_and_owners_are_named() {
    check_error_of_differing_calls(
        copy,
        |world, arrays| world.copy(arrays.a.at((0..4, ..)), arrays.b.at((1..5, ..))).map(drop),
        COPY,
        "copy(\"a\" [0..4, 0..8] -> \"b\" [1..5, 0..8])",
    );
    check_error_of_differing_calls(
        copy,
        |world, arrays| world.copy(arrays.b.at((0..4, ..)), arrays.a.at((0..4, ..))).map(drop),
        COPY,
        "copy(\"b\" [0..4, 0..8] -> \"a\" [0..4, 0..8])",
    );
}

#[test]
fn different_orders_of_axes_are_named() {
    check_error_of_differing_calls(
        |world, arrays| {
            world.exchange(Exchange::new().copy(arrays.a.at(..), arrays.b.at(..)).permuted([0, 1])).map(drop)
        },
        |world, arrays| {
            world.exchange(Exchange::new().copy(arrays.a.at(..), arrays.b.at(..)).permuted([1, 0])).map(drop)
        },
        "copy(\"a\" [0..8, 0..8] -> \"b\" [0..8, 0..8], axes [0, 1])",
        "copy(\"a\" [0..8, 0..8] -> \"b\" [0..8, 0..8], axes [1, 0])",
    );
}

#[test]
fn different_operators_are_named() {
    check_error_of_differing_calls(
        |world, arrays| world.composite(arrays.a.at((0..4, ..)), arrays.b.at((0..4, ..)), Operator::Add).map(drop),
        |world, arrays| world.composite(arrays.a.at((0..4, ..)), arrays.b.at((0..4, ..)), Operator::Max).map(drop),
        "composite(\"a\" [0..4, 0..8] -> \"b\" [0..4, 0..8], add)",
        "composite(\"a\" [0..4, 0..8] -> \"b\" [0..4, 0..8], max)",
    );
    check_error_of_differing_calls(
        copy,
        |world, arrays| world.composite(arrays.a.at((0..4, ..)), arrays.b.at((0..4, ..)), Operator::Min).map(drop),
        COPY,
        "composite(\"a\" [0..4, 0..8] -> \"b\" [0..4, 0..8], min)",
    );
}

#[test]
fn ghost_updates_with_different_options_are_named() {
    check_error_of_differing_calls(
        |world, arrays| world.ghosts(&arrays.a).map(drop),
        |world, arrays| world.exchange(Exchange::new().ghosts(&arrays.a).reverse()).map(drop),
        "ghosts(\"a\")",
        "ghosts(\"a\" reverse)",
    );
    check_error_of_differing_calls(
        |world, arrays| world.exchange(Exchange::new().ghosts(&arrays.a).reverse_with(Operator::Add)).map(drop),
        |world, arrays| world.exchange(Exchange::new().ghosts(&arrays.a).ghosts(&arrays.b)).map(drop),
        "ghosts(\"a\" reverse with add)",
        "ghosts(\"a\", \"b\")",
    );
    check_error_of_differing_calls(
        |world, arrays| world.ghosts(&arrays.a).map(drop),
        |world, arrays| world.exchange(Exchange::new().ghosts(&arrays.a).faces_only()).map(drop),
        "ghosts(\"a\")",
        "ghosts(\"a\" faces only)",
    );
}

/// Checks errors that distinguish long arguments by a hash: rank 0 calls `other`, and all other
/// ranks call `usual`.
fn check_hashes_of_differing_calls(usual: Call, other: Call, by: &str) {
    for ranks in launcher::counts(&[2, 3]) {
        for check in [true, false] {
            let result = run_with(Config::threads(ranks).check(check), |world| {
                let arrays = Arrays::new(world)?;
                if world.rank() == 0 { other(world, &arrays) } else { usual(world, &arrays) }
            });
            let Err(ErrorKind::Differing { call, other_call, .. }) = result.as_ref().map_err(Error::kind) else {
                panic!("{result:?}")
            };
            assert_ne!(call, other_call);
            assert!(call.contains(by) && !call.contains("(exchange "), "{call}, {other_call}");
        }
    }
}

#[test]
fn different_lists_and_owners_have_different_hashes() {
    check_hashes_of_differing_calls(
        |world, arrays| world.exchange(arrays.listed(&[0, 3])).map(drop),
        |world, arrays| world.exchange(arrays.listed(&[0, 4])).map(drop),
        "ghosts(\"a\" by components #",
    );
    check_hashes_of_differing_calls(
        |world, arrays| world.copy(arrays.a.at(..), arrays.b.at(..)).map(drop),
        |world, arrays| world.copy(arrays.a.at(..), arrays.turned.at(..)).map(drop),
        ", owners [",
    );
    let by = "composite(2 pairs #";
    fn composite_column(world: &World, arrays: &Arrays, at: [i64; 2], operator: Operator) -> Result<()> {
        world.exchange(Exchange::new().composites(arrays.pairs(at), &operator)).map(drop)
    }
    let usual: Call = |world, arrays| composite_column(world, arrays, [0, 4], Operator::Add);
    check_hashes_of_differing_calls(usual, |world, arrays| composite_column(world, arrays, [0, 5], Operator::Add), by);
    check_hashes_of_differing_calls(usual, |world, arrays| composite_column(world, arrays, [4, 0], Operator::Add), by);
    check_hashes_of_differing_calls(usual, |world, arrays| composite_column(world, arrays, [0, 4], Operator::Max), by);
}

/// Checks the error of a program in which the last rank differs, with and without the comparison
/// before each call. The error must contain `texts` in this order.
fn check_error_of_differing_programs(program: fn(&World, bool) -> Result<()>, texts: [&str; 2]) {
    for ranks in launcher::counts(&[2, 3, 5]) {
        for check in [true, false] {
            let result =
                run_with(Config::threads(ranks).check(check), |world| program(world, world.rank() + 1 == world.size()));
            let Err(ErrorKind::Differing { call, other_rank, other_call, .. }) = result.as_ref().map_err(Error::kind)
            else {
                panic!("{result:?}")
            };
            assert_eq!(*other_rank, ranks - 1, "{result:?}");
            assert!(call.starts_with(texts[0]) && other_call.starts_with(texts[1]), "{call}, {other_call}");
        }
    }
}

#[test]
fn updates_in_different_orders_are_named() {
    check_error_of_differing_programs(
        |world, other| {
            let Arrays { a, b, .. } = Arrays::new(world)?;
            let (first, second) = if other { (&b, &a) } else { (&a, &b) };
            world.ghosts(first)?;
            world.ghosts(second)?;
            Ok(())
        },
        ["ghosts(\"a\")", "ghosts(\"b\")"],
    );
}

#[test]
fn omitted_call_is_named() {
    check_error_of_differing_programs(
        |world, other| {
            let Arrays { a, b, .. } = Arrays::new(world)?;
            if !other {
                world.ghosts(&a)?;
            }
            world.copy(a.at(..), b.at(..))?;
            world.barrier()
        },
        ["ghosts(\"a\")", "copy(\"a\" [0..8, 0..8] -> \"b\" [0..8, 0..8])"],
    );
}

/// Creating an array sends no message; the next message reveals the difference.
#[test]
fn arrays_of_different_types_shapes_or_cuts_are_named() {
    fn layout(shape: [i64; 2], split: Split) -> Layout {
        Layout::new(shape).split([Split::Whole, split]).ghost([1, 1])
    }
    check_error_of_differing_programs(
        |world, other| {
            let layout = layout([8, 8], Split::Even(4));
            if other {
                world.ghosts(&world.array::<f32, 2>("c", &layout)?).map(drop)
            } else {
                world.ghosts(&world.array::<u32, 2>("c", &layout)?).map(drop)
            }
        },
        ["array(\"c\", 8 x 8 of u32)", "array(\"c\", 8 x 8 of f32)"],
    );
    check_error_of_differing_programs(
        |world, other| {
            let shape = if other { [8, 10] } else { [8, 8] };
            world.array::<u32, 2>("c", &layout(shape, Split::Even(4)))?.fill(7)
        },
        ["array(\"c\", 8 x 8 of u32)", "array(\"c\", 8 x 10 of u32)"],
    );
    check_error_of_differing_programs(
        |world, other| {
            let sizes = if other { vec![1, 2, 3, 2] } else { vec![2, 2, 2, 2] };
            world.array::<u32, 2>("c", &layout([8, 8], Split::Sizes(sizes)))?.fill(7)
        },
        [
            "array(\"c\" (u32 of 8 x 8 cut in [8] x [2, 2, 2, 2],",
            "array(\"c\" (u32 of 8 x 8 cut in [8] x [1, 2, 3, 2],",
        ],
    );
}

/// Re-arranging chunks sends no message, either.
#[test]
fn different_rearrangements_are_named() {
    fn turned(world: &World, other: bool) -> Result<GlobalArray<i32, 1>> {
        let array = world.array::<i32, 1>("a", &Layout::new([20]).split([Split::Even(5)]))?;
        array.fill_with(|[x]| x as i32)?;
        array.reassigned(if other { &[1, 2, 3, 4, 0] } else { &[4, 3, 2, 1, 0] })
    }
    let texts = ["reassigned(\"a\" (i32 of 20 cut in [4, 4, 4, 4, 4], owners [", "reassigned(\"a\" (i32 of "];
    check_error_of_differing_programs(|world, other| world.sum(turned(world, other)?.at(0..4)).map(drop), texts);
    check_error_of_differing_programs(
        |world, other| {
            let ticket = world.get(turned(world, other)?.at(0..4))?;
            world.fence()?.redeem(ticket).map(drop)
        },
        texts,
    );
    check_error_of_differing_programs(|world, other| world.fence().and(turned(world, other).map(drop)), texts);
}
