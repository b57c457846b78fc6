//! Tests of sorts of vectors with any layout.

use zippy::{Result, World};
use zippy_primitives::Primitives;
use zippy_primitives::sort::SortKey;

use super::{PAIRS, Spread, all, cell_bytes, vector};
use crate::algorithms::sequences::pseudo_random_number;
use crate::support;

/// Functions that generate difficult keys for the choice of splitters.
const KINDS: [fn(usize, usize) -> u32; 6] = [
    |i, _| pseudo_random_number(i),
    |i, _| pseudo_random_number(i) % 2 * 0xffff_ff00,
    |_, _| 7,
    |i, _| i as u32 * 3,
    |i, n| (n - i) as u32,
    |i, _| if i % 3 == 0 { 1000 } else { pseudo_random_number(i) % 2000 },
];

fn check_sorts<K: SortKey>(
    world: &World,
    n: usize,
    key: impl Fn(u32) -> K,
    order: impl Fn(&K, &K) -> std::cmp::Ordering,
) -> Result<()> {
    for (number, kind) in KINDS.into_iter().enumerate() {
        let keys: Vec<K> = (0..n).map(|i| key(kind(i, n))).collect();
        let mut expected: Vec<(K, [u32; 2])> = keys.iter().copied().zip((0..n as u32).map(|i| [i, 5])).collect();
        expected.sort_by(|(a, _), (b, _)| order(a, b));
        let (sorted, sorted_values): (Vec<K>, Vec<[u32; 2]>) = expected.into_iter().unzip();
        let values: Vec<[u32; 2]> = (0..n as u32).map(|i| [i, 5]).collect();
        // Each kind of keys is tested with two pairs of layouts.
        for (spread, other) in [PAIRS[number % 4], PAIRS[(number + 1 + number / 4) % 4]] {
            let label = format!("{n} {} of kind {number}, {spread:?} and {other:?}", K::INFO.name);
            let x = vector(world, "x", &keys, spread)?;
            world.vectors().sort(&x)?;
            assert!(cell_bytes(&all(world, &x)?) == cell_bytes(&sorted), "{label}");
            let x = vector(world, "y", &keys, spread)?;
            let y = vector(world, "values", &values, other)?;
            world.vectors().sort_pairs(&x, &y)?;
            assert!(cell_bytes(&all(world, &x)?) == cell_bytes(&sorted), "keys of {label}");
            assert!(cell_bytes(&all(world, &y)?) == cell_bytes(&sorted_values), "values of {label}");
        }
    }
    Ok(())
}

#[test]
fn sorts_of_every_spread() {
    support::ranks(support::RANKS, |world| {
        [0, 2, 7, 5000].into_iter().try_for_each(|n| check_sorts(world, n, |key| key, u32::cmp))
    });
}

#[test]
fn sorts_by_every_type_of_key() {
    support::ranks(&[3], |world| {
        check_sorts(world, 3000, |key| key as i32, i32::cmp)?;
        let special = [0.0, -0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-45, -1e-45];
        check_sorts(world, 3000, |key| special[key as usize % 8], f32::total_cmp)?;
        check_sorts(world, 3000, f32::from_bits, f32::total_cmp)?;
        check_sorts(world, 3000, |key| [key % 5, pseudo_random_number(key as usize)], <[u32; 2]>::cmp)
    });
}

/// The cells are enough for several threads on each rank, with several chunks per rank.
fn sorts_by_threads() {
    support::ranks(&[1, 2, 5], |world| {
        for (number, kind) in KINDS.into_iter().enumerate() {
            let n = 170_003;
            let keys: Vec<f32> = (0..n).map(|i| f32::from_bits(kind(i, n))).collect();
            let mut expected: Vec<(f32, u32)> = keys.iter().copied().zip(0..).collect();
            expected.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            let (sorted, sorted_values): (Vec<f32>, Vec<u32>) = expected.into_iter().unzip();
            let (spread, other) = [PAIRS[1], PAIRS[3]][number % 2];
            let (x, y) =
                (vector(world, "x", &keys, spread)?, vector(world, "y", &(0..n as u32).collect::<Vec<_>>(), other)?);
            world.vectors().sort_pairs(&x, &y)?;
            assert!(cell_bytes(&all(world, &x)?) == cell_bytes(&sorted), "keys of kind {number}, {spread:?}");
            assert!(all(world, &y)? == sorted_values, "values of kind {number}, {other:?}");
        }
        Ok(())
    });
}

zippy_testing::with_variables! {
    one_host_thread, [("ZIPPY_THREADS", "1")], sorts_by_threads
}

zippy_testing::with_variables! {
    three_host_threads, [("ZIPPY_THREADS", "3")], sorts_by_threads
}

#[test]
fn sections_are_sorted_alone() {
    support::ranks(&[1, 4], |world| {
        let values: Vec<u32> = (0..3000).map(pseudo_random_number).collect();
        let x = vector(world, "x", &values, Spread::Odd)?;
        world.vectors().sort(x.at(100..2500))?;
        let mut expected = values;
        expected[100..2500].sort_unstable();
        assert_eq!(all(world, &x)?, expected);
        Ok(())
    });
}

fn check_narrow_values<V: zippy::Element>(world: &World, value: fn(u32) -> V) -> Result<()> {
    let n = 3001;
    // These keys differ only from their second word.
    let keys: Vec<i64> =
        (0..n).map(|i| i64::from(pseudo_random_number(i as usize) % 900) * ((1 << 35) + 1) - (1 << 44)).collect();
    let values: Vec<V> = (0..n).map(value).collect();
    let mut order: Vec<usize> = (0..n as usize).collect();
    order.sort_by_key(|&i| keys[i]);
    for (spread, other) in [PAIRS[1], PAIRS[3]] {
        let (x, y) = (vector(world, "x", &keys, spread)?, vector(world, "y", &values, other)?);
        world.vectors().sort_pairs(&x, &y)?;
        assert!(all(world, &x)?.into_iter().eq(order.iter().map(|&i| keys[i])), "{spread:?}");
        let expected: Vec<V> = order.iter().map(|&i| values[i]).collect();
        assert!(cell_bytes(&all(world, &y)?) == cell_bytes(&expected), "{}, {spread:?}", V::INFO.name);
    }
    Ok(())
}

#[test]
fn values_of_a_byte_or_two_and_keys_of_64_bits() {
    support::ranks(&[2, 5], |world| {
        if !world.gpu().features().contains(zippy::wgpu::Features::SHADER_INT64) {
            return Ok(());
        }
        check_narrow_values(world, |i| (i % 251) as u8)?;
        check_narrow_values(world, |i| i as u16)
    });
}
