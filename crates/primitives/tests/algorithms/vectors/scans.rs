//! Tests of scans and reductions of vectors with any layout.

use zippy::{Config, Element, GlobalArray, Layout, LocalArray, Operator, Result, Split, World, run_with};
use zippy_primitives::Primitives;
use zippy_primitives::scan::VectorCombination;

use super::{PAIRS, Spread, all, cell_bytes, vector};
use crate::algorithms::scan::Definition;
use crate::algorithms::sequences::pseudo_random_number;
use crate::support;

fn compare_with_definition<T: Element>(
    world: &World,
    values: &[T],
    first: T,
    operator: &Operator,
    definition: fn(T, T) -> T,
    spreads: &[(Spread, Spread)],
) -> Result<()> {
    let n = values.len();
    let flags: Vec<u32> = (0..n).map(|i| u32::from(pseudo_random_number(i + 7).is_multiple_of(900))).collect();
    let keys: Vec<i32> = (0..n).map(|i| (i / 1500) as i32 / 2).collect();
    let by_flag: Vec<bool> = flags.iter().map(|&flag| flag != 0).collect();
    let by_key: Vec<bool> = (0..n).map(|i| i == 0 || keys[i] != keys[i - 1]).collect();
    let none = vec![false; n];
    let on = world.vectors();
    for &(spread, other) in spreads {
        let label = format!("{} of {n} {}, {spread:?} and {other:?}", operator.name(), T::INFO.name);
        let x = vector(world, "x", values, spread)?;
        let y = vector(world, "y", &vec![T::zeroed(); n], other)?;
        let flags = vector(world, "flags", &flags, other)?;
        let keys = vector(world, "keys", &keys, spread)?;
        for heads in [&none, &by_flag, &by_key] {
            let (cells, whole) = Definition { values, heads, operator: definition }.scan();
            let inclusive: Vec<T> = cells.iter().map(|(_, all)| all.unwrap().0).collect();
            let exclusive: Vec<T> = (cells.iter().zip(heads))
                .map(|((last, _), head)| last.filter(|_| !head).map_or(first, |(last, _)| definition(first, last)))
                .collect();
            let z = vector(world, "z", values, spread)?;
            if std::ptr::eq(heads, &none) {
                let found = on.combine(&x, operator).reduce()?;
                assert!(
                    found.map(|all| cell_bytes(&[all]).to_vec()) == whole.map(|(all, _)| cell_bytes(&[all]).to_vec()),
                    "{label}"
                );
                on.combine(&x, operator).inclusive_scan(&y)?;
                on.combine(&z, operator).exclusive_scan(&z, first)?;
            } else if std::ptr::eq(heads, &by_flag) {
                on.combine(&x, operator).by_flag(&flags).inclusive_scan(&y)?;
                on.combine(&z, operator).by_flag(&flags).exclusive_scan(&z, first)?;
            } else {
                on.combine(&x, operator).by_key(&keys).inclusive_scan(&y)?;
                on.combine(&z, operator).by_key(&keys).exclusive_scan(&z, first)?;
            }
            assert!(cell_bytes(&all(world, &y)?) == cell_bytes(&inclusive), "inclusive {label}");
            assert!(cell_bytes(&all(world, &z)?) == cell_bytes(&exclusive), "exclusive {label}");
        }
    }
    Ok(())
}

#[test]
fn scans_of_integers() {
    support::ranks(support::RANKS, |world| {
        for (n, pairs) in [(0, 0..4), (1, 1..2), (7, 0..2), (2048, 3..4), (9000, 1..4)] {
            let values: Vec<u32> = (0..n).map(pseudo_random_number).collect();
            compare_with_definition(world, &values, 5, &Operator::Add, u32::wrapping_add, &PAIRS[pairs])?;
        }
        Ok(())
    });
}

#[test]
fn scans_of_floats_do_not_depend_on_cuts() {
    support::ranks(support::RANKS, |world| {
        for (n, pairs) in [(100, 1..2), (9000, 0..4)] {
            let values: Vec<f32> = (0..n).map(|i| pseudo_random_number(i) as f32 / 7.0 - 1e8).collect();
            compare_with_definition(world, &values, 0.1, &Operator::Add, |a, b| a + b, &PAIRS[pairs])?;
        }
        Ok(())
    });
}

