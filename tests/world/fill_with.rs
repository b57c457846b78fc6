//! `fill_with` of chunks: values, and memory of the host.

use zippy::{Element, Layout, Result, Split, World};

use crate::counting::most;
use crate::support;

fn position_code<const D: usize>(p: [i64; D]) -> i64 {
    p.iter().rev().fold(0, |sum, x| 1009 * sum + x)
}

/// Fills an array of 32 MiB in one chunk, and checks some cells and all cells of one line.
fn fill<T: Element + PartialEq + std::fmt::Debug>(world: &World, value: impl Fn(i64) -> T) -> Result<()> {
    let rows = (32 << 20) / 1021 / size_of::<T>() as i64;
    let layout = Layout::new([1021, rows]).split_all(Split::Whole).ghost([1, 0]);
    let array = world.array::<T, 2>("array", &layout)?;
    array.fill_with(|p| value(position_code(p)))?;
    for chunk in array.chunks() {
        let last = chunk.extents()[1] - 1;
        for part in [chunk.at((.., ..3)), chunk.at((.., last)), chunk.at((517, ..))] {
            let cells = part.region()?.points().zip(part.read()?);
            cells.for_each(|(p, got)| assert_eq!(got, value(position_code([p[0], p[1]])), "{p:?}"));
        }
    }
    Ok(())
}

/// A fill is local to its rank.
#[test]
fn chunks_by_driver_are_not_collected_on_the_host() {
    if support::launcher::size().is_some() {
        return;
    }
    support::ranks(&[1], |world| {
        let wide = |world: &World| fill(world, |n| [n as u32, 1, 2, n as u32]);
        // The first fill allocates memory that later fills reuse.
        wide(world)?;
        let mut result = Ok(());
        let grown = most(|| {
            result = fill(world, |n| n as f32)
                .and_then(|()| fill(world, |n| n as i16))
                .and_then(|()| fill(world, |n| n as u8))
                .and_then(|()| wide(world));
        });
        assert!(grown < 16 << 20, "{grown} bytes for chunks of 32 MiB");
        result
    });
}

#[test]
fn fill_in_several_writes_sets_every_cell() {
    fn check<T: Element + PartialEq + std::fmt::Debug>(world: &World, value: impl Fn(i64) -> T) -> Result<()> {
        // Rows longer than one write, with a length that is not a multiple of a word.
        let layout = Layout::new([4_500_001, 2]).split([Split::Even(world.size()), Split::Whole]);
        let array = world.array::<T, 2>("long", &layout)?;
        let mut order = None;
        array.fill_with(|p| {
            assert!(order.replace([p[1], p[0]]).is_none_or(|last| world.size() > 1 || last < [p[1], p[0]]), "in order");
            value(position_code(p))
        })?;
        for chunk in array.chunks() {
            let cells = chunk.region().points().zip(chunk.all().read()?);
            cells.for_each(|(p, got)| assert_eq!(got, value(position_code([p[0], p[1]])), "{p:?}"));
        }
        Ok(())
    }
    support::ranks(&[1, 3], |world| {
        check(world, |n| n as u8)?;
        check(world, |n| n as i16)?;
        check(world, |n| n as f32)
    });
}

/// Checks all cells, ghost cells included, against a plain loop, and the order of the calls: axis 0
/// fastest.
fn check_order_and_cells<T: Element + PartialEq + std::fmt::Debug, const D: usize>(
    world: &World,
    extents: [i64; D],
    value: impl Fn(i64) -> T,
) -> Result<()> {
    let mut splits = [const { Split::Whole }; D];
    splits[D - 1] = Split::Even(world.size() + 1);
    let layout = Layout::new(extents).split(splits).ghost([1; D]);
    let array = world.array::<T, D>("array", &layout)?;
    array.fill(value(-1))?;
    let mut observed = Vec::new();
    array.fill_with(|p| {
        observed.push(p);
        value(position_code(p))
    })?;
    let mut expected = Vec::new();
    for chunk in array.chunks() {
        let (own, whole) = (chunk.region(), chunk.with_ghosts().region()?);
        let mut at: [i64; D] = std::array::from_fn(|axis| whole.start[axis]);
        let mut cells = Vec::new();
        for _ in 0..whole.cells() {
            let inside = (0..D).all(|axis| own.start[axis] <= at[axis] && at[axis] < own.end[axis]);
            cells.push(if inside { value(position_code(at)) } else { value(-1) });
            if inside {
                expected.push(at);
            }
            for (axis, x) in at.iter_mut().enumerate() {
                *x += 1;
                if *x < whole.end[axis] {
                    break;
                }
                *x = whole.start[axis];
            }
        }
        assert!(chunk.with_ghosts().read()? == cells, "{extents:?} of {}", T::INFO.name);
    }
    assert!(observed == expected, "{extents:?} in order");
    Ok(())
}

#[test]
fn fill_visits_rows_of_any_number_of_axes_in_order() {
    fn types<const D: usize>(world: &World, extents: [i64; D]) -> Result<()> {
        check_order_and_cells(world, extents, |n| n as u8)?;
        check_order_and_cells(world, extents, |n| n as u16)?;
        check_order_and_cells(world, extents, |n| [n as f32, 0.5])
    }
    support::ranks(&[1, 3], |world| {
        types(world, [0])?;
        types(world, [1])?;
        types(world, [4099])?;
        types(world, [0, 7])?;
        types(world, [5, 0])?;
        types(world, [1, 33])?;
        types(world, [31, 9, 6])?;
        types(world, [3, 2, 1, 2, 3, 2, 5])
    });
}
