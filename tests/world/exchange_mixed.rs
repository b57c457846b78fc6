//! Copies, composites, ghost updates and prefixes in one exchange: all sources are read before the
//! first write, and the entries apply in order.

use zippy::{Exchange, GlobalArray, Layout, Moved, Operator, Result, Split, World};

use crate::support::cells::{code, expect};
use crate::support::{RANKS, ranks};

zippy_testing::in_place_too!();

const SHAPE: [i64; 2] = [12, 10];

fn array(world: &World, name: &str, of: u64, split: [i64; 2]) -> Result<GlobalArray<u32, 2>> {
    let layout = Layout::new(SHAPE).split(split.map(|n| Split::Even(n as usize))).ghost([1, 2]).periodic([true, false]);
    let array = world.array(name, &layout)?;
    array.fill(0)?;
    array.fill_with(|at| value(of, at))?;
    Ok(array)
}

fn value(of: u64, at: [i64; 2]) -> u32 {
    code(of, at) as u32 | 1
}

/// All stored cells of an array on this rank, ghost cells included.
fn read_stored_cells(array: &GlobalArray<u32, 2>) -> Result<Vec<Vec<u32>>> {
    array.chunks().map(|chunk| chunk.with_ghosts().read()).collect()
}

/// Each entry reads cells that an earlier entry writes.
#[test]
fn mixed_exchange_reads_all_sources_first() {
    ranks(RANKS, |world| {
        for started in [false, true] {
            let (a, b) = (array(world, "a", 1, [3, 2])?, array(world, "b", 2, [1, 4])?);
            let exchange = Exchange::new()
                .copy(a.at((0..11, ..)), b.at((1..12, ..)))
                .composite(b.at((.., 0..9)), a.at((.., 1..10)), Operator::Add)
                .ghosts(&a)
                .copy(b.at((0..2, 0..2)), b.at((10..12, 8..10)))
                .composite(a.at((0..3, ..)), b.at((9..12, ..)), Operator::Max);
            let planned = world.plan(&exchange)?.moved();
            let moved = if started { world.start(&exchange)?.wait()? } else { world.exchange(&exchange)? };
            assert_eq!(moved, planned);
            expect(&a, &"a", |[x, y]| match y {
                0 => value(1, [x, y]),
                _ => value(1, [x, y]).wrapping_add(value(2, [x, y - 1])),
            })?;
            expect(&b, &"b", |[x, y]| {
                let copied = if x >= 1 { value(1, [x - 1, y]) } else { value(2, [x, y]) };
                let copied = if x >= 10 && y >= 8 { value(2, [x - 10, y - 8]) } else { copied };
                if x >= 9 { copied.max(value(1, [x - 9, y])) } else { copied }
            })?;
            for chunk in a.chunks() {
                let (own, all) = (chunk.region(), chunk.with_ghosts());
                for (at, found) in all.region()?.points().zip(all.read()?) {
                    if !own.contains(&at) {
                        let inside = (0..SHAPE[1]).contains(&at[1]);
                        let expected = if inside { value(1, [at[0].rem_euclid(SHAPE[0]), at[1]]) } else { 0 };
                        assert_eq!(found, expected, "ghost {at:?}: what its owner had before");
                    }
                }
            }
        }
        Ok(())
    });
}

