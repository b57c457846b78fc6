//! Tests that compare gather, scatter, compaction, partition, unique, reduction by key,
//! amplification and histograms with plain loops.

use zippy::{Element, Layout, Operator, Result, World};
use zippy_primitives::Primitives;

use crate::algorithms::sequences::{CUTS, Cut, LENGTHS, pseudo_random_number, read, run_on_one_rank, sequence};

fn cell_bytes<T: Element>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

fn cuts_for_length(n: usize) -> &'static [Cut] {
    if n > 4000 { &CUTS } else { &CUTS[..2] }
}

fn compare_permutation_with_plain_loop<T: Element>(world: &World, n: usize, value: impl Fn(usize) -> T) -> Result<()> {
    let values: Vec<T> = (0..n).map(&value).collect();
    // A permutation by an odd factor modulo a power of two, without the indices that are too large.
    let order: Vec<u32> = (0..n.next_power_of_two() as u32)
        .map(|i| i.wrapping_mul(2_654_435_761) % n.next_power_of_two() as u32)
        .filter(|&i| (i as usize) < n)
        .collect();
    for cut in cuts_for_length(n) {
        let (input, _) = sequence(world, &values, *cut)?;
        let (indices, _) = sequence(world, &order, if *cut == Cut::Whole { Cut::Odd } else { Cut::Whole })?;
        let (output, sections) = sequence(world, &vec![T::zeroed(); n], *cut)?;
        world.on_rank().gather(&input, &indices, &output)?;
        let gathered: Vec<T> = order.iter().map(|&i| values[i as usize]).collect();
        assert!(cell_bytes(&read(&sections)?) == cell_bytes(&gathered), "{n} {}, {cut:?}", T::INFO.name);
        // The inverse permutation in place.
        world.on_rank().scatter(&output, &indices, &output)?;
        assert!(cell_bytes(&read(&sections)?) == cell_bytes(&values), "{n} {}, {cut:?}", T::INFO.name);
    }
    Ok(())
}

#[test]
fn gather_and_scatter_equal_plain_loops() {
    run_on_one_rank(|world| {
        LENGTHS.into_iter().try_for_each(|n| compare_permutation_with_plain_loop(world, n, pseudo_random_number))?;
        compare_permutation_with_plain_loop(world, 4999, |i| pseudo_random_number(i) as u8)?;
        compare_permutation_with_plain_loop(world, 4999, |i| pseudo_random_number(i) as i16)?;
        compare_permutation_with_plain_loop(world, 4999, |i| [pseudo_random_number(i), i as u32, 1, 2])?;
        compare_permutation_with_plain_loop(world, 4999, |i| [i as f32, 0.5])
    });
}

#[test]
fn indices_beyond_end_are_errors() {
    run_on_one_rank(|world| {
        let (four, sections) = sequence(world, &[1_u32, 2, 3, 4], Cut::Odd)?;
        let (indices, _) = sequence(world, &[0_u32, 3, 4, 1], Cut::Whole)?;
        let (output, after) = sequence(world, &[9_u32; 4], Cut::Whole)?;
        for error in [
            world.on_rank().gather(&four, &indices, &output).unwrap_err(),
            world.on_rank().scatter(&output, &indices, &four).unwrap_err(),
            world.on_rank().histogram(&indices, &four).unwrap_err(),
        ] {
            let text = error.to_string();
            assert!(text.contains('4') && (text.contains("beyond the 4 cells") || text.contains("4 bins")), "{text}");
        }
        assert_eq!((read(&sections)?, read(&after)?), (vec![1, 2, 3, 4], vec![9; 4]), "nothing was written");
        Ok(())
    });
}

fn compare_selection_with_plain_loop<T: Element>(world: &World, n: usize, value: impl Fn(usize) -> T) -> Result<()> {
    let values: Vec<T> = (0..n).map(&value).collect();
    let flags: [fn(usize) -> u32; 4] = [|_| 0, |_| 3, |i| pseudo_random_number(i) % 3, |i| u32::from(i % 500 < 3)];
    for (number, flag) in flags.into_iter().enumerate() {
        let flags: Vec<u32> = (0..n).map(flag).collect();
        let (yes, no): (Vec<_>, Vec<_>) = values.iter().zip(&flags).partition(|(_, flag)| **flag != 0);
        let of = |some: Vec<(&T, &u32)>| some.into_iter().map(|(value, _)| *value).collect::<Vec<T>>();
        let (yes, no) = (of(yes), of(no));
        for cut in cuts_for_length(n) {
            let label = format!("{n} {} by flags {number}, {cut:?}", T::INFO.name);
            let (input, _) = sequence(world, &values, *cut)?;
            let (flags, _) = sequence(world, &flags, if *cut == Cut::Odd { Cut::Whole } else { Cut::Odd })?;
            let (output, sections) = sequence(world, &vec![T::zeroed(); n], *cut)?;
            assert_eq!(world.on_rank().compact(&input, &flags, &output)?, yes.len() as u64, "{label}");
            let rest = vec![T::zeroed(); n - yes.len()];
            assert!(cell_bytes(&read(&sections)?) == cell_bytes(&[yes.clone(), rest].concat()), "compact {label}");
            assert_eq!(world.on_rank().partition(&input, &flags, &output)?, yes.len() as u64, "{label}");
            assert!(
                cell_bytes(&read(&sections)?) == cell_bytes(&[yes.clone(), no.clone()].concat()),
                "partition {label}"
            );
        }
    }
    Ok(())
}

