//! Histograms of volumes: all voxels of all ranks, component by component, without non-finite
//! values.

use zippy::{Layout, Split};
use zippy_render::volume::{Distribution, FAR, Preset, Values, Voxel};

use crate::support;

const SHAPE: [i64; 3] = [11, 7, 9];

/// A number from 0 to 256 for each voxel, unordered.
fn number([x, y, z]: [i64; 3]) -> i64 {
    (x + 11 * (y + 7 * z)) * 13 % 257
}

fn numbers() -> impl Iterator<Item = i64> {
    (0..11 * 7 * 9).map(|i| number([i % 11, i / 11 % 7, i / 77]))
}

fn cuts(components: i64) -> [Layout; 3] {
    let [x, y, z] = SHAPE;
    let layout = || Layout::new([components * x, y, z]);
    [
        layout().split_all(Split::Whole),
        // A rank without voxels, uneven cuts, cuts between components, ghost cells that must count
        // once.
        layout().split([Split::Sizes(vec![0, 3, components * x - 3]), Split::Whole, Split::Whole]).ghost([1, 0, 2]),
        layout().split([Split::Even(2), Split::Even(2), Split::Sizes(vec![1, 8])]).ghost([1, 1, 1]).periodic([true; 3]),
    ]
}

fn measure<T: Voxel>(components: i64, value: impl Fn(i64, i64) -> T + Sync, expected: &Values) {
    support::ranks(&[1, 3], |world| {
        for layout in &cuts(components) {
            let volume = world.array::<T, 3>("volume", layout)?;
            volume.fill_with(|[x, y, z]| value(number([x / components, y, z]), x % components))?;
            world.ghosts(&volume)?;
            assert_eq!(Values::measure(world, &volume, components as usize)?, *expected, "{layout:?}");
        }
        Ok(())
    });
}

/// Histogram and total of all numbers; `bin` gives the bin of a number, `bins` their count.
fn counted(min: f64, max: f64, bins: usize, bin: impl Fn(i64) -> Option<usize>) -> (Distribution, u64) {
    let mut counts = vec![0; bins];
    let mut left_out = 0;
    for n in numbers() {
        match bin(n) {
            Some(bin) => counts[bin] += 1,
            None => left_out += 1,
        }
    }
    (Distribution { min, max, counts }, left_out)
}

#[test]
fn values_are_counted_over_all_ranks() {
    fn check<T: Voxel>(
        value: impl Fn(i64) -> T + Sync,
        (min, max, bins): (f64, f64, usize),
        bin: impl Fn(i64) -> Option<usize>,
    ) {
        let (distribution, left_out) = counted(min, max, bins, bin);
        measure(1, |n, _| value(n), &Values { components: vec![distribution], left_out });
    }
    // 256 bins: one per number, but for floats the last one holds 255 and 256.
    let all = |n: i64| Some(n.min(255) as usize);
    check(|n| n.min(255) as u8, (0.0, 255.0, 256), all);
    check(|n| n.min(255) as i16 - 100, (-100.0, 155.0, 256), all);
    check(|n| n as f32, (0.0, 256.0, 256), all);
    check(|_| 7.5_f32, (7.5, 7.5, 1), |_| Some(0));
    // Non-finite values, and their replacements, do not count on any rank.
    for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, FAR as f32, -FAR as f32, f32::MIN] {
        let even = |n: i64| (n % 3 != 2).then_some(n);
        check(|n| even(n).map_or(odd, |n| 2.0 * n as f32), (0.0, 512.0, 256), |n| even(n).and_then(all));
        check(|_| odd, (0.0, 1.0, 1), |_| None);
    }
    check(|n| [f32::NAN, FAR as f32, f32::INFINITY, -FAR as f32][n as usize % 4], (0.0, 1.0, 1), |_| None);
    check(
        |n| if n == 0 { -0.999e30 } else { 0.999e30 },
        (f64::from(-0.999e30_f32), f64::from(0.999e30_f32), 256),
        |n| Some(if n == 0 { 0 } else { 255 }),
    );
}

/// Colours from -1024 to 1024, opacities from 0 to 1: presets fit each to its own bins.
#[test]
fn components_are_counted_apart() {
    let value = |n: i64, component: i64| match component {
        0 if n == 7 => f32::NAN,
        0 => 8.0 * n as f32 - 1024.0,
        _ if n % 5 == 2 => f32::INFINITY,
        _ => (256 - n) as f32 / 256.0,
    };
    let (colour, odd) = counted(-1024.0, 1024.0, 256, |n| (n != 7).then_some(n.min(255) as usize));
    let (opacity, odder) = counted(0.0, 1.0, 256, |n| (n % 5 != 2).then_some((256 - n).min(255) as usize));
    let expected = Values { components: vec![colour, opacity], left_out: odd + odder };
    assert!(expected.left_out > 100);
    let transfer = Preset::Perceptual.fit(&expected, 1.5);
    assert!(transfer.opacity.iter().all(|point| (0.0..=1.0).contains(&point[0])) && transfer.opacity.len() > 3);
    assert!(transfer.colour.iter().all(|point| (-1024.0..=1024.0).contains(&point[0])));
    assert!(transfer.colour.iter().any(|point| point[0] > 500.0) && transfer.unit_distance == 1.5);
    assert_eq!(expected.range(), (-1024.0, 1024.0));
    measure(2, value, &expected);
    let (byte, _) = counted(0.0, 255.0, 256, |n| Some(n.min(255) as usize));
    let shifted = |by: f64| Distribution { min: byte.min + by, max: byte.max + by, counts: byte.counts.clone() };
    let expected = Values { components: [0.0, 300.0, 600.0, 900.0].map(shifted).to_vec(), left_out: 0 };
    measure(4, |n, component| (n.min(255) + 300 * component) as u16, &expected);
}