#[test]
fn exchange_moves_different_element_types_and_axis_orders() {
    ranks(RANKS, |world| {
        let (n, turned) = (Layout::new([7, 4]).split([Split::Even(3), Split::Whole]), Layout::new([4, 7]));
        let turned = turned.split([Split::Even(2), Split::Even(2)]);
        let (a, b) = (world.array::<f32, 2>("a", &n)?, world.array::<f32, 2>("b", &turned)?);
        let (c, d) = (world.array::<u16, 2>("c", &n)?, world.array::<u16, 2>("d", &n)?);
        let e = world.array::<[i32; 2], 1>("e", &Layout::new([9]).split([Split::Even(2)]))?;
        a.fill_with(|[x, y]| (x + 10 * y) as f32)?;
        b.fill(1.0)?;
        c.fill_with(|[x, y]| (x + 10 * y) as u16)?;
        e.fill_with(|[x]| [x as i32, -x as i32])?;
        let exchange = Exchange::new()
            .composite(a.at(..), b.at(..), Operator::Add)
            .permuted([1, 0])
            .copies([(c.at((0..3, ..)), d.at((4..7, ..))), (c.at((3..7, ..)), d.at((0..4, ..)))])
            .copy(e.at(0..4), e.at(5..9));
        world.exchange(&exchange)?;
        expect(&b, &"turned and added", |[x, y]| (1 + y + 10 * x) as f32)?;
        expect(&d, &"changed places", |[x, y]| (if x >= 4 { x - 4 } else { x + 3 } + 10 * y) as u16)?;
        expect(&e, &"moved", |[x]| if x >= 5 { [x as i32 - 5, 5 - x as i32] } else { [x as i32, -x as i32] })
    });
}

/// Records of two modules with equal names and sizes.
mod whole {
    #[derive(Debug, Clone, Copy, PartialEq, zippy::Element)]
    #[repr(C)]
    pub(crate) struct Cell {
        pub v: u32,
    }
}

mod fraction {
    #[derive(Debug, Clone, Copy, PartialEq, zippy::Element)]
    #[repr(C)]
    pub(crate) struct Cell {
        pub v: f32,
    }
}

#[test]
fn records_of_same_name_have_separate_transfers() {
    ranks(RANKS, |world| {
        let layout = Layout::new([9]).split([Split::Even(2)]);
        let add = || Operator::custom("add_v", "fn combine(src: T, dst: T) -> T { return T(src.v + dst.v); }");
        let (a, b) = (world.array::<fraction::Cell, 1>("a", &layout)?, world.array::<fraction::Cell, 1>("b", &layout)?);
        let (c, d) = (world.array::<whole::Cell, 1>("c", &layout)?, world.array::<whole::Cell, 1>("d", &layout)?);
        a.fill_with(|[x]| fraction::Cell { v: x as f32 + 0.5 })?;
        b.fill(fraction::Cell { v: 1.0 })?;
        c.fill_with(|[x]| whole::Cell { v: 1_000_000_000 + x as u32 })?;
        d.fill(whole::Cell { v: 1_000_000_000 })?;
        world.composite(a.at(0..8), b.at(1..9), add())?;
        world.composite(c.at(0..8), d.at(1..9), add())?;
        let both = Exchange::new().composite(a.at(0..8), b.at(1..9), add()).composite(c.at(0..8), d.at(1..9), add());
        world.exchange(both)?;
        let whole = |x: i64| if x > 0 { 3_000_000_000 + 2 * (x - 1) as u32 } else { 1_000_000_000 };
        expect(&b, &"fractions", |[x]| fraction::Cell { v: if x > 0 { 2.0 * x as f32 } else { 1.0 } })?;
        expect(&d, &"whole", |[x]| whole::Cell { v: whole(x) })
    });
}