#[test]
fn compaction_and_partition_equal_plain_loops() {
    run_on_one_rank(|world| {
        LENGTHS.into_iter().try_for_each(|n| compare_selection_with_plain_loop(world, n, pseudo_random_number))?;
        compare_selection_with_plain_loop(world, 4999, |i| pseudo_random_number(i) as u8)?;
        compare_selection_with_plain_loop(world, 4999, |i| [i as u32, pseudo_random_number(i)])?;
        let (input, _) = sequence(world, &[1_u32, 2, 3], Cut::Whole)?;
        let (output, sections) = sequence(world, &[0_u32; 2], Cut::Whole)?;
        let error = world.on_rank().compact(&input, &input, &output).unwrap_err().to_string();
        assert!(error.contains("3 cells are selected") && error.contains("has only 2"), "{error}");
        assert_eq!(read(&sections)?, [0, 0], "nothing was written");
        Ok(())
    });
}

#[test]
fn moves_with_output_over_input_have_correct_cells() {
    run_on_one_rank(|world| {
        let n = 150_000_u32;
        let x = world.local_array::<u32, 1>("x", &zippy::Layout::new([n]))?;
        let ones = world.local_array::<u32, 1>("ones", &zippy::Layout::new([100_000]))?;
        x.all().fill_with(|[i]| i as u32)?;
        ones.all().fill(1)?;
        assert_eq!(world.on_rank().compact(x.at(..100_000), &ones, x.at(50_000..))?, 100_000);
        assert!(x.at(50_000..).read()?.into_iter().eq(0..100_000));
        // The output overwrites the flags or the indices.
        let (values, _) = sequence(world, &[10_u32, 20, 30, 40], Cut::Whole)?;
        let (flags, sections) = sequence(world, &[0_u32, 1, 0, 1], Cut::Whole)?;
        assert_eq!(world.on_rank().partition(&values, &flags, &flags)?, 2);
        assert_eq!(read(&sections)?, [20, 40, 10, 30]);
        let m = 40_000_u32;
        let reversed: Vec<u32> = (0..m).rev().collect();
        let (indices, sections) = sequence(world, &reversed, Cut::Whole)?;
        let (input, _) = sequence(world, &vec![u32::MAX; m as usize], Cut::Whole)?;
        world.on_rank().scatter(&input, &indices, &indices)?;
        assert_eq!(read(&sections)?, vec![u32::MAX; m as usize]);
        Ok(())
    });
}

#[test]
fn small_keys() {
    run_on_one_rank(|world| {
        let keys: Vec<i8> = (0..5000).map(|i| (pseudo_random_number(i / 9) % 3) as i8 - 1).collect();
        let mut expected = keys.clone();
        expected.dedup();
        for cut in CUTS {
            let (input, _) = sequence(world, &keys, cut)?;
            let (output, sections) = sequence(world, &vec![0_i8; 5000], cut)?;
            assert_eq!(world.on_rank().unique(&input, &output)?, expected.len() as u64);
            assert_eq!(read(&sections)?[..expected.len()], expected);
        }
        if world.gpu().features().contains(zippy::wgpu::Features::SHADER_F16) {
            compare_permutation_with_plain_loop(world, 4999, |i| half::f16::from_f32((i % 2000) as f32))?;
            compare_selection_with_plain_loop(world, 4999, |i| half::f16::from_f32((i % 2000) as f32))?;
        }
        Ok(())
    });
}

