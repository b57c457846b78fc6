//! Operations larger than the message limit: several messages per pair of ranks, in the order of
//! the rounds.

use zippy::{Exchange, Layout, Operator, Result, Split, World};

use crate::support::cells::{code, cuts, expect};
use crate::support::{RANKS, ranks};

/// Two of four ranks send in two rounds and receive in the second. Neither may wait for the other's
/// second message before it has sent its first one.
fn check_rounds_of_different_length(world: &World) -> Result<()> {
    const PART: i64 = 40;
    let layout = Layout::new([4 * PART]).split([Split::Even(4)]);
    let (from, onto) = (world.array::<u32, 1>("from", &layout)?, world.array::<u32, 1>("onto", &layout)?);
    from.fill_with(|[x]| 1 + x as u32)?;
    let pairs =
        [(0..30, PART), (30..31, 2 * PART), (2 * PART..2 * PART + 30, 3 * PART), (2 * PART + 30..2 * PART + 31, 0)];
    let all = pairs.clone().map(|(cells, to)| (from.at(cells.clone()), onto.at(to..to + cells.end - cells.start)));
    world.exchange(Exchange::new().copies(all))?;
    expect(&onto, &"pairs", |[x]| {
        let of = pairs.iter().find(|(cells, to)| (*to..*to + cells.end - cells.start).contains(&x));
        of.map_or(0, |(cells, to)| 1 + (cells.start + x - to) as u32)
    })
}

/// Checks a ghost update in a grid, whose inner ranks send more messages than the ranks at its
/// corners.
fn check_ghost_update_in_grid(world: &World) -> Result<()> {
    let layout = Layout::new([9, 9]).split([Split::Even(3), Split::Even(3)]).ghost([1, 1]);
    let array = world.array::<u32, 2>("array", &layout)?;
    array.fill(0)?;
    array.fill_with(|at| code(1, at) as u32)?;
    world.ghosts(&array)?;
    for chunk in array.chunks() {
        let all = chunk.with_ghosts();
        for (at, found) in all.region()?.points().zip(all.read()?) {
            let inside = (0..9).contains(&at[0]) && (0..9).contains(&at[1]);
            assert_eq!(found, if inside { code(1, [at[0], at[1]]) as u32 } else { 0 }, "{at:?}");
        }
    }
    Ok(())
}

fn check_copies_between_layouts(world: &World) -> Result<()> {
    const SHAPE: [i64; 2] = [13, 9];
    let names = |_: usize, of: &str, name: &str| format!("{of} {name}");
    for (n, from) in cuts(SHAPE, world.size()).into_iter().enumerate() {
        let source = from.array::<u32, 2>(world, &names(n, "from", from.name))?;
        source.fill_with(|at| code(2, at) as u32)?;
        for to in cuts(SHAPE, world.size()) {
            let array = to.array::<u32, 2>(world, &names(n, "to", to.name))?;
            array.fill_with(|at| code(3, at) as u32)?;
            let exchange = Exchange::new().copy(source.at((0..11, ..)), array.at((2..13, ..))).composite(
                source.at((.., 0..4)),
                array.at((.., 5..9)),
                Operator::Max,
            );
            world.exchange(&exchange)?;
            expect(&array, &format!("{} to {}", from.name, to.name), |[x, y]| {
                let copied = if x >= 2 { code(2, [x - 2, y]) } else { code(3, [x, y]) } as u32;
                if y >= 5 { copied.max(code(2, [x, y - 5]) as u32) } else { copied }
            })?;
        }
    }
    Ok(())
}

fn all() {
    ranks(&[4], check_rounds_of_different_length);
    ranks(&[4, 9], check_ghost_update_in_grid);
    ranks(RANKS, check_copies_between_layouts);
}

zippy_testing::with_variables! {
    messages_of_a_few_cells, [("ZIPPY_MESSAGE", "12")], all
}

zippy_testing::with_variables! {
    messages_of_a_few_rows, [("ZIPPY_MESSAGE", "100")], all
}