/// Ghost update and reverse ghost update with component lists in one message, as in an in-place
/// lattice Boltzmann step.
#[test]
fn components_of_array_move_in_both_directions() {
    ranks(RANKS, |world| {
        let layout = Layout::new([8, 4]).split([Split::Even(4), Split::Whole]).ghost([1, 0]).periodic([true, false]);
        let (f, g) = (world.array::<u32, 2>("f", &layout)?, world.array::<u32, 2>("g", &layout)?);
        for array in [&f, &g] {
            for chunk in array.chunks() {
                let all = chunk.with_ghosts();
                let values: Vec<u32> = all.region()?.points().map(|p| value(chunk.id() as u64, [p[0], p[1]])).collect();
                all.write(&values)?;
            }
        }
        let forward = |side: &[i8]| if side[0] > 0 { vec![0] } else { vec![1] };
        let back = |side: &[i8]| if side[0] > 0 { vec![3] } else { vec![2] };
        let alone = world.exchange(Exchange::new().ghosts(&f).components(1, forward))?;
        world.exchange(Exchange::new().ghosts(&f).reverse().components(1, back))?;
        let both = Exchange::new().ghosts(&g).components(1, forward).ghosts(&g).reverse().components(1, back);
        let moved = world.exchange(&both)?;
        assert_eq!(moved.messages, alone.messages, "one message a neighbour, for both ways");
        assert_eq!(moved.bytes_network, 2 * alone.bytes_network);
        assert_eq!(read_stored_cells(&f)?, read_stored_cells(&g)?);
        Ok(())
    });
}

#[test]
fn every_ghost_update_has_its_own_direction() {
    ranks(RANKS, |world| {
        let line = Layout::new([6]).split([Split::Even(3)]).ghost([1]).periodic([true]);
        let make = |name: &str| {
            let array = world.array::<u32, 1>(name, &line)?;
            for chunk in array.chunks() {
                let all = chunk.with_ghosts();
                // Ghost cells have values from 100, by chunk and side.
                let own = chunk.region();
                let at = |p: zippy::extents::Index| {
                    if own.contains(&p) {
                        p[0] as u32
                    } else {
                        100 + 10 * chunk.id() as u32 + u32::from(p[0] > own.start[0])
                    }
                };
                all.write(&all.region()?.points().map(at).collect::<Vec<_>>())?;
            }
            Ok::<_, zippy::Error>(array)
        };
        let (a, b, c, d) = (make("a")?, make("b")?, make("c")?, make("d")?);
        let all = Exchange::new().ghosts(&a).reverse_with(Operator::Add).ghosts(&b).reverse();
        let all = all.ghosts(&c).ghosts(&d).reverse_with(Operator::Max);
        // Each cell of these arrays is read by one direction and written by the other.
        let (e, f, g) = (make("e")?, make("f")?, make("g")?);
        let all = all.ghosts(&e).ghosts(&e).reverse_with(Operator::Add).ghosts(&f).reverse().ghosts(&f);
        world.start(all)?.wait()?;
        world.exchange(Exchange::new().ghosts(&g).ghosts(&g).reverse_with(Operator::Add))?;
        // A chunk has two cells: the lower one is the upper ghost cell of the previous chunk, and
        // the upper one is the lower ghost cell of the next chunk.
        let ghost =
            |x: i64| if x % 2 == 0 { 101 + 10 * ((x / 2 + 2) % 3) } else { 100 + 10 * ((x / 2 + 1) % 3) } as u32;
        expect(&a, &"added", |[x]| x as u32 + ghost(x))?;
        expect(&b, &"replaced", |[x]| ghost(x))?;
        expect(&d, &"larger", |[x]| ghost(x))?;
        expect(&c, &"owners", |[x]| x as u32)?;
        expect(&e, &"both ways", |[x]| x as u32 + ghost(x))?;
        expect(&f, &"both ways, replaced", |[x]| ghost(x))?;
        expect(&g, &"both ways, at once", |[x]| x as u32 + ghost(x))?;
        for chunk in [&c, &e, &f, &g].into_iter().flat_map(|array| array.chunks()) {
            let start = chunk.region().start[0];
            let ring = |x: i64| x.rem_euclid(6) as u32;
            let all = chunk.with_ghosts().read()?;
            assert_eq!([all[0], all[3]], [start - 1, start + 2].map(ring), "what the owners had before");
        }
        Ok(())
    });
}

