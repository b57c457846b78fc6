//! Tests of merges of vectors with any layout.

use zippy::{Result, World};
use zippy_primitives::Primitives;
use zippy_primitives::sort::SortKey;

use super::{FEW_SPREAD_PAIRS, Spread, all, cell_bytes, vector};
use crate::algorithms::sequences::pseudo_random_number;
use crate::support;

fn check_merges<K: SortKey>(
    world: &World,
    lengths: [usize; 2],
    key: fn(usize) -> K,
    order: fn(&K, &K) -> std::cmp::Ordering,
) -> Result<()> {
    let keys = [0, 1].map(|which| {
        let mut keys: Vec<K> = (0..lengths[which]).map(|i| key(3 * i + 1000 * which)).collect();
        keys.sort_by(order);
        keys
    });
    // The values encode the input of a pair and its index there.
    let values = [0, 1].map(|which| (0..lengths[which] as u32).map(|i| [which as u32, i, 7, 8]).collect::<Vec<_>>());
    let mut expected: Vec<(K, [u32; 4])> =
        (0..2).flat_map(|which| keys[which].iter().copied().zip(values[which].iter().copied())).collect();
    expected.sort_by(|(a, _), (b, _)| order(a, b));
    let (merged, sorted_values): (Vec<K>, Vec<[u32; 4]>) = expected.into_iter().unzip();
    for (spread, other) in FEW_SPREAD_PAIRS {
        let label = format!("{lengths:?} {}, {spread:?} and {other:?}", K::INFO.name);
        let (x, y) = (vector(world, "x", &keys[0], spread)?, vector(world, "y", &keys[1], other)?);
        let z = vector(world, "z", &vec![K::zeroed(); merged.len()], other)?;
        world.vectors().merge(&x, &y, &z)?;
        assert!(cell_bytes(&all(world, &z)?) == cell_bytes(&merged), "{label}");
        let z = vector(world, "merged", &vec![K::zeroed(); merged.len()], spread)?;
        let (u, v) = (vector(world, "u", &values[0], spread)?, vector(world, "v", &values[1], spread)?);
        let w = vector(world, "w", &vec![[0_u32; 4]; merged.len()], other)?;
        world.vectors().merge_pairs((&x, &u), (&y, &v), (&z, &w))?;
        assert!(cell_bytes(&all(world, &z)?) == cell_bytes(&merged), "keys of {label}");
        assert!(cell_bytes(&all(world, &w)?) == cell_bytes(&sorted_values), "values of {label}");
    }
    Ok(())
}

#[test]
fn merges_of_every_spread() {
    support::ranks(&[1, 2, 3, 5], |world| {
        for lengths in [[0, 0], [1, 0], [0, 3], [2500, 900], [700, 2900]] {
            check_merges(world, lengths, |i| pseudo_random_number(i) % 400, u32::cmp)?;
        }
        check_merges(world, [900, 800], |_| 5_u32, u32::cmp)
    });
}

#[test]
fn merges_by_every_type_of_key() {
    support::ranks(&[3], |world| {
        check_merges(world, [900, 1200], |i| pseudo_random_number(i) as i32, i32::cmp)?;
        check_merges(world, [900, 1200], |i| f32::from_bits(pseudo_random_number(i)), f32::total_cmp)?;
        check_merges(
            world,
            [900, 1200],
            |i| [pseudo_random_number(i) % 3, pseudo_random_number(i + 1)],
            <[u32; 2]>::cmp,
        )
    });
}

#[test]
fn invalid_merges_are_refused() {
    support::ranks(&[1, 3], |world| {
        let x = vector(world, "x", &[1_u32, 2, 3], Spread::Auto)?;
        let error = world.vectors().merge(&x, &x, &x).unwrap_err().to_string();
        assert!(error.contains("6 keys are merged, but") && error.contains("has 3 cells"), "{error}");
        // On each of three ranks, larger keys precede smaller keys. The world is still usable after
        // the error.
        let hidden: Vec<u32> = (0..600).map(|i| if i % 200 <= 100 { 5000 } else { 1 }).collect();
        let (y, u) = (vector(world, "y", &hidden, Spread::Auto)?, vector(world, "u", &[3; 600], Spread::Auto)?);
        let z = vector(world, "z", &[0_u32; 1200], Spread::Auto)?;
        for inputs in [[&y, &u], [&u, &y]] {
            let error = world.vectors().merge(inputs[0], inputs[1], &z).unwrap_err().to_string();
            assert!(
                error.contains("\"y\" are not sorted, cell 101 is") && error.contains("sort them first"),
                "{error}"
            );
        }
        assert_eq!(all(world, &x)?, [1, 2, 3]);
        Ok(())
    });
}

/// The error names the index of an unsorted key, within a rank and at the boundary between ranks.
#[test]
fn unsorted_input_is_refused_on_any_number_of_ranks() {
    support::ranks(&[1, 2, 3, 5], |world| {
        let sorted: Vec<i32> = (0..23).map(|i| i / 2 - 5).collect();
        let x = vector(world, "x", &[-3, 0, 4], Spread::Auto)?;
        let z = vector(world, "z", &[0; 26], Spread::Auto)?;
        for wrong in (2..23).step_by(2) {
            let mut keys = sorted.clone();
            keys[wrong] = keys[wrong - 1] - 1;
            let y = vector(world, "y", &keys, Spread::Auto)?;
            let error = world.vectors().merge(&x, &y, &z).unwrap_err().to_string();
            assert!(error.contains(&format!("\"y\" are not sorted, cell {wrong} is")), "{error}");
        }
        let y = vector(world, "y", &sorted, Spread::Auto)?;
        world.vectors().merge(&x, &y, &z)?;
        let mut expected = [&sorted[..], &[-3, 0, 4]].concat();
        expected.sort_unstable();
        assert_eq!(all(world, &z)?, expected);
        Ok(())
    });
}