#[test]
fn scans_with_operators_that_do_not_commute() {
    support::ranks(support::RANKS, |world| {
        let after = Operator::custom(
            "after",
            "fn combine(f: vec2<u32>, g: vec2<u32>) -> vec2<u32> { return vec2(f.x * g.x, f.y * g.x + g.y); }",
        );
        let values: Vec<[u32; 2]> = (0..9000).map(|i| [pseudo_random_number(i) | 1, i as u32]).collect();
        let definition =
            |f: [u32; 2], g: [u32; 2]| [f[0].wrapping_mul(g[0]), f[1].wrapping_mul(g[0]).wrapping_add(g[1])];
        compare_with_definition(world, &values, [3, 4], &after, definition, &PAIRS[1..3])
    });
}

#[test]
fn scans_with_output_over_input_equal_definition() {
    support::ranks(&[1, 2], |world| {
        for operator in [Operator::Add, Operator::custom("sum", "fn combine(a: u32, b: u32) -> u32 { return a + b; }")]
        {
            let x = world.array::<u32, 1>("x", &Layout::new([12]).split([Split::Even(3)]))?;
            x.fill_with(|[i]| i as u32 + 1)?;
            world.vectors().combine(x.at(0..8), &operator).inclusive_scan(x.at(4..12))?;
            assert_eq!(all(world, &x)?, [1, 2, 3, 4, 1, 3, 6, 10, 15, 21, 28, 36], "{operator}");
        }
        let x = vector(world, "x", &[3_u32, 1, 2, 5], Spread::Auto)?;
        let error = world.vectors().sort_pairs(&x, &x).unwrap_err().to_string();
        assert!(error.contains("may have cells in common"), "{error}");
        assert_eq!(all(world, &x)?, [3, 1, 2, 5], "the world is as good as before");
        Ok(())
    });
}

#[test]
fn mistakes_are_the_same_on_all_ranks() {
    support::ranks(&[1, 3], |world| {
        let x = vector(world, "x", &[1_u32, 2, 3], Spread::Auto)?;
        let y = vector(world, "y", &[1_u32, 2], Spread::Auto)?;
        let error = world.vectors().combine(&x, &Operator::Add).inclusive_scan(&y).unwrap_err().to_string();
        assert!(error.contains("the output has 2 cells") && error.contains("has 3"), "{error}");
        let wrong = Operator::custom("wrong", "fn combine(a: u32, b: u32) -> f32 { return 1.0; }");
        assert!(world.vectors().combine(&x, &wrong).reduce().is_err());
        assert_eq!(world.vectors().combine(&x, &Operator::Add).reduce()?, Some(6), "the world is as good as before");
        Ok(())
    });
}

/// Asserts that a program with calls that differ between two ranks ends the run.
fn assert_ends_run(program: impl Fn(&World, &GlobalArray<u32, 1>, &GlobalArray<u32, 1>) -> Result<()> + Sync) {
    let error = run_with(Config::threads(2), |world| {
        let x = vector(world, "x", &[1_u32, 2, 3], Spread::Auto)?;
        program(world, &x, &vector(world, "y", &[0_u32; 3], Spread::Auto)?)
    });
    let error = error.unwrap_err().to_string();
    assert!(error.contains("collective calls differ"), "{error}");
}

