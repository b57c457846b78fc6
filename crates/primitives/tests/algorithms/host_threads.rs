//! Tests that host algorithms on one, two and three threads have the same bits, for sizes that use
//! several threads.

use zippy::{Layout, Operator, Result, World};
use zippy_primitives::Primitives;

use crate::algorithms::scan::{compare, larger};
use crate::algorithms::sequences::pseudo_random_number;
use crate::algorithms::vectors::{Spread, all, vector};
use crate::support;

/// Runs a program in separate processes with each number of threads. `test` is the full path of the
/// test.
fn run_with_each_thread_count(test: &str, ranks: &[usize], program: impl Fn(&World) -> Result<()> + Send + Sync) {
    if support::is_alone() {
        return support::ranks(ranks, program);
    }
    for threads in ["1", "2", "3"] {
        support::alone(test, &[("ZIPPY_THREADS", threads)]);
    }
}

#[test]
fn scans_of_integers_have_the_same_bits() {
    run_with_each_thread_count("algorithms::host_threads::scans_of_integers_have_the_same_bits", &[1], |world| {
        let values: Vec<u32> = (0..140_001).map(pseudo_random_number).collect();
        compare(world, &values, 7, &Operator::Add, u32::wrapping_add)?;
        let values: Vec<u8> = (0..270_001).map(|i| u8::from(pseudo_random_number(i).is_multiple_of(2000))).collect();
        compare(world, &values, 3, &Operator::Add, u8::saturating_add)?;
        // Sums overflow the range, so that the order of additions matters.
        let values: Vec<i16> = (0..140_001).map(|i| (pseudo_random_number(i) >> 16) as i16).collect();
        compare(world, &values, 3, &Operator::Add, i16::saturating_add)?;
        let values: Vec<[u32; 4]> = (0..50_001).map(|i| [pseudo_random_number(i), i as u32, 1, 0]).collect();
        let add = |a: [u32; 4], b: [u32; 4]| [0, 1, 2, 3].map(|k| a[k].wrapping_add(b[k]));
        compare(world, &values, [1, 2, 3, 4], &Operator::Add, add)
    });
}

#[test]
fn scans_of_floats_have_the_same_bits() {
    run_with_each_thread_count("algorithms::host_threads::scans_of_floats_have_the_same_bits", &[1], |world| {
        let cycle = [1e8, -0.0, 3.0e-39, -1e8, 0.1, 1e-45, 7.0, 0.0];
        let values: Vec<f32> =
            (0..140_001).map(|i| cycle[pseudo_random_number(i) as usize % 8] * (1 + i % 3) as f32).collect();
        compare(world, &values, 0.3, &Operator::Add, |a, b| a + b)?;
        if world.gpu().adapter().device_type == zippy::wgpu::DeviceType::Cpu {
            let cycle = [0.0, -0.0, f32::NAN, 1.0, f32::INFINITY, 1e-45];
            let values: Vec<f32> = (0..140_001).map(|i| cycle[pseudo_random_number(i) as usize % 6]).collect();
            compare(world, &values, 2.0, &Operator::Max, larger)?;
        }
        Ok(())
    });
}

#[test]
fn scans_over_ranks_have_the_same_bits() {
    run_with_each_thread_count("algorithms::host_threads::scans_over_ranks_have_the_same_bits", &[1, 2, 3], |world| {
        let n = 270_001;
        let values: Vec<u32> = (0..n).map(pseudo_random_number).collect();
        let mut sum = 0_u32;
        let sums: Vec<u32> = (values.iter())
            .map(|value| {
                sum = sum.wrapping_add(*value);
                sum
            })
            .collect();
        for (spread, other) in [(Spread::Auto, Spread::Odd), (Spread::Odd, Spread::Odd), (Spread::Rising, Spread::Auto)]
        {
            let (x, y) = (vector(world, "x", &values, spread)?, vector(world, "y", &values, other)?);
            world.vectors().combine(&x, &Operator::Add).inclusive_scan(&y)?;
            assert!(all(world, &y)? == sums, "{spread:?} and {other:?}");
            assert_eq!(world.vectors().combine(&x, &Operator::Add).reduce()?, Some(sum));
            assert_eq!(world.vectors().combine(&x, &Operator::Max).reduce()?, values.iter().max().copied());
            // In place.
            world.vectors().combine(&x, &Operator::Add).exclusive_scan(&x, 0)?;
            assert!(all(world, &x)?[1..] == sums[..n - 1], "{spread:?}");
        }
        Ok(())
    });
}

#[test]
fn overlapping_sections_are_written_in_order() {
    run_with_each_thread_count("algorithms::host_threads::overlapping_sections_are_written_in_order", &[1], |world| {
        let x = world.local_array::<u32, 1>("x", &Layout::new([140_000]))?;
        let y = world.local_array::<u32, 1>("y", &Layout::new([70_001]))?;
        x.all().fill(1)?;
        let twice = vec![y.at(0..70_000), y.at(1..70_001)];
        world.on_rank().combine(x.all(), &Operator::Add).inclusive_scan(&twice)?;
        assert!(y.all().read()?.into_iter().eq(std::iter::once(1).chain(70_001..140_001)));
        Ok(())
    });
}