#[test]
fn unique_and_reduction_by_key_equal_plain_loops() {
    run_on_one_rank(|world| {
        for n in LENGTHS {
            for run in [1, 3, 5000] {
                let keys: Vec<[u32; 2]> =
                    (0..n).map(|i| [pseudo_random_number(i / run) % 2, (i / run) as u32 % 7]).collect();
                let values: Vec<u32> = (0..n).map(pseudo_random_number).collect();
                let mut expected: Vec<([u32; 2], u32)> = Vec::new();
                for (key, value) in keys.iter().zip(&values) {
                    match expected.last_mut() {
                        Some((last, sum)) if last == key => *sum = sum.wrapping_add(*value),
                        _ => expected.push((*key, *value)),
                    }
                }
                for cut in cuts_for_length(n) {
                    let (keys, _) = sequence(world, &keys, *cut)?;
                    let (values, _) = sequence(world, &values, Cut::Odd)?;
                    let (keys_output, keys_sections) = sequence(world, &vec![[9_u32; 2]; n], *cut)?;
                    let (sums_output, sums_sections) = sequence(world, &vec![9_u32; n], *cut)?;
                    let found = world.on_rank().unique(&keys, &keys_output)? as usize;
                    let unique: Vec<[u32; 2]> = expected.iter().map(|(key, _)| *key).collect();
                    assert_eq!(read(&keys_sections)?[..found], unique, "{n} in runs of {run}, {cut:?}");
                    let found = world
                        .on_rank()
                        .combine(&values, &Operator::Add)
                        .by_key(&keys)
                        .reduce_runs(&keys_output, &sums_output)? as usize;
                    let sums: Vec<u32> = expected.iter().map(|(_, sum)| *sum).collect();
                    assert_eq!(read(&keys_sections)?[..found], unique, "{n} in runs of {run}, {cut:?}");
                    assert_eq!(read(&sums_sections)?[..found], sums, "{n} in runs of {run}, {cut:?}");
                }
            }
        }
        Ok(())
    });
}

#[test]
fn amplified_counts_equal_plain_loop() {
    run_on_one_rank(|world| {
        let mut pairs = world.growable::<[u32; 2]>("pairs")?;
        let kinds: [fn(usize) -> u32; 4] =
            [|_| 0, |_| 1, |i| pseudo_random_number(i) % 6, |i| u32::from(i % 1000 == 999) * 3000];
        for n in LENGTHS {
            for count in kinds {
                let counts: Vec<u32> = (0..n).map(count).collect();
                let of = |(item, &count): (usize, &u32)| (0..count).map(move |copy| [item as u32, copy]);
                let expected: Vec<[u32; 2]> = counts.iter().enumerate().flat_map(of).collect();
                let (counts, _) = sequence(world, &counts, Cut::Odd)?;
                assert_eq!(world.on_rank().amplify(&counts, &mut pairs)?, expected.len() as u64);
                assert!(pairs.all().read()? == expected, "{n}");
            }
        }
        let (counts, _) = sequence(world, &[1 << 31, 1 << 31, 5_u32], Cut::Whole)?;
        let before = pairs.len();
        let error = world.on_rank().amplify(&counts, &mut pairs).unwrap_err().to_string();
        assert!(error.contains("4294967301 pairs"), "{error}");
        assert_eq!(pairs.len(), before);
        Ok(())
    });
}

/// The counters need as much memory as the bins.
fn too_little_memory() {
    run_on_one_rank(|world| {
        for (bins, fits) in [(4 << 20, true), (7 << 20, false)] {
            let (numbers, _) = sequence(world, &[3_u32, 1, 3], Cut::Whole)?;
            let counts = world.local_array::<u32, 1>("counts", &Layout::new([bins]))?;
            counts.at(..5).fill(7)?;
            let done = world.on_rank().histogram(&numbers, counts.all());
            // Kernels count the bins of one binding at a time.
            let fits = fits || !world.gpu().is_host() && world.gpu().limits().binding_bytes < 1 << 20;
            assert_eq!(done.is_ok(), fits, "{bins} bins: {done:?}");
            assert_eq!(counts.at(..5).read()?, if fits { [0, 1, 0, 2, 0] } else { [7; 5] });
        }
        Ok(())
    });
}

zippy_testing::with_variables! {
    histograms_with_too_little_memory_are_an_error, [("ZIPPY_MEMORY_LIMIT", "50331648")], too_little_memory
}

#[test]
fn histograms_equal_plain_loop() {
    run_on_one_rank(|world| {
        for n in LENGTHS {
            for bins in [1, 10, 300, 70_000] {
                let numbers: Vec<u32> = (0..n).map(|i| pseudo_random_number(i) % bins as u32).collect();
                let mut expected = vec![0_u32; bins];
                numbers.iter().for_each(|&number| expected[number as usize] += 1);
                let (numbers, _) = sequence(world, &numbers, Cut::Odd)?;
                let (counts, sections) = sequence(world, &vec![7_u32; bins], Cut::Odd)?;
                world.on_rank().histogram(&numbers, &counts)?;
                assert!(read(&sections)? == expected, "{n} numbers in {bins} bins");
            }
        }
        Ok(())
    });
}