/// The test has every way in which two scans of the same vectors can differ.
#[test]
fn scans_that_differ_between_ranks_end_the_run() {
    if support::launcher::size().is_some() {
        return; // the run of a launcher can end only once
    }
    type Scan = fn(VectorCombination<'_, u32>, &GlobalArray<u32, 1>) -> Result<()>;
    let scans: [Scan; 7] = [
        |x, _| x.reduce().map(drop),
        |x, y| x.inclusive_scan(y),
        |x, y| x.exclusive_scan(y, 0),
        |x, y| x.exclusive_scan(y, 1),
        |x, y| x.by_flag(y).inclusive_scan(y),
        |x, y| x.by_key(y).inclusive_scan(y),
        |x, y| x.by_key(y).exclusive_scan(y, 0),
    ];
    for (index, scan) in scans.iter().enumerate() {
        for other in &scans[..index] {
            assert_ends_run(|world, x, y| {
                let scan = if world.rank() == 0 { scan } else { other };
                scan(world.vectors().combine(x, &Operator::Add), y)
            });
        }
    }
    assert_ends_run(|world, x, y| {
        let operator = if world.rank() == 0 { Operator::Add } else { Operator::Max };
        world.vectors().combine(x, &operator).inclusive_scan(y)
    });
    assert_ends_run(|world, x, y| {
        let expression = if world.rank() == 0 { "x + 1u" } else { "x + 2u" };
        world.vectors().combine_mapped(x, expression, &Operator::Add).inclusive_scan(y)
    });
}

/// Segments are defined for transformed cells, on one rank and on all ranks.
#[test]
fn segments_of_expressions_are_combined() {
    support::ranks(&[1, 3], |world| {
        let (values, flags) = ([1_u8, 2, 3, 4, 5, 6], [0_u32, 0, 7, 0, 0, 1]);
        let (x, of) = (vector(world, "x", &values, Spread::Auto)?, vector(world, "flags", &flags, Spread::Auto)?);
        let sums = vector(world, "sums", &[0_u32; 6], Spread::Auto)?;
        let squares = || world.vectors().combine_mapped(&x, "x * x", &Operator::Add);
        squares().by_flag(&of).inclusive_scan(&sums)?;
        assert_eq!(all(world, &sums)?, [1, 5, 9, 25, 50, 36]);
        let reduced: GlobalArray<u32, 1> = squares().by_flag(&of).reduce_segments("reduced")?;
        assert_eq!(all(world, &reduced)?, [5, 50, 36]);
        let (runs, reduced) = squares().by_key(&of).reduce_runs("runs", "reduced by key")?;
        assert_eq!((all(world, &runs)?, all::<u32>(world, &reduced)?), (vec![0, 7, 0, 1], vec![5, 9, 41, 36]));
        let local = |name, cells: &[u32]| -> Result<LocalArray<u32, 1>> {
            let array = world.local_array(name, &Layout::new([cells.len() as i64]))?;
            array.all().write(cells)?;
            Ok(array)
        };
        let (x, of) = (local("own", &[1, 2, 3, 4, 5, 6])?, local("own flags", &flags)?);
        let (runs, sums) = (local("own runs", &[0; 6])?, local("own sums", &[0; 6])?);
        let squares = || world.on_rank().combine_mapped::<u32, u32>(&x, "x * x", &Operator::Add);
        assert_eq!(squares().by_flag(&of).reduce_segments(&sums)?, 3);
        assert_eq!(sums.at(..3).read()?, [5, 50, 36]);
        assert_eq!(squares().by_key(&of).reduce_runs(&runs, &sums)?, 4);
        assert_eq!((runs.at(..4).read()?, sums.at(..4).read()?), (vec![0, 7, 0, 1], vec![5, 9, 41, 36]));
        Ok(())
    });
}

#[test]
fn scans_of_expressions_of_cells() {
    support::ranks(&[1, 3, 5], |world| {
        for n in [0_usize, 1, 5000] {
            let bytes: Vec<u8> = (0..n).map(|i| pseudo_random_number(i) as u8).collect();
            let (mut before, mut scanned, mut exclusive) = (0_u32, Vec::new(), Vec::new());
            for byte in &bytes {
                exclusive.push(before + 7);
                before += u32::from(*byte) * 3;
                scanned.push(before);
            }
            for (spread, other) in PAIRS {
                let (x, y) = (vector(world, "x", &bytes, spread)?, vector(world, "y", &scanned, other)?);
                y.fill(0)?;
                let on = world.vectors();
                let all_of = on.combine_mapped::<u8, u32>(&x, "3u * x", &Operator::Add).reduce()?;
                assert_eq!(all_of, (n > 0).then_some(before), "{n}, {spread:?}");
                on.combine_mapped(&x, "3u * x", &Operator::Add).inclusive_scan(&y)?;
                assert_eq!(all(world, &y)?, scanned, "{n}, {spread:?}");
                on.combine_mapped(&x, "3u * x", &Operator::Add).exclusive_scan(&y, 7)?;
                assert_eq!(all(world, &y)?, exclusive, "{n}, {spread:?}");
                // In place.
                let z = vector(world, "z", &scanned, spread)?;
                on.combine_mapped(&z, "x / 3u", &Operator::Max).inclusive_scan(&z)?;
                assert!(all(world, &z)?.into_iter().eq(scanned.iter().map(|sum| sum / 3)), "{n}, {spread:?}");
            }
        }
        let x = vector(world, "x", &[1_u32, 2], Spread::Auto)?;
        let error = world.vectors().combine_mapped::<u32, u32>(&x, "x +", &Operator::Add).reduce().unwrap_err();
        assert!(error.to_string().contains("transform \"x +\""), "{error}");
        Ok(())
    });
}
