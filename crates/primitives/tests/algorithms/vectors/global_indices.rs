//! Tests of gather and scatter by global index, bounds, histograms, transposition and shifts.

use zippy_primitives::Primitives;

use super::{FEW_SPREAD_PAIRS, Spread, all, vector};
use crate::algorithms::sequences::pseudo_random_number;
use crate::support;

#[test]
fn gather_and_scatter_by_global_index() {
    support::ranks(&[1, 3, 8], |world| {
        for n in [1_usize, 2, 3000] {
            let order: Vec<u32> = (0..n as u32).map(|i| pseudo_random_number(i as usize) % n as u32).collect();
            let reversed: Vec<u32> = (0..n as u32).rev().collect();
            let values: Vec<[u32; 2]> = (0..n).map(|i| [pseudo_random_number(i), i as u32]).collect();
            for (spread, other) in FEW_SPREAD_PAIRS {
                let x = vector(world, "x", &values, spread)?;
                let y = vector(world, "y", &vec![[0; 2]; n], other)?;
                let indices = vector(world, "indices", &order, other)?;
                world.vectors().gather(&x, &indices, &y)?;
                assert!(all(world, &y)?.into_iter().eq(order.iter().map(|&i| values[i as usize])), "{n}, {spread:?}");
                let indices = vector(world, "reversed", &reversed, spread)?;
                world.vectors().scatter(&x, &indices, &y)?;
                assert!(all(world, &y)?.into_iter().eq(values.iter().rev().copied()), "{n}, {spread:?}");
            }
        }
        let x = vector(world, "x", &[1_u32, 2, 3], Spread::Odd)?;
        let indices = vector(world, "indices", &[0_u32, 3, 1], Spread::Auto)?;
        for error in [world.vectors().gather(&x, &indices, &x), world.vectors().scatter(&x, &indices, &x)] {
            let error = error.unwrap_err().to_string();
            assert!(error.contains("index 3 is beyond the 3 cells"), "{error}");
        }
        assert_eq!(all(world, &x)?, [1, 2, 3], "the world is as good as before");
        Ok(())
    });
}

#[test]
fn gather_and_scatter_of_own_cells_and_of_others() {
    fn check<T: zippy::Element + PartialEq>(
        world: &zippy::World,
        n: usize,
        value: fn(usize) -> T,
    ) -> zippy::Result<()> {
        let values: Vec<T> = (0..n).map(value).collect();
        // With equal layouts: only owned cells, some cells of neighbouring ranks, and only cells of
        // other ranks.
        let ways: [fn(usize, usize) -> usize; 3] = [|i, _| i, |i, n| (i + 5) % n, |i, n| (i + n / 2) % n];
        for (spread, other) in
            [(Spread::Auto, Spread::Auto), (Spread::Odd, Spread::Odd), (Spread::Rising, Spread::Auto)]
        {
            for way in ways {
                let order: Vec<u32> = (0..n).map(|i| way(i, n) as u32).collect();
                let x = vector(world, "x", &values, spread)?;
                let y = vector(world, "y", &vec![T::zeroed(); n], other)?;
                let indices = vector(world, "indices", &order, spread)?;
                world.vectors().gather(&x, &indices, &y)?;
                let gathered: Vec<T> = order.iter().map(|&i| values[i as usize]).collect();
                assert!(all(world, &y)? == gathered, "{n}, {spread:?}");
                // The inverse permutation, because the order has each index once.
                world.vectors().scatter(&y, &indices, &y)?;
                assert!(all(world, &y)? == values, "{n}, {spread:?}");
                world.vectors().gather(&x, &indices, &x)?;
                assert!(all(world, &x)? == gathered, "{n} in place, {spread:?}");
            }
        }
        Ok(())
    }
    support::ranks(&[1, 2, 3, 5], |world| {
        for n in [0, 1, 2, 301, 70_001] {
            check(world, n, pseudo_random_number)?;
        }
        check(world, 1003, |i| pseudo_random_number(i) as u8)?;
        check(world, 1003, |i| pseudo_random_number(i) as u16)?;
        check(world, 1003, |i| [pseudo_random_number(i), i as u32, 7, 8])?;
        let order: Vec<u32> = (0..5000).map(|i| pseudo_random_number(i) % 5000).collect();
        let x = vector(world, "x", &order, Spread::Auto)?;
        world.vectors().gather(&x, &x, &x)?;
        assert!(all(world, &x)?.into_iter().eq(order.iter().map(|&i| order[i as usize])));
        Ok(())
    });
}

