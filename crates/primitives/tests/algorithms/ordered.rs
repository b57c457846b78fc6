//! Tests that compare bounds, merges and sorts of segments with `std`.

use zippy::{Operator, Result, World};
use zippy_primitives::Primitives;

use crate::algorithms::sequences::{Cut, LENGTHS, pseudo_random_number, read, run_on_one_rank, sequence};

fn sorted_keys(n: usize, seed: usize, most: u32) -> Vec<u32> {
    let mut keys: Vec<u32> = (0..n).map(|i| pseudo_random_number(i + seed) % most).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn bounds_equal_search_of_std() {
    run_on_one_rank(|world| {
        for n in [0, 1, 2, 300, 4999] {
            for most in [1, 50, u32::MAX] {
                let keys = sorted_keys(n, 3, most);
                let needles: Vec<u32> =
                    (0..700).map(|i| pseudo_random_number(i) % most + u32::from(i % 5 == 0)).collect();
                for cut in [Cut::Whole, Cut::Odd] {
                    let (given, _) = sequence(world, &keys, cut)?;
                    let (queries, _) = sequence(world, &needles, Cut::Odd)?;
                    let (output, sections) = sequence(world, &[77_u32; 700], cut)?;
                    world.on_rank().lower_bound(&given, &queries, &output)?;
                    let lower = needles.iter().map(|needle| keys.partition_point(|key| key < needle) as u32);
                    assert!(read(&sections)?.into_iter().eq(lower), "{n} keys below {most}, {cut:?}");
                    world.on_rank().upper_bound(&given, &queries, &output)?;
                    let upper = needles.iter().map(|needle| keys.partition_point(|key| key <= needle) as u32);
                    assert!(read(&sections)?.into_iter().eq(upper), "{n} keys below {most}, {cut:?}");
                }
            }
        }
        // Floats in total order, and records by their first word.
        let mut floats: Vec<f32> = (0..500).map(|i| f32::from_bits(pseudo_random_number(i))).collect();
        floats.sort_by(f32::total_cmp);
        let (given, _) = sequence(world, &floats, Cut::Odd)?;
        let (output, sections) = sequence(world, &[0_u32; 500], Cut::Whole)?;
        world.on_rank().lower_bound(&given, &given, &output)?;
        let lower = floats.iter().map(|x| floats.partition_point(|y| y.total_cmp(x).is_lt()) as u32);
        assert!(read(&sections)?.into_iter().eq(lower));
        let mut pairs: Vec<[u32; 2]> =
            (0..500).map(|i| [pseudo_random_number(i) % 9, pseudo_random_number(i + 9) % 9]).collect();
        pairs.sort_unstable();
        let (given, _) = sequence(world, &pairs, Cut::Odd)?;
        world.on_rank().upper_bound(&given, &given, &output)?;
        assert!(read(&sections)?.into_iter().eq(pairs.iter().map(|x| pairs.partition_point(|y| y <= x) as u32)));
        Ok(())
    });
}

fn compare_merge_with_sort_of_std(world: &World, n: usize, m: usize, most: u32) -> Result<()> {
    let (a, b) = (sorted_keys(n, 1, most), sorted_keys(m, 2, most));
    // The values encode the input of a pair.
    let values = |from: u32, n: usize| (0..n as u32).map(|i| [from, i]).collect::<Vec<_>>();
    let (of_a, of_b) = (values(0, n), values(1, m));
    let mut expected: Vec<(u32, [u32; 2])> =
        a.iter().copied().zip(of_a.iter().copied()).chain(b.iter().copied().zip(of_b.iter().copied())).collect();
    expected.sort_by_key(|(key, _)| *key);
    for cut in [Cut::Whole, Cut::Odd] {
        let ((a, _), (b, _)) = (sequence(world, &a, cut)?, sequence(world, &b, Cut::Whole)?);
        let ((of_a, _), (of_b, _)) = (sequence(world, &of_a, Cut::Whole)?, sequence(world, &of_b, cut)?);
        let (keys, sections) = sequence(world, &vec![0_u32; n + m], cut)?;
        let (values, values_sections) = sequence(world, &vec![[0_u32; 2]; n + m], Cut::Odd)?;
        world.on_rank().merge(&a, &b, &keys)?;
        assert!(read(&sections)?.into_iter().eq(expected.iter().map(|(key, _)| *key)), "{n} and {m}, {cut:?}");
        world.on_rank().merge_pairs((&a, &of_a), (&b, &of_b), (&keys, &values))?;
        let found = read(&sections)?.into_iter().zip(read(&values_sections)?);
        assert!(found.eq(expected.iter().copied()), "{n} and {m}, {cut:?}");
    }
    Ok(())
}

#[test]
fn merges_equal_sort_of_std() {
    run_on_one_rank(|world| {
        for (n, m) in [(0, 0), (0, 5), (5, 0), (1, 1), (300, 2000), (4999, 4100)] {
            [1, 40, u32::MAX].into_iter().try_for_each(|most| compare_merge_with_sort_of_std(world, n, m, most))?;
        }
        let (two, _) = sequence(world, &[1_u32, 2], Cut::Whole)?;
        let (three, _) = sequence(world, &[1_u32, 2, 3], Cut::Whole)?;
        let error = world.on_rank().merge(&two, &two, &three).unwrap_err().to_string();
        assert!(error.contains("4 keys are merged") && error.contains("has 3 cells"), "{error}");
        let (four, sections) = sequence(world, &[1_u32, 2, 3, 4], Cut::Whole)?;
        let error = world.on_rank().merge(sections[0].clone(), Vec::new(), &four).unwrap_err().to_string();
        assert!(error.contains("cannot be merged into its own memory"), "{error}");
        Ok(())
    });
}

#[test]
fn segments_are_sorted_separately() {
    run_on_one_rank(|world| {
        for n in LENGTHS {
            for every in [1, 7, 3000] {
                let flags: Vec<u32> =
                    (0..n).map(|i| u32::from(i > 0 && pseudo_random_number(i).is_multiple_of(every)) * 9).collect();
                let keys: Vec<i32> = (0..n).map(|i| pseudo_random_number(i) as i32 % 50).collect();
                let mut segment = 0;
                let numbered: Vec<u32> = flags
                    .iter()
                    .map(|flag| {
                        segment += u32::from(*flag != 0);
                        segment
                    })
                    .collect();
                let mut expected: Vec<(u32, i32, u32)> = (0..n).map(|i| (numbered[i], keys[i], i as u32)).collect();
                expected.sort_by_key(|(segment, key, _)| (*segment, *key));
                let (flags, _) = sequence(world, &flags, Cut::Odd)?;
                let mut sums: Vec<i32> = Vec::new();
                for (i, key) in keys.iter().enumerate() {
                    match sums.last_mut() {
                        Some(sum) if numbered[i] == numbered[i - 1] => *sum += key,
                        _ => sums.push(*key),
                    }
                }
                let (values, _) = sequence(world, &keys, Cut::Odd)?;
                let (output, sections) = sequence(world, &keys, Cut::Whole)?;
                let found =
                    world.on_rank().combine(&values, &Operator::Add).by_flag(&flags).reduce_segments(&output)? as usize;
                assert_eq!(read(&sections)?[..found], sums, "{n}, every {every}");
                let (sorted, sections) = sequence(world, &keys, Cut::Odd)?;
                world.on_rank().segments(&flags).sort(&sorted)?;
                assert!(read(&sections)?.into_iter().eq(expected.iter().map(|(_, key, _)| *key)), "{n}, every {every}");
                let (sorted, sections) = sequence(world, &keys, Cut::Whole)?;
                let (values, values_sections) = sequence(world, &(0..n as u32).collect::<Vec<_>>(), Cut::Odd)?;
                world.on_rank().segments(&flags).sort_pairs(&sorted, &values)?;
                assert!(read(&sections)?.into_iter().eq(expected.iter().map(|(_, key, _)| *key)), "{n}, every {every}");
                assert!(
                    read(&values_sections)?.into_iter().eq(expected.iter().map(|(_, _, i)| *i)),
                    "{n}, every {every}"
                );
            }
        }
        Ok(())
    });
}
