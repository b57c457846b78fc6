//! Tests of compaction, partition, unique, and reduction by key of vectors.

use zippy::Operator;
use zippy_primitives::Primitives;

use super::{FEW_SPREAD_PAIRS, all, vector};
use crate::algorithms::sequences::pseudo_random_number;
use crate::support;

#[test]
fn selections_of_vectors_equal_plain_loops() {
    support::ranks(&[1, 3, 5], |world| {
        for n in [0_usize, 1, 5000] {
            let values: Vec<u32> = (0..n).map(|i| pseudo_random_number(i / 40) % 3).collect();
            let sums: Vec<u32> = (0..n).map(pseudo_random_number).collect();
            let flags: Vec<u32> = (0..n).map(|i| pseudo_random_number(i + 5) % 4).collect();
            let (yes, no): (Vec<u32>, Vec<u32>) = (0..n as u32).partition(|&i| flags[i as usize] != 0);
            let of = |some: &[u32]| some.iter().map(|&i| sums[i as usize]).collect::<Vec<u32>>();
            let mut by_key: Vec<(u32, u32)> = Vec::new();
            for (key, value) in values.iter().zip(&sums) {
                match by_key.last_mut() {
                    Some((last, sum)) if last == key => *sum = sum.wrapping_add(*value),
                    _ => by_key.push((*key, *value)),
                }
            }
            let (keys_found, sums_found): (Vec<u32>, Vec<u32>) = by_key.into_iter().unzip();
            for (spread, other) in FEW_SPREAD_PAIRS {
                let label = format!("{n}, {spread:?}, {other:?}");
                let x = vector(world, "x", &sums, spread)?;
                let keys = vector(world, "keys", &values, spread)?;
                let flags = vector(world, "flags", &flags, other)?;
                let compact = world.vectors().compact("compact", &x, &flags)?;
                assert_eq!(all(world, &compact)?, of(&yes), "{label}");
                let (partition, first) = world.vectors().partition("partition", &x, &flags)?;
                assert_eq!(
                    (all(world, &partition)?, first as usize),
                    ([of(&yes), of(&no)].concat(), yes.len()),
                    "{label}"
                );
                let unique = world.vectors().unique("unique", &keys)?;
                assert_eq!(all(world, &unique)?, keys_found, "{label}");
                let (unique, reduced) =
                    world.vectors().combine(&x, &Operator::Add).by_key(&keys).reduce_runs("runs", "reduced")?;
                assert_eq!(
                    (all(world, &unique)?, all(world, &reduced)?),
                    (keys_found.clone(), sums_found.clone()),
                    "{label}"
                );
                let even = world.vectors().rebalanced("even", &unique)?;
                assert_eq!(all(world, &even)?, keys_found, "{label}");
                let cells: Vec<i64> = even.chunks().map(|chunk| chunk.region().cells() as i64).collect();
                let share = keys_found.len() as i64 / world.size() as i64;
                assert!((share..=share + 1).contains(&cells.iter().sum()), "{label}: {cells:?}");
            }
        }
        Ok(())
    });
}