/// A cell has ghost copies in both neighbouring chunks: the values of the reverse update apply in
/// order.
#[test]
fn cell_with_two_ghost_copies_combines_both_in_order() {
    ranks(RANKS, |world| {
        let layout = Layout::new([3]).split([Split::Even(3)]).ghost([1]).periodic([true]);
        let array = world.array::<u32, 1>("array", &layout)?;
        for chunk in array.chunks() {
            let at = 10 * chunk.id() as u32;
            chunk.with_ghosts().write(&[at + 1, at, at + 2])?;
        }
        world.exchange(Exchange::new().ghosts(&array).ghosts(&array).reverse_with(Operator::Max))?;
        for chunk in array.chunks() {
            let (own, before, behind) = (chunk.id() as u32, (chunk.id() as u32 + 2) % 3, (chunk.id() as u32 + 1) % 3);
            // The cell is the upper ghost cell of the previous chunk and the lower ghost cell of
            // the next chunk.
            let largest = (10 * own).max(10 * before + 2).max(10 * behind + 1);
            assert_eq!(chunk.with_ghosts().read()?, [10 * before, largest, 10 * behind]);
        }
        Ok(())
    });
}

#[test]
fn prefixes_share_exchange_with_other_entries() {
    ranks(RANKS, |world| {
        let line = Layout::new([12]).split([Split::Even(4)]);
        let (a, b) = (world.array::<u32, 1>("a", &line)?, world.array::<u32, 1>("b", &line)?);
        for started in [false, true] {
            a.fill_with(|[x]| 100 + x as u32)?;
            b.fill(0)?;
            let own = |at: i64, length: u64| {
                let owner = a.placement().to_local(&[at].into()).expect("inside").owner.rank;
                if owner == world.rank() { length } else { 7777 }
            };
            let exchange = Exchange::new()
                .copy(a.at(0..6), b.at(6..12))
                .prefix(a.at(9..12), b.at(0..3), own(9, 2))
                .prefix(a.at(0..3), b.at(6..9), own(0, 0))
                .composite(a.at(0..2), b.at(0..2), Operator::Add);
            let moved = if started { world.start(&exchange)?.wait()? } else { world.exchange(&exchange)? };
            let most = world.plan(&exchange)?.moved();
            assert!(moved.bytes_local <= most.bytes_local && moved.bytes_network <= most.bytes_network);
            let expected = [109 + 100, 110 + 101, 0, 0, 0, 0, 100, 101, 102, 103, 104, 105];
            expect(&b, &"prefixes", |[x]| expected[x as usize])?;
        }
        Ok(())
    });
}

#[test]
fn misplaced_modifier_is_refused() {
    ranks(&[1, 2], |world| {
        let array = array(world, "array", 3, [2, 2])?;
        let fails = |exchange: Exchange, expected: &str| {
            for error in [world.exchange(&exchange).unwrap_err(), world.plan(&exchange).unwrap_err()] {
                assert_eq!(error.kind().to_string(), expected);
            }
            assert!(world.start(&exchange).is_err());
        };
        let copy = || Exchange::new().copy(array.at((0..2, ..)), array.at((2..4, ..)));
        fails(Exchange::new().reverse(), "reverse must directly follow a ghost update");
        fails(copy().faces_only(), "faces_only must directly follow a ghost update");
        fails(Exchange::new().ghosts(&array).permuted([1, 0]), "permuted must directly follow a copy or a composite");
        // An option after an entry without pairs refers to this entry.
        let none: [(zippy::array::GlobalSection<u32, 2>, zippy::array::GlobalSection<u32, 2>); 0] = [];
        fails(
            Exchange::new().ghosts(&array).copies(none.clone()).reverse(),
            "reverse must directly follow a ghost update",
        );
        world.exchange(copy().copies(none).permuted([1, 0]))?;
        // The first mistake is reported.
        fails(
            copy().faces_only().copy(array.at((0..99, ..)), array.at(..)),
            "faces_only must directly follow a ghost update",
        );
        assert_eq!(world.exchange(Exchange::new())?, Moved::default());
        assert_eq!(world.plan(Exchange::new())?.explain(), "");
        world.exchange(copy()).map(drop)
    });
}
