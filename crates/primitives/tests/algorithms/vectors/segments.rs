//! Tests of segments that extend over several ranks.

use zippy::{Operator, Result, World};
use zippy_primitives::Primitives;

use super::{FEW_SPREAD_PAIRS, all, vector};
use crate::algorithms::sequences::pseudo_random_number;
use crate::support;

/// Returns flags of segments with many lengths, some of which extend over several ranks.
fn flags(n: usize) -> Vec<u32> {
    (0..n)
        .map(
            |i| if i % 1700 > 900 { 0 } else { u32::from(pseudo_random_number(i).is_multiple_of(30)) * (1 + i as u32) },
        )
        .collect()
}

fn cut_at_flags<T: Clone>(flags: &[u32], cells: &[T]) -> Vec<Vec<T>> {
    let mut found: Vec<Vec<T>> = Vec::new();
    for (i, (flag, cell)) in flags.iter().zip(cells).enumerate() {
        if i == 0 || *flag != 0 {
            found.push(Vec::new());
        }
        found.last_mut().expect("the first begins one").push(cell.clone());
    }
    found
}

fn check_reductions(world: &World, n: usize) -> Result<()> {
    let (flags, values): (Vec<u32>, Vec<f32>) =
        (flags(n), (0..n).map(|i| (pseudo_random_number(i) % 64) as f32).collect());
    let sums: Vec<f32> = cut_at_flags(&flags, &values).iter().map(|segment| segment.iter().sum()).collect();
    for (spread, other) in FEW_SPREAD_PAIRS {
        let (x, of) = (vector(world, "x", &values, spread)?, vector(world, "flags", &flags, other)?);
        let reduced = world.vectors().combine(&x, &Operator::Add).by_flag(&of).reduce_segments("reduced")?;
        assert_eq!(all(world, &reduced)?, sums, "{n}, {spread:?}, {other:?}");
    }
    Ok(())
}

fn check_sorts(world: &World, n: usize) -> Result<()> {
    let flags = flags(n);
    let pairs: Vec<(i32, [u32; 2])> = (0..n).map(|i| (pseudo_random_number(i) as i32 % 40, [i as u32, 9])).collect();
    let mut segments = cut_at_flags(&flags, &pairs);
    segments.iter_mut().for_each(|segment| segment.sort_by_key(|(key, _)| *key));
    let (sorted, sorted_values): (Vec<i32>, Vec<[u32; 2]>) = segments.concat().into_iter().unzip();
    let (keys, values): (Vec<i32>, Vec<[u32; 2]>) = pairs.into_iter().unzip();
    for (spread, other) in FEW_SPREAD_PAIRS {
        let label = format!("{n}, {spread:?}, {other:?}");
        let (x, of) = (vector(world, "x", &keys, spread)?, vector(world, "flags", &flags, other)?);
        world.vectors().segments(&of).sort(&x)?;
        assert_eq!(all(world, &x)?, sorted, "{label}");
        let (x, y) = (vector(world, "keys", &keys, spread)?, vector(world, "values", &values, other)?);
        world.vectors().segments(&of).sort_pairs(&x, &y)?;
        assert_eq!(all(world, &x)?, sorted, "keys of {label}");
        assert_eq!(all(world, &y)?, sorted_values, "values of {label}");
    }
    Ok(())
}

#[test]
fn segments_over_ranks_are_reduced() {
    support::ranks(&[1, 3, 5], |world| [0, 1, 5000].into_iter().try_for_each(|n| check_reductions(world, n)));
}

#[test]
fn segments_over_ranks_are_sorted() {
    support::ranks(&[1, 3, 5], |world| [0, 1, 4000].into_iter().try_for_each(|n| check_sorts(world, n)));
}