#[test]
fn bounds_histograms_and_ends_equal_plain_loops() {
    support::ranks(&[1, 2, 5], |world| {
        for n in [0_usize, 3, 5000] {
            let mut keys: Vec<u32> = (0..n).map(|i| pseudo_random_number(i) % 50).collect();
            let counted: Vec<u64> = (0..50).map(|bin| keys.iter().filter(|&&key| key == bin).count() as u64).collect();
            let needles: Vec<u32> = (0..333).map(|i| pseudo_random_number(i + 1) % 60).collect();
            for (spread, other) in FEW_SPREAD_PAIRS {
                let x = vector(world, "x", &keys, spread)?;
                assert_eq!(world.vectors().histogram(&x, 50)?, counted);
                assert_eq!(world.vectors().first(&x)?, keys.first().copied());
                assert_eq!(world.vectors().last(&x)?, keys.last().copied());
                let like = world.vectors().cut_like("like", &x, &vector(world, "other", &keys, other)?)?;
                assert_eq!(all(world, &like)?, keys);
                for by in [0, 1, -700, 9000] {
                    let y = vector(world, "y", &keys, other)?;
                    world.vectors().shift(&x, &y, by, 77)?;
                    let at =
                        |i: usize| usize::try_from(i as i64 - by).ok().and_then(|i| keys.get(i)).copied().unwrap_or(77);
                    assert!(all(world, &y)?.into_iter().eq((0..n).map(at)), "{n} by {by}, {spread:?}");
                }
            }
            keys.sort_unstable();
            for (spread, other) in FEW_SPREAD_PAIRS {
                let (x, queries) = (vector(world, "x", &keys, spread)?, vector(world, "asked", &needles, other)?);
                let bounds = vector(world, "bounds", &needles, spread)?;
                world.vectors().lower_bound(&x, &queries, &bounds)?;
                let lower = needles.iter().map(|needle| keys.partition_point(|key| key < needle) as u32);
                assert!(all(world, &bounds)?.into_iter().eq(lower), "{n}, {spread:?}");
                world.vectors().upper_bound(&x, &queries, &bounds)?;
                let upper = needles.iter().map(|needle| keys.partition_point(|key| key <= needle) as u32);
                assert!(all(world, &bounds)?.into_iter().eq(upper), "{n}, {spread:?}");
            }
        }
        let counting = world.vectors().counting("counting", 1000, 5, 3)?;
        assert!(all(world, &counting)?.into_iter().eq((0..1000).map(|i| 5 + 3 * i)));
        let error = world.vectors().histogram(&counting, 100).unwrap_err().to_string();
        assert!(error.contains("contains 3002") && error.contains("100 bins"), "{error}");
        Ok(())
    });
}

#[test]
fn transposition_makes_rows_columns() {
    support::ranks(&[1, 3, 5], |world| {
        for (n, columns) in [(0_usize, 3_u64), (1, 1), (3000, 2), (3000, 1500), (2999, 2999), (3000, 7 * 3)] {
            let values: Vec<u32> = (0..n as u32).map(|i| 5 * i).collect();
            for (spread, other) in FEW_SPREAD_PAIRS {
                let (x, y) = (vector(world, "x", &values, spread)?, vector(world, "y", &values, other)?);
                let transposed = world.vectors().transpose(&x, &y, columns);
                if columns == 21 {
                    let error = transposed.unwrap_err().to_string();
                    assert!(error.contains("not a multiple of 21"), "{error}");
                    continue;
                }
                transposed?;
                let rows = n / columns as usize;
                let at = |place: usize| values[place % rows * columns as usize + place / rows];
                assert!(all(world, &y)?.into_iter().eq((0..n).map(at)), "{n} in {columns}, {spread:?}");
            }
        }
        let x = vector(world, "x", &[1_u32, 2], Spread::Auto)?;
        let error = world.vectors().transpose(&x, &x, 0).unwrap_err().to_string();
        assert!(error.contains("not a multiple of 0"), "{error}");
        Ok(())
    });
}

#[test]
fn amplified_vectors_have_items_and_copies() {
    support::ranks(&[1, 3, 5], |world| {
        for n in [0_usize, 1, 4000] {
            let counts: Vec<u32> = (0..n).map(|i| if i % 50 < 20 { 0 } else { pseudo_random_number(i) % 4 }).collect();
            let expected = || (0..n as u32).flat_map(|item| (0..counts[item as usize]).map(move |copy| [item, copy]));
            for (spread, _) in FEW_SPREAD_PAIRS {
                let x = vector(world, "counts", &counts, spread)?;
                let pairs = world.vectors().amplify("pairs", &x)?;
                assert!(all(world, &pairs)?.into_iter().eq(expected()), "{n}, {spread:?}");
            }
        }
        // Too many copies on one rank; the other ranks have valid arguments.
        let x = vector(world, "counts", &[1 << 31, 1 << 31, 1], Spread::Dealt)?;
        let error = world.vectors().amplify("too many", &x).unwrap_err().to_string();
        assert!(error.contains("needs 4294967297 pairs"), "{error}");
        assert_eq!(all(world, &x)?, [1 << 31, 1 << 31, 1], "the world is as good as before");
        Ok(())
    });
}

#[test]
fn columns_that_differ_between_ranks_are_errors() {
    if support::launcher::size().is_some() {
        return;
    }
    let program = |world: &zippy::World| {
        let x = vector(world, "x", &[0_u32; 8], Spread::Auto)?;
        world.vectors().transpose(&x, &x, 2 << world.rank())
    };
    let error = zippy::run_with(zippy::Config::threads(2).check(true), program).unwrap_err().to_string();
    assert!(error.contains("transpose(\"x\""), "{error}");
}

#[test]
fn shift_with_another_fill_value_on_one_rank_is_an_error() {
    if support::launcher::size().is_some() {
        return;
    }
    for by in [1, -2, 0] {
        let program = |fill: fn(usize) -> f32| {
            zippy::run_with(zippy::Config::threads(3).check(true), move |world| {
                let x = vector(world, "x", &[0.5_f32; 8], Spread::Auto)?;
                world.vectors().shift(&x, &x, by, fill(world.rank()))
            })
        };
        let error = program(|rank| if rank == 2 { -0.0 } else { 0.0 }).unwrap_err().to_string();
        assert!(error.contains("collective calls differ") && error.contains("shift(\"x\""), "{error}");
        program(|_| f32::NAN).expect("the same bits on all ranks");
    }
}
